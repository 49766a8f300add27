"""What chat completions answer is read as a message, and goes back as it came."""

from __future__ import annotations

from typing import Any

import pytest
from openai.types.chat import ChatCompletion, ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta

from durable_memory import (
    Message,
    ToolCall,
    messages_from_openai,
    messages_from_openai_responses,
)
from durable_memory.memory.types import InvalidValue
from tests.unit.chat.conversations import PICTURE, view_of
from tests.unit.chat.sdk_types import check_openai


def response(**fields: Any) -> dict[str, Any]:
    """What the SDK's object of an answer dumps, with all fields that it knows."""
    return ChatCompletionMessage.model_validate({"role": "assistant", "content": None, **fields}).model_dump()


def test_an_answer_with_calls_is_a_message_that_goes_back_as_it_came() -> None:
    calls = [{"id": f"call_{n}", "type": "function", "function": {"name": "track", "arguments": "{}"}} for n in "12"]
    [message] = messages_from_openai(response(content="I look.", tool_calls=calls))
    assert message == Message.assistant(
        "I look.", tool_calls=[ToolCall("call_1", "track"), ToolCall("call_2", "track")]
    )
    assert view_of(message).to_openai() == [{"role": "assistant", "content": "I look.", "tool_calls": calls}]


def test_a_call_of_a_custom_tool_is_one_of_a_function_as_in_responses() -> None:
    custom = {"id": "call_1", "type": "custom", "custom": {"name": "shell", "input": 'ls "ä"'}}
    [asked] = messages_from_openai(response(tool_calls=[custom]))
    assert asked.tool_calls == (ToolCall("call_1", "shell", '{"input": "ls \\"ä\\""}'),)
    item = {"type": "custom_tool_call", "call_id": "call_1", "name": "shell", "input": 'ls "ä"'}
    assert messages_from_openai_responses([item]) == (asked,)
    [bare] = messages_from_openai({"role": "assistant", "tool_calls": [{**custom, "custom": {"name": "shell"}}]})
    del item["input"]
    assert messages_from_openai_responses([item]) == (bare,)
    check_openai(view_of(asked).to_openai())


def test_fields_that_a_stream_left_empty_are_as_if_they_were_not_there() -> None:
    gathered = ChoiceDelta.model_validate(
        {"role": "assistant", "tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "track"}}]}
    )
    assert messages_from_openai(gathered) == (Message.assistant(tool_calls=[ToolCall("call_1", "track")]),)


def test_what_servers_add_to_a_call_is_left_out() -> None:
    function = {"name": "track", "arguments": "{}", "strict": True}
    call = {"id": "call_1", "type": "function", "index": 0, "extra_content": {}, "function": function}
    assert messages_from_openai(response(tool_calls=[call]))[0].tool_calls == (ToolCall("call_1", "track"),)


def test_an_answer_of_other_kinds_is_kept_as_what_it_said() -> None:
    assert messages_from_openai(response(content="Hello.")) == (Message.assistant("Hello."),)
    [refused] = messages_from_openai(response(refusal="I must not."))
    assert view_of(refused).to_openai() == [
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I must not."}]}
    ]
    audio = {"id": "a", "data": "", "expires_at": 1, "transcript": "Good morning."}
    assert messages_from_openai(response(audio=audio)) == (Message.assistant("Good morning."),)


def test_thinking_beside_the_content_is_left_out() -> None:
    beside = {
        "reasoning_content": "The user wants a parcel.",
        "reasoning": "The same.",
        "thinking_blocks": [{"type": "thinking", "thinking": "The same.", "signature": "s"}],
        "annotations": [],
    }
    assert messages_from_openai(response(content="Hello.", **beside)) == (Message.assistant("Hello."),)


def test_messages_of_a_request_are_read_too() -> None:
    sent: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be kind."},
        {"role": "user", "content": [{"type": "text", "text": "Look."}, PICTURE], "name": "anna"},
        {"role": "tool", "tool_call_id": "call_1", "content": ""},
    ]
    read = [message for data in sent for message in messages_from_openai(data)]
    assert view_of(*read).to_openai() == [{"role": "system", "content": "Be kind."}, *sent[1:]]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"role": "assistant", "content": None}, "content: is empty"),
        ({"role": "function", "content": "x", "name": "f"}, "role: must be one of"),
        (
            {"role": "assistant", "tool_calls": [{"id": "c", "type": "custom", "custom": {"input": "x"}}]},
            "tool_calls[0].function.name",
        ),
        ({"role": "assistant", "tool_calls": 5}, "tool_calls: must be a list, not int"),
        ({"role": "assistant", "tool_calls": [5]}, "tool_calls[0]: "),
        ({"role": "assistant", "content": None, "audio": 5}, "content: is empty"),
    ],
)
def test_what_is_no_message_is_refused_by_name(data: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        messages_from_openai(data)
    assert words in str(refused.value)


def test_a_refusal_without_words_can_still_be_shown() -> None:
    view = view_of(Message.system([{"type": "refusal"}]), Message.assistant("Yes."))
    assert [message["role"] for message in view.to_openai()] == ["system", "assistant"]


def test_a_list_where_one_message_is_asked_for_is_refused() -> None:
    several: Any = [{"role": "user", "content": "Hi"}]
    with pytest.raises(InvalidValue, match="must be one message"):
        messages_from_openai(several)


def test_an_object_of_the_sdk_is_read_like_its_dict_and_a_whole_completion_names_its_message() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": '{"order": "A-17"}'}}
    answer = ChatCompletionMessage.model_validate({"role": "assistant", "content": "I look.", "tool_calls": [call]})
    assert messages_from_openai(answer) == (
        Message.assistant("I look.", tool_calls=[ToolCall("call_1", "track", '{"order": "A-17"}')]),
    )
    choice = {"index": 0, "finish_reason": "tool_calls", "message": answer.model_dump()}
    completion = ChatCompletion.model_validate(
        {"id": "1", "object": "chat.completion", "created": 0, "model": "gpt-4o", "choices": [choice]}
    )
    for whole in (completion, completion.model_dump()):
        with pytest.raises(InvalidValue, match=r"its message is `choices\[0\].message`"):
            messages_from_openai(whole)


@pytest.mark.parametrize(
    "block", [{"type": "tool_use", "id": "1", "name": "track", "input": {}}, {"type": "tool_result"}]
)
def test_calls_and_results_in_anthropics_form_are_refused_as_parts(block: dict[str, Any]) -> None:
    for role in ("user", "assistant"):
        with pytest.raises(
            InvalidValue, match=r"content\[1\]: a tool_\w+ is Anthropic's; messages_from_anthropic reads"
        ):
            messages_from_openai({"role": role, "content": [{"type": "text", "text": "I look."}, block]})
