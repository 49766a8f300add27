"""What Anthropic's models answered can be sent again, whole or cut off, whatever the memory still shows of it."""

from __future__ import annotations

from typing import Any

import pytest
from anthropic.types import Message as Answer

from durable_memory import Message, ToolCall, messages_from_anthropic
from tests.unit.chat.conversations import LINKED, PAPER, PICTURE, text, view_of
from tests.unit.chat.sdk_types import check_anthropic, check_openai, check_responses

THOUGHT = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
SEALED = {"type": "redacted_thinking", "data": "EmwK"}
DIRECT = {"type": "direct"}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"q": "x"}, "caller": DIRECT}
FOUND = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "caller": DIRECT,
    "content": [
        {"type": "web_search_result", "title": "Lyon", "url": "https://a", "encrypted_content": "e", "page_age": None}
    ],
}
RUN = {"type": "tool_use", "id": "toolu_1", "name": "track", "input": {}}
ASKED = Message.user("Where?")
RESULT = Message.tool("In Lyon.", "toolu_1")


def answer(*content: dict[str, Any]) -> Message:
    """What an answer of the SDK becomes."""
    [message] = messages_from_anthropic(
        Answer.model_validate(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "claude",
                "content": content,
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {"input_tokens": 1, "output_tokens": 1},
            }
        )
    )
    return message


def turns(*messages: Message) -> list[Any]:
    """The contents of the turns of a request that the API takes, without the first question."""
    request = view_of(ASKED, *messages).to_anthropic()
    check_anthropic(request)
    return [turn["content"] for turn in request["messages"]][1:]


def executed(kind: str, result: dict[str, Any]) -> list[dict[str, Any]]:
    call = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "1"}}
    return [call, {"type": f"{kind}_tool_result", "tool_use_id": "srvtoolu_1", "content": result}]


@pytest.mark.parametrize(
    "content",
    [
        [SEARCH, FOUND],
        [SEARCH, {**FOUND, "content": {"type": "web_search_tool_result_error", "error_code": "unavailable"}}],
        executed(
            "code_execution",
            {"type": "code_execution_result", "stdout": "1", "stderr": "", "return_code": 0, "content": []},
        ),
        executed(
            "bash_code_execution",
            {"type": "bash_code_execution_result", "stdout": "", "stderr": "", "return_code": 1, "content": []},
        ),
        executed(
            "text_editor_code_execution",
            {
                "type": "text_editor_code_execution_view_result",
                "content": "a",
                "file_type": "text",
                "num_lines": None,
                "start_line": None,
                "total_lines": None,
            },
        ),
        executed(
            "tool_search",
            {
                "type": "tool_search_tool_search_result",
                "tool_references": [{"type": "tool_reference", "tool_name": "track"}],
            },
        ),
        [{"type": "container_upload", "file_id": "file_1"}],
        [THOUGHT, SEALED],
    ],
)
def test_what_the_service_did_goes_back_as_it_came(content: list[dict[str, Any]]) -> None:
    said = answer(*content, text("Done."))
    assert turns(said, Message.user("And?")) == [[*content, text("Done.")], [text("And?")]]
    check_openai(view_of(ASKED, said).to_openai())
    check_responses(view_of(ASKED, said).to_openai_responses())


PLACE = {"cited_text": "a", "document_index": 0, "document_title": None}


@pytest.mark.parametrize(
    "cited",
    [
        {"type": "char_location", **PLACE, "start_char_index": 0, "end_char_index": 1},
        {"type": "page_location", **PLACE, "start_page_number": 1, "end_page_number": 2},
        {"type": "content_block_location", **PLACE, "start_block_index": 0, "end_block_index": 1},
    ],
)
@pytest.mark.parametrize("file_id", [None, "file_1"])
def test_a_citation_goes_back_without_the_id_of_its_file_which_the_api_tells_and_does_not_take(
    cited: dict[str, Any], file_id: str | None
) -> None:
    said = answer({**text("So it is."), "citations": [{**cited, "file_id": file_id}]})
    assert turns(said) == [[{**text("So it is."), "citations": [cited]}]]


def test_an_answer_that_was_cut_off_while_it_thought_does_not_end_with_its_thoughts() -> None:
    assert turns(answer(text("Hm"), THOUGHT, SEALED)) == [[text("Hm")]]
    assert turns(answer(THOUGHT, RUN), RESULT)[0] == [THOUGHT, RUN]
    assert turns(answer(THOUGHT)) == turns(answer(THOUGHT, text(" "))) == []
    request = view_of(ASKED, answer(THOUGHT), Message.user("And?")).to_anthropic()
    assert request == {"messages": [{"role": "user", "content": [text("Where?"), text("And?")]}]}


def test_a_search_that_waits_for_your_tools_or_for_its_turn_to_go_on_is_sent_as_it_is() -> None:
    asked = answer(SEARCH, RUN)
    assert turns(asked, RESULT)[0] == [SEARCH, RUN]
    assert turns(asked, RESULT, answer(FOUND, text("Done.")), Message.user("And?"))[2] == [FOUND, text("Done.")]
    paused, went_on = answer(SEARCH), answer(FOUND, text("Done."))
    assert turns(paused) == [[SEARCH]]
    assert turns(paused, went_on) == [[SEARCH, FOUND, text("Done.")]]


def test_a_search_whose_turn_ended_without_its_result_is_named_by_its_type() -> None:
    cut_off = answer(text("I look."), SEARCH)
    assert turns(cut_off, Message.user("And?"))[0] == [text("I look."), text("[server_tool_use]")]
    assert turns(answer(SEARCH, RUN), RESULT, Message.user("And?"))[0] == [text("[server_tool_use]"), RUN]
    assert turns(cut_off, Message.user("And?"), answer(SEARCH, FOUND, text("Here.")))[2][:2] == [SEARCH, FOUND]


def test_of_a_search_that_stands_twice_the_one_without_its_result_is_named_by_its_type() -> None:
    assert turns(answer(SEARCH), answer(SEARCH, FOUND), Message.user("And?"))[0] == [
        text("[server_tool_use]"),
        SEARCH,
        FOUND,
    ]


def test_a_result_whose_search_is_not_shown_any_more_is_named_by_its_type() -> None:
    assert turns(answer(FOUND, text("Done."))) == [[text("[web_search_tool_result]"), text("Done.")]]


def test_what_only_an_answer_may_hold_is_named_by_its_type_where_a_user_says_it() -> None:
    said = Message.user([text("Look:"), THOUGHT, SEARCH, FOUND])
    named = [text(f"[{block['type']}]") for block in (THOUGHT, SEARCH, FOUND)]
    assert turns(Message.assistant("In Lyon."), said) == [[text("In Lyon.")], [text("Look:"), *named]]


def test_a_call_of_a_program_that_the_service_runs_names_it_as_long_as_it_is_shown() -> None:
    program = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "code_execution", "input": {"code": "track()"}}
    run = {**RUN, "caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}}
    asked, again = answer(program, run), answer({**run, "id": "toolu_2"})
    assert turns(asked, RESULT)[0] == [program, run]
    assert turns(asked, RESULT, again, Message.tool("In Lyon.", "toolu_2"))[2] == [{**run, "id": "toolu_2"}]
    assert turns(asked, RESULT, Message.user("And?"))[0] == [text("[server_tool_use]"), RUN]
    assert turns(again, Message.tool("In Lyon.", "toolu_2"))[0] == [{**RUN, "id": "toolu_2"}]
    assert answer({**RUN, "caller": DIRECT}).metadata == {}


@pytest.mark.parametrize("callers", [5, {"toolu_1": 5}, {"toolu_1": {"tool_id": 5}}, {"other": {"tool_id": "s"}}])
def test_what_is_no_caller_is_not_sent_as_one(callers: Any) -> None:
    said = Message.assistant(tool_calls=[ToolCall("toolu_1", "track")], metadata={"anthropic_callers": callers})
    assert turns(said, RESULT)[0] == [RUN]


@pytest.mark.parametrize("part", [PICTURE, LINKED, PAPER])
def test_pictures_and_files_that_only_users_may_send_are_named_in_answers(part: dict[str, Any]) -> None:
    [said] = turns(Message.assistant([text("See"), part]))
    assert said == [text("See"), text("[document]" if part is PAPER else "[image]")]


@pytest.mark.parametrize("kind", ["text", "input_text", "output_text"])
def test_fields_that_other_apis_have_beside_a_text_are_left_out(kind: str) -> None:
    beside = {"annotations": [], "logprobs": [], "prompt_cache_breakpoint": {"mode": "explicit"}}
    part = {"type": kind, "text": "Hello.", **beside}
    called = Message.assistant([part], tool_calls=[ToolCall("c", "look")])
    view = view_of(Message.system([part]), Message.user([part]), called, Message.tool([part], "c"))
    request = view.to_anthropic()
    check_anthropic(request)
    assert request["system"] == request["messages"][0]["content"] == [text("Hello.")]
    assert request["messages"][2]["content"][0]["content"] == [text("Hello.")]


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("data:image/jpg;base64,/9j/", {"type": "base64", "media_type": "image/jpeg", "data": "/9j/"}),
        ("data:image/svg+xml;base64,PHN2", None),
        ("data:image/svg+xml,<svg/>", None),
        ("http://example.com/a.png", "http://example.com/a.png"),
        ("gs://bucket/a.png", "gs://bucket/a.png"),
    ],
)
def test_a_picture_is_sent_in_a_form_that_the_api_takes_or_named(url: str, sent: Any) -> None:
    request = view_of(Message.user([{"type": "image_url", "image_url": {"url": url}}])).to_anthropic()
    check_anthropic(request)
    [block] = request["messages"][0]["content"]
    as_words = text("[image_url]" if sent is None else f"[image_url] {sent}")
    assert block == ({"type": "image", "source": sent} if isinstance(sent, dict) else as_words)
