"""What Anthropic's Messages API answers, and what a request of it holds, becomes messages."""

from __future__ import annotations

from typing import Any

import anthropic.types
import pytest

from durable_memory import Message, ToolCall, messages_from_anthropic
from durable_memory.memory.types import InvalidValue
from tests.unit.chat.conversations import PNG, text, view_of
from tests.unit.chat.sdk_types import check_anthropic, check_openai


def response(*content: dict[str, Any]) -> dict[str, Any]:
    """What the SDK's object of an answer dumps, with all fields that it knows."""
    answer = anthropic.types.Message.model_validate(
        {
            "id": "msg_1",
            "type": "message",
            "role": "assistant",
            "model": "claude",
            "content": content,
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    return answer.model_dump()


CALL = {"type": "tool_use", "id": "toolu_1", "name": "track", "input": {"order": "A-17", "straße": "日本"}}
THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}


def test_an_answer_with_thoughts_and_calls_goes_back_as_it_came() -> None:
    content = [THOUGHT, text("I look."), CALL, {**CALL, "id": "toolu_2"}]
    [message] = messages_from_anthropic(response(*content))
    assert message.tool_calls[0] == ToolCall("toolu_1", "track", '{"order": "A-17", "straße": "日本"}')
    request = view_of(Message.user("Where?"), message).to_anthropic()
    check_anthropic(request)
    assert request["messages"][1] == {"role": "assistant", "content": content}


def test_an_answer_of_text_alone_is_plain_text() -> None:
    assert messages_from_anthropic(response(text("Hello."))) == (Message.assistant("Hello."),)
    assert messages_from_anthropic(response(CALL))[0].content is None


def test_results_of_a_request_become_a_message_each_and_the_rest_one_more() -> None:
    sent = {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "toolu_1", "content": "In Lyon."},
            {"type": "tool_result", "tool_use_id": "toolu_2", "is_error": True},
            {"type": "tool_result", "tool_use_id": "toolu_3", "content": [{"type": "image", "source": PNG}]},
            text("And now?"),
        ],
    }
    assert messages_from_anthropic(sent) == (
        Message.tool("In Lyon.", "toolu_1"),
        Message.tool("", "toolu_2", metadata={"is_error": True}),
        Message.tool([{"type": "image", "source": PNG}], "toolu_3"),
        Message.user("And now?"),
    )
    assert messages_from_anthropic({"role": "user", "content": sent["content"][:1]}) == (
        Message.tool("In Lyon.", "toolu_1"),
    )


def test_plain_content_of_a_request_is_read_too() -> None:
    assert messages_from_anthropic({"role": "user", "content": "Hello."}) == (Message.user("Hello."),)
    assert messages_from_anthropic({"role": "system", "content": "Be kind."}) == (Message.system("Be kind."),)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"role": "tool", "content": "x"}, "role: must be one of user, assistant, system"),
        ({"role": "user", "content": None}, "content: must be text or a list of blocks, not NoneType"),
        ({"role": "user", "content": ["x"]}, "content[0]: a block is an object"),
        ({"role": "user", "content": []}, "content: is empty"),
        ({"role": "assistant", "content": []}, "content: is empty"),
        ({"role": "assistant", "content": [{"type": "tool_use", "name": "track", "input": {}}]}, "tool_calls.id"),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "name": "f", "caller": {"tool_id": "s"}}]},
            "tool_calls.id",
        ),
        ({"role": "user", "content": [{"type": "tool_result", "content": "x"}]}, "tool_call_id: is missing"),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": 5}]},
            "content: must be text or a list of blocks",
        ),
        (
            {"role": "user", "content": [text("x"), CALL]},
            "content[1]: a tool_use stands in a message of the role assistant, not user",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "x"}]},
            "content[0]: a tool_result stands in a message of the role user, not assistant",
        ),
        ({"role": "system", "content": [CALL]}, "a tool_use stands in a message of the role assistant, not system"),
        (
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": [CALL]}]},
            "a tool_use stands in a message of its own, not in the content of a tool_result",
        ),
        (
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "f", "input": {"at": b"x"}}]},
            "input.at: a bytes is not JSON data",
        ),
    ],
)
def test_what_is_no_message_is_refused_by_name(data: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        messages_from_anthropic(data)
    assert words in str(refused.value)


def test_a_text_block_without_text_is_kept_as_it_is() -> None:
    [said] = messages_from_anthropic({"role": "user", "content": [text("Hello."), {"type": "text", "text": 5}]})
    assert said.content == (text("Hello."), {"type": "text", "text": 5})


def test_agents_of_two_providers_share_a_conversation() -> None:
    answered = messages_from_anthropic(response(THOUGHT, text("I look."), CALL))
    view = view_of(Message.user("Where?"), *answered, Message.tool("In Lyon.", "toolu_1"))
    messages = view.to_openai()
    check_openai(messages)
    assert messages[1] == {
        "role": "assistant",
        "content": [text("I look.")],
        "tool_calls": [answered[0].tool_calls[0].to_dict()],
    }


def test_a_list_where_one_message_is_asked_for_is_refused() -> None:
    several: Any = [{"role": "user", "content": "Hi"}]
    with pytest.raises(InvalidValue, match="must be one message"):
        messages_from_anthropic(several)


def test_an_object_of_the_sdk_is_read_like_its_dict() -> None:
    answer = response(text("I look."), CALL)
    assert messages_from_anthropic(anthropic.types.Message.model_validate(answer)) == messages_from_anthropic(answer)
