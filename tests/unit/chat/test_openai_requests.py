"""What a view gives to chat completions is a request that the API takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given

from durable_memory import (
    AgentContext,
    Message,
    ToolCall,
    View,
)
from durable_memory.memory.types import InvalidValue
from tests.unit.chat.conversations import LINKED, PAPER, PICTURE, VIEWS, summary, view_of
from tests.unit.chat.sdk_types import check_openai

CALL = ToolCall("call_1", "track", '{"order": "A-17"}')


def is_thought(message: Message) -> bool:
    """Tells whether a message holds nothing but thoughts, which are of no use to another provider's model."""
    parts = message.content if isinstance(message.content, tuple) else ()
    return bool(parts) and not message.tool_calls and all("thinking" in part["type"] for part in parts)


def assert_each_call_is_answered_next(messages: Sequence[dict[str, Any]]) -> None:
    """No two calls of a request have the same id, and behind each message with calls all of their results stand."""
    asked = [call["id"] for message in messages for call in message.get("tool_calls", ())]
    assert len(asked) == len(set(asked))
    waiting: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            waiting.remove(message["tool_call_id"])
        else:
            assert not waiting
        waiting |= {call["id"] for call in message.get("tool_calls", ())}
    assert not waiting


@given(VIEWS)
def test_every_view_is_a_request(view: View) -> None:
    messages = view.to_openai()
    check_openai(messages)
    spoken = [message.role for message in view.messages if not is_thought(message)]
    assert [message["role"] for message in messages] == spoken
    assert_each_call_is_answered_next(messages)
    assert all(re.fullmatch(r"[^\s<|\\/>]{1,64}", str(message["name"])) for message in messages if "name" in message)


def test_a_conversation_with_calls_and_a_summary_is_told_as_it_was() -> None:
    view = view_of(
        Message.system("Be kind."),
        summary("Anna waits for A-17."),
        Message.user("Where is it?", name="anna", metadata={"channel": "mail"}),
        Message.assistant("I look.", tool_calls=[CALL], agent="triage", pinned=True),
        Message.tool("In Lyon.", "call_1", name="track"),
    )
    messages = view.to_openai()
    check_openai(messages)
    assert messages == [
        {"role": "system", "content": "Be kind."},
        {"role": "system", "content": "Anna waits for A-17."},
        {"role": "user", "content": "Where is it?", "name": "anna"},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "track", "arguments": '{"order": "A-17"}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "In Lyon."},
    ]


def test_a_name_that_the_api_would_refuse_the_request_for_is_made_one_that_it_takes() -> None:
    names = ["Anna Maria <am@example.com>", "", "李雷", "n" * 100]
    messages = view_of(*(Message.user("x", name=name) for name in names)).to_openai()
    assert [message.get("name") for message in messages] == ["Anna_Maria_am@example.com_", None, "李雷", "n" * 64]


def test_ids_of_calls_that_are_longer_than_the_api_takes_are_replaced_and_results_still_find_their_calls() -> None:
    calls = [ToolCall("c" * 60 + n, "track") for n in "12"]
    view = view_of(Message.assistant(tool_calls=calls), *(Message.tool("x", call.id) for call in calls))
    messages: list[Any] = view.to_openai()
    asked, *answered = messages
    ids = [call["id"] for call in asked["tool_calls"]]
    assert ids == [message["tool_call_id"] for message in answered]
    assert len(set(ids)) == 2
    assert all(len(call_id) <= 40 for call_id in ids)


def test_the_name_of_a_tool_that_no_api_takes_is_made_one_that_it_takes() -> None:
    calls = [ToolCall("c", name) for name in ("[removed]_track", "shop.track:v2", "t" * 80, "")]
    messages: list[Any] = view_of(Message.assistant(tool_calls=calls)).to_openai()
    names = [call["function"]["name"] for call in messages[0]["tool_calls"]]
    assert names == ["_removed__track", "shop.track:v2", "t" * 64, "unnamed"]


PICTURE_OF_ANTHROPIC = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


LINK_OF_ANTHROPIC = {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}


PAPER_OF_ANTHROPIC = {
    "type": "document",
    "source": {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="},
    "title": "bill.pdf",
}


NOTE_OF_ANTHROPIC = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "A note."}}


DETAILED = {"type": "image_url", "image_url": {**PICTURE["image_url"], "detail": "auto"}}


def said(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (PICTURE, PICTURE),
        (PICTURE_OF_ANTHROPIC, PICTURE),
        (LINK_OF_ANTHROPIC, LINKED),
        (PAPER_OF_ANTHROPIC, PAPER),
        (NOTE_OF_ANTHROPIC, {"type": "text", "text": "A note."}),
        ({"type": "document", "source": {"type": "content", "content": "A note."}}, said("A note.")),
        ({"type": "document", "source": {"type": "content", "content": []}}, said("[document]")),
        ({"type": "document", "source": {"type": "content", "content": ["A note."]}}, said("A note.")),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf"}}, said("[document]")),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/png"}}, said("[image]")),
        ({"type": "input_image", "image_url": PICTURE["image_url"]["url"], "detail": "auto"}, DETAILED),
        ({"type": "input_image", "image_url": PICTURE["image_url"], "file_id": None}, PICTURE),
        ({"type": "image_url", "image_url": PICTURE["image_url"]["url"]}, PICTURE),
        ({"type": "input_image", "file_id": "file-1"}, said("[input_image]")),
        ({"type": "input_file", **PAPER["file"]}, PAPER),
        ({"type": "input_file", "file_id": "file-1"}, {"type": "file", "file": {"file_id": "file-1"}}),
        (
            {"type": "input_file", "filename": "a.pdf", "file_url": "https://example.com/a.pdf"},
            said("[input_file] a.pdf https://example.com/a.pdf"),
        ),
        ({"type": "audio", "audio": {"id": "audio_1"}}, said("[audio]")),
        ({"type": "video", "video": "https://example.com/a.mp4"}, said("[video]")),
        (
            {"type": "document", "title": "Bill", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
            {"type": "text", "text": "[document] Bill https://example.com/a.pdf"},
        ),
        ({"type": "document", "source": {"type": "file", "file_id": "file_1"}}, {"type": "text", "text": "[document]"}),
        ({"type": "image", "source": {"type": "file", "file_id": "file_1"}}, {"type": "text", "text": "[image]"}),
        (
            {"type": "search_result", "source": "a", "title": "b", "content": []},
            {"type": "text", "text": "[search_result]"},
        ),
        ({"type": "input_text", "text": "Hello."}, {"type": "text", "text": "Hello."}),
        ({"type": "text", "text": "Hello.", "citations": [{"type": "page"}]}, {"type": "text", "text": "Hello."}),
    ],
)
def test_parts_of_a_user_become_those_of_this_api(part: dict[str, Any], expected: dict[str, Any]) -> None:
    messages = view_of(Message.user([part])).to_openai()
    check_openai(messages)
    assert messages == [{"role": "user", "content": [expected]}]


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({**NOTE_OF_ANTHROPIC, "title": "Gate"}, [said("[document]\nGate"), said("A note.")]),
        (
            {**NOTE_OF_ANTHROPIC, "title": "Gate", "context": "Of May."},
            [said("[document]\nGate\nOf May."), said("A note.")],
        ),
        ({**PAPER_OF_ANTHROPIC, "context": "Of May."}, [said("Of May."), PAPER]),
        (
            {
                "type": "document",
                "title": "Map",
                "source": {"type": "content", "content": [{"type": "text", "text": "A note."}, PICTURE_OF_ANTHROPIC]},
            },
            [said("[document]\nMap"), said("A note."), PICTURE],
        ),
    ],
)
def test_a_document_keeps_its_pictures_its_title_and_its_context(
    document: dict[str, Any], expected: list[dict[str, Any]]
) -> None:
    messages = view_of(Message.user([document])).to_openai()
    check_openai(messages)
    assert messages == [{"role": "user", "content": expected}]


THOUGHT: dict[str, Any] = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def test_what_only_users_may_send_is_named_and_thoughts_of_other_models_are_left_out() -> None:
    view = view_of(
        Message.user("Look."),
        Message.assistant([THOUGHT, {"type": "text", "text": "I see."}, {"type": "server_tool_use", "id": "s1"}]),
        Message.assistant([THOUGHT]),
        Message.assistant([THOUGHT], tool_calls=[CALL]),
        Message.tool([PICTURE, {"type": "text", "text": "A map."}], "call_1"),
    )
    messages = view.to_openai()
    check_openai(messages)
    said, called, result = messages[1:]
    assert said["content"] == [{"type": "text", "text": "I see."}, {"type": "text", "text": "[server_tool_use]"}]
    assert called["content"] is None
    assert result["content"] == [{"type": "text", "text": "[image_url]"}, {"type": "text", "text": "A map."}]


def test_a_text_part_says_text_whatever_it_was_given() -> None:
    odd: list[dict[str, Any]] = [{"type": "text"}, {"type": "text", "text": None}, {"type": "text", "text": 42}]
    messages = view_of(Message.user(odd), Message.assistant(odd[:2]), Message.system(odd)).to_openai()
    check_openai(messages)
    said = [{"type": "text", "text": "42"}]
    assert messages == [{"role": "user", "content": said}, {"role": "system", "content": said}]


@pytest.mark.parametrize("mark", [{"prompt_cache_breakpoint": {"mode": "explicit"}}, {"cache_control": {"type": "x"}}])
def test_marks_of_an_earlier_request_are_not_sent_again(mark: dict[str, Any]) -> None:
    picture = {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"}
    for part in (LINKED, PAPER):
        inside = {**part, part["type"]: {**part[part["type"]], **mark}}
        assert view_of(Message.user([{**part, **mark}])).to_openai()[0]["content"] == [part]
        assert view_of(Message.user([inside])).to_openai()[0]["content"] == [part]
    assert view_of(Message.user([{**picture, **mark}])).to_openai_responses()[0]["content"] == [picture]


def test_a_user_cannot_refuse_and_has_said_what_stands_there() -> None:
    messages = view_of(Message.user([{"type": "refusal", "refusal": "No."}])).to_openai()
    check_openai(messages)
    assert messages == [{"role": "user", "content": [{"type": "text", "text": "No."}]}]


@pytest.mark.parametrize("said", ["", " ", [{"type": "text", "text": ""}], [{"type": "text"}]])
def test_a_tool_that_failed_without_a_word_has_said_that_it_failed(said: str | list[dict[str, Any]]) -> None:
    failed = Message.tool(said, CALL.id, metadata={"is_error": True})
    view = view_of(Message.assistant(tool_calls=[CALL]), failed)
    assert view.to_openai()[-1]["content"] == "[The tool failed.]"
    assert view.to_openai_responses()[-1]["output"] == "[The tool failed.]"
    spoke = replace(failed, content="Timeout.")
    assert view_of(spoke).to_openai()[-1]["content"] == view_of(spoke).to_openai_responses()[-1]["output"] == "Timeout."


def test_ones_own_prompt_comes_first_and_is_no_part_of_the_view() -> None:
    view = view_of(summary("Anna waits for A-17."), Message.user("And?"))
    messages = view.to_openai(system="Be kind.")
    check_openai(messages)
    assert messages == [{"role": "system", "content": "Be kind."}, *view.to_openai()]
    assert AgentContext(view.messages, 0, ()).to_openai(system="Be kind.") == messages


def test_the_turn_so_far_comes_last_in_any_form_that_an_append_takes() -> None:
    view = view_of(summary("Anna waits for A-17."), Message.user("Hello"), Message.assistant("Good morning!"))
    call = Message.assistant(tool_calls=[ToolCall("c1", "track", "{}")])
    turn = (Message.user("Where is it?"), call, Message.tool("Lyon", "c1"))
    messages = view.to_openai(system="Be kind.", turn=turn)
    check_openai(messages)
    assert messages == [*view.to_openai(system="Be kind."), *view_of(*turn).to_openai()]
    assert AgentContext(view.messages, 0, ()).to_openai(system="Be kind.", turn=turn) == messages
    assert view.to_openai(turn="Where?") == view.to_openai(turn=[{"role": "user", "content": "Where?"}])
    assert view.to_openai(turn="Where?") == [*view.to_openai(), {"role": "user", "content": "Where?"}]
    wrong: Any = 5
    with pytest.raises(InvalidValue, match=r"^turn: must be text, a Message"):
        view.to_openai(turn=wrong)


def test_an_empty_prompt_is_none_and_one_that_is_no_text_is_refused_by_its_name() -> None:
    view = view_of(Message.user("And?"))
    assert view.to_openai(system="") == view.to_openai()
    wrong: Any = 5
    with pytest.raises(InvalidValue, match=r"^system: must be text, not int$"):
        view.to_openai(system=wrong)
