"""What a view gives to the Messages API is a request that it takes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given

from durable_memory import AgentContext, Message, ToolCall, View, messages_from_anthropic
from durable_memory.memory.types import InvalidValue
from durable_memory.memory.types.vocabulary import THOUGHTS
from tests.unit.chat.conversations import LINKED, PAPER, PICTURE, PNG, VIEWS, summary, text, view_of
from tests.unit.chat.sdk_types import check_anthropic


def kinds(turn: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [block for block in turn["content"] if block["type"] == kind]


@given(VIEWS)
def test_every_view_is_a_request_that_follows_the_rules_of_the_api(view: View) -> None:
    request = view.to_anthropic()
    check_anthropic(request)
    turns = request["messages"]
    assert all(turn["content"] for turn in turns)
    assert all(block["text"].strip() for turn in turns for block in kinds(turn, "text"))
    assert [turn["role"] for turn in turns] == [("user", "assistant")[n % 2] for n in range(len(turns))]
    calls = [[block["id"] for block in kinds(turn, "tool_use")] for turn in turns]
    given_ids = [call for turn in calls for call in turn]
    assert len(given_ids) == len(set(given_ids)) == sum(len(message.tool_calls) for message in view.messages)
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]+", call) for call in given_ids)
    for asked, turn in zip(["", *calls], turns, strict=False):
        results = kinds(turn, "tool_result")
        # All results, in the very next turn and before anything else that it says.
        assert sorted(block["tool_use_id"] for block in results) == sorted(asked)
        assert turn["content"][: len(results)] == results
    answers = [turn["content"] for turn in turns if turn["role"] == "assistant"]
    assert all(content[-1]["type"] not in THOUGHTS for content in answers)
    assert all(block["type"] not in {"image", "document"} for content in answers for block in content)
    assert waiting_at_the_end_of_a_turn(turns) == []


def waiting_at_the_end_of_a_turn(turns: list[dict[str, Any]]) -> list[str]:
    """Returns the calls of the service's own tools whose turn a user ended; fails for a result without its call."""
    unanswered: list[str] = []
    waiting: list[str] = []
    for turn in turns:
        for block in turn["content"]:
            waiting += [block["id"]] if block["type"] == "server_tool_use" else []
            if block["type"] == "web_search_tool_result":
                waiting.remove(block["tool_use_id"])
        if turn["role"] == "user" and kinds(turn, "tool_result") != turn["content"]:
            unanswered += waiting
            waiting = []
    return unanswered


def test_a_conversation_with_parallel_calls_and_a_summary_is_told_as_it_was() -> None:
    view = view_of(
        Message.system("Be kind."),
        summary("Anna waits for A-17."),
        Message.user("Where is it?", name="anna"),
        Message.user("Hello?"),
        Message.assistant("I look.", tool_calls=[ToolCall("c1", "track", '{"order": "A-17"}'), ToolCall("c2", "rain")]),
        Message.tool("No.", "c2"),
        Message.tool("No luck.", "c1", metadata={"is_error": True}),
        Message.user("And?"),
    )
    request = view.to_anthropic()
    check_anthropic(request)
    assert request == {
        "system": [text("Be kind."), text("Anna waits for A-17.")],
        "messages": [
            {"role": "user", "content": [text("Where is it?"), text("Hello?")]},
            {
                "role": "assistant",
                "content": [
                    text("I look."),
                    {"type": "tool_use", "id": "c1", "name": "track", "input": {"order": "A-17"}},
                    {"type": "tool_use", "id": "c2", "name": "rain", "input": {}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "c2", "content": [text("No.")]},
                    {"type": "tool_result", "tool_use_id": "c1", "content": [text("No luck.")], "is_error": True},
                    text("And?"),
                ],
            },
        ],
    }


def test_without_system_messages_there_is_no_system_text_and_an_empty_view_has_no_turn() -> None:
    assert view_of().to_anthropic() == {"messages": []}
    assert view_of(Message.system("Be kind.")).to_anthropic() == {"system": [text("Be kind.")], "messages": []}


def test_a_view_that_begins_with_the_assistant_is_opened_by_the_user() -> None:
    turns = view_of(Message.assistant("It is in Lyon.")).to_anthropic()["messages"]
    assert [turn["role"] for turn in turns] == ["user", "assistant"]
    assert turns[0]["content"] == [text("[Earlier messages are not shown.]")]


def test_ids_that_repeat_or_that_the_api_refuses_are_replaced_and_results_still_find_their_calls() -> None:
    again = ToolCall("functions.track:0", "track")
    view = view_of(
        Message.user("Both."),
        Message.assistant(tool_calls=[again, again]),
        Message.tool("first", again.id),
        Message.tool("second", again.id),
        Message.assistant(tool_calls=[again]),
        Message.tool("third", again.id),
    )
    request = view.to_anthropic()
    check_anthropic(request)
    asked, answered, asked_again, answered_again = request["messages"][1:]
    assert [block["id"] for block in asked["content"]] == ["functions_track_0", "functions_track_0_2"]
    assert [(block["tool_use_id"], block["content"]) for block in answered["content"]] == [
        ("functions_track_0", [text("first")]),
        ("functions_track_0_2", [text("second")]),
    ]
    assert asked_again["content"][0]["id"] == answered_again["content"][0]["tool_use_id"] == "functions_track_0_3"


def test_the_name_of_a_tool_that_another_api_allowed_is_one_that_this_api_accepts() -> None:
    calls = [ToolCall("c1", "shop.track/v2"), ToolCall("c2", "t" * 200), ToolCall("c3", "")]
    view = view_of(Message.user("x"), Message.assistant(tool_calls=calls), *(Message.tool("", c.id) for c in calls))
    [_, asked, _] = view.to_anthropic()["messages"]
    assert [block["name"] for block in asked["content"]] == ["shop_track_v2", "t" * 128, "unnamed"]


@pytest.mark.parametrize("said", ["", " \n", [], [{"type": "text", "text": ""}]])
def test_a_tool_that_failed_without_a_word_has_said_that_it_failed(said: str | list[dict[str, Any]]) -> None:
    call = ToolCall("c1", "run")
    result = Message.tool(said, call.id, metadata={"is_error": True})
    request = view_of(Message.user("x"), Message.assistant(tool_calls=[call]), result).to_anthropic()
    check_anthropic(request)
    failed = {"type": "tool_result", "tool_use_id": "c1", "content": [text("[The tool failed.]")], "is_error": True}
    assert request["messages"][-1]["content"] == [failed]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ('{"a": {"b": [1, null]}}', {"a": {"b": [1, None]}}),
        ("", {}),
        ("not json", {"arguments": "not json"}),
        ('{"a": NaN}', {"arguments": '{"a": NaN}'}),
        ('{"a": 1e999}', {"arguments": '{"a": 1e999}'}),
        ('{"a": "hi \\ud83d", "\\udc97": "\\ud83d\\ude42"}', {"a": "hi \ufffd", "\ufffd": "🙂"}),
        ("[1, 2]", {"arguments": [1, 2]}),
        ("null", {"arguments": None}),
        ("[" * 100_000, {"arguments": "[" * 100_000}),
    ],
)
def test_arguments_are_an_object_whatever_the_model_wrote(arguments: str, expected: dict[str, Any]) -> None:
    request = view_of(Message.assistant(tool_calls=[ToolCall("c1", "track", arguments)])).to_anthropic()
    [block] = kinds(request["messages"][1], "tool_use")
    assert block["input"] == expected
    json.dumps(request, ensure_ascii=False, allow_nan=False).encode()


IMAGE = {"type": "image", "source": PNG}
PDF = {"type": "base64", "media_type": "application/pdf", "data": "JVBERi0="}


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (PICTURE, {"type": "image", "source": PNG}),
        (LINKED, {"type": "image", "source": {"type": "url", "url": "https://example.com/a.png"}}),
        (PAPER, {"type": "document", "source": PDF, "title": "bill.pdf"}),
        ({"type": "document", "source": PDF}, {"type": "document", "source": PDF}),
        ({"type": "input_text", "text": "Hello."}, text("Hello.")),
        ({"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}}, text("[input_audio]")),
        ({"type": "file", "file": {"file_id": "file-1"}}, text("[file]")),
        ({"type": "file", "file": {"file_data": PDF["data"]}}, {"type": "document", "source": PDF}),
        ({"type": "file", "file": {"file_data": "data:text/csv;base64,YSxi"}}, text("[file]")),
        ({"type": "input_image", "image_url": PICTURE["image_url"]["url"]}, {"type": "image", "source": PNG}),
        ({"type": "input_image", "image_url": PICTURE["image_url"]}, {"type": "image", "source": PNG}),
        ({"type": "image_url", "image_url": "data:image/PNG;name=a.png;base64,iVBORw0KGgo="}, IMAGE),
        ({"type": "input_image", "file_id": "file-1"}, text("[input_image]")),
        ({"type": "input_file", **PAPER["file"]}, {"type": "document", "source": PDF, "title": "bill.pdf"}),
        (
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            {"type": "document", "source": {"type": "url", "url": "https://example.com/a.pdf"}},
        ),
        ({"type": "input_file", "file_id": "file-1"}, text("[input_file]")),
        ({"type": "audio", "audio": {"id": "audio_1"}}, text("[audio]")),
        ({"type": "video", "video": "https://example.com/a.mp4"}, text("[video]")),
    ],
)
def test_parts_become_blocks_of_this_api_also_in_results(part: dict[str, Any], expected: dict[str, Any]) -> None:
    call = Message.assistant(tool_calls=[ToolCall("c1", "look")])
    request = view_of(Message.user([part]), call, Message.tool([part], "c1")).to_anthropic()
    check_anthropic(request)
    first, _, last = request["messages"]
    assert first["content"] == last["content"][0]["content"] == [expected]


def test_blank_texts_are_left_out_since_the_api_refuses_them() -> None:
    request = view_of(Message.user("Hello."), Message.assistant(" \n"), Message.user([text(" "), text("There?")]))
    assert request.to_anthropic() == {"messages": [{"role": "user", "content": [text("Hello."), text("There?")]}]}


def test_system_messages_are_text_alone() -> None:
    request = view_of(Message.system([text("Our logo:"), PICTURE])).to_anthropic()
    check_anthropic(request)
    assert request["system"] == [text("Our logo:"), text("[image]")]


MARK = {"cache_control": {"type": "ephemeral"}}


def test_marks_of_an_earlier_request_are_not_sent_again() -> None:
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{**text("In Lyon."), **MARK}], **MARK}
    sent = {"role": "user", "content": [result, {**text("And now?"), **MARK}]}
    answered, asked = messages_from_anthropic(sent)
    assert (answered, asked) == (Message.tool("In Lyon.", "c1"), Message.user("And now?"))
    opened = Message.assistant([{**text("I look."), **MARK}], tool_calls=[ToolCall("c1", "track")])
    view = view_of(Message.system([{**text("Be kind."), **MARK}]), Message.user("Where?"), opened, answered, asked)
    request = view.to_anthropic()
    check_anthropic(request)
    assert "cache_control" not in json.dumps(request)


def test_marks_inside_of_a_document_are_not_sent_again_but_what_a_tool_calls_so_is() -> None:
    inside = {"type": "content", "content": [{**text("A note."), **MARK}]}
    paper = {"type": "document", "source": inside, **MARK}
    call = {"type": "tool_use", "id": "c1", "name": "fetch", "input": dict(MARK)}
    (asked,) = messages_from_anthropic({"role": "user", "content": [paper]})
    (called,) = messages_from_anthropic({"role": "assistant", "content": [call]})
    held = {"type": "document", "source": {"type": "content", "content": [text("A note.")]}}
    for view in (view_of(asked, called), view_of(Message.user([paper]), called)):
        request = view.to_anthropic()
        check_anthropic(request)
        assert [turn["content"] for turn in request["messages"]] == [[held], [call]]


def test_a_text_part_says_text_whatever_it_was_given() -> None:
    odd: list[dict[str, Any]] = [{"type": "text"}, {"type": "text", "text": None}, {"type": "text", "text": 42}]
    request = view_of(Message.user(odd), Message.assistant(odd[:2])).to_anthropic()
    check_anthropic(request)
    assert request == {"messages": [{"role": "user", "content": [text("42")]}]}


def test_ones_own_prompt_comes_first_and_is_no_part_of_the_view() -> None:
    view = view_of(summary("Anna waits for A-17."), Message.user("And?"))
    request = view.to_anthropic(system="Be kind.")
    check_anthropic(request)
    assert request == {**view.to_anthropic(), "system": [text("Be kind."), text("Anna waits for A-17.")]}
    assert view_of(Message.user("And?")).to_anthropic(system="Be kind.")["system"] == [text("Be kind.")]
    assert AgentContext(view.messages, 0, ()).to_anthropic(system="Be kind.") == request


def test_the_turn_so_far_comes_last_and_is_one_with_what_the_same_role_said_before() -> None:
    view = view_of(Message.user("Hello"))
    call = Message.assistant(tool_calls=[ToolCall("c1", "track", "{}")])
    request = view.to_anthropic(turn=[Message.user("Where is it?"), call, Message.tool("Lyon", "c1")])
    check_anthropic(request)
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "user"]
    assert request["messages"][0]["content"] == [text("Hello"), text("Where is it?")]
    assert AgentContext(view.messages, 0, ()).to_anthropic(turn="Where?") == view.to_anthropic(turn="Where?")


def test_an_empty_prompt_is_none_and_one_that_is_no_text_is_refused_by_its_name() -> None:
    view = view_of(Message.user("And?"))
    assert view.to_anthropic(system="") == view.to_anthropic()
    wrong: Any = 5
    with pytest.raises(InvalidValue, match=r"^system: must be text, not int$"):
        view.to_anthropic(system=wrong)
