"""What a view gives to OpenAI's Responses API is an input, and its items are messages, in whole groups."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from openai.types.responses import Response

from durable_memory import AgentContext, Message, ToolCall, View, messages_from_openai_responses
from durable_memory.memory.types import InvalidValue
from tests.unit.chat.conversations import LINKED, PAPER, PICTURE, PNG, VIEWS, summary, text, view_of
from tests.unit.chat.sdk_types import check_anthropic, check_openai, check_responses

CALL: dict[str, Any] = {"type": "function_call", "call_id": "call_1", "name": "track", "arguments": "{}"}
OUTPUT: dict[str, Any] = {"type": "function_call_output", "call_id": "call_1", "output": "In Lyon."}
SEARCH: dict[str, Any] = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "Lyon"}}
SHELL: dict[str, Any] = {"type": "custom_tool_call", "call_id": "call_2", "name": "shell", "input": "ls", "id": "ct_1"}
SHELL_OUTPUT: dict[str, Any] = {"type": "custom_tool_call_output", "call_id": "call_2", "output": "a.txt"}


def said(words: str) -> dict[str, Any]:
    return {"role": "assistant", "content": words}


@given(VIEWS)
def test_every_view_is_an_input(view: View) -> None:
    items = view.to_openai_responses()
    check_responses(items)
    asked = [item["call_id"] for item in items if item.get("type") == "function_call"]
    answered = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert sorted(asked) == sorted(answered)
    assert len(asked) == len(set(asked)) == sum(len(message.tool_calls) for message in view.messages)


def test_calls_with_one_id_get_ids_of_their_own_and_results_still_find_them() -> None:
    call, output = {**CALL, "call_id": "call_0"}, {**OUTPUT, "call_id": "call_0"}
    messages = messages_from_openai_responses(
        [call, call, {**output, "output": "1"}, {**output, "output": "2"}, call, {**output, "output": "3"}]
    )
    items = view_of(*messages).to_openai_responses()
    assert [item["call_id"] for item in items] == [f"call_0{of}" for of in ("", "_2", "", "_2", "_3", "_3")]
    assert [item["output"] for item in items if "output" in item] == ["1", "2", "3"]


def test_a_conversation_with_calls_and_a_summary_is_told_as_it_was() -> None:
    view = view_of(
        Message.system("Be kind."),
        summary("Anna waits for A-17."),
        Message.user("Where is it?", name="anna"),
        Message.assistant("I look.", tool_calls=[ToolCall("call_1", "track")]),
        Message.tool("In Lyon.", "call_1"),
    )
    items = [
        {"role": "system", "content": "Be kind."},
        {"role": "system", "content": "Anna waits for A-17."},
        {"role": "user", "content": "Where is it?"},
        said("I look."),
        CALL,
        OUTPUT,
    ]
    assert view.to_openai_responses() == items
    assert view.to_openai_responses(system="Be brief.") == [{"role": "system", "content": "Be brief."}, *items]
    assert AgentContext(view.messages, 0, ()).to_openai_responses(system="Be brief.")[1:] == items
    for shown in (view, AgentContext(view.messages, 0, ())):
        assert shown.to_openai_responses(turn="And now?") == [*items, {"role": "user", "content": "And now?"}]


def test_what_a_model_answered_is_read_and_comes_back_as_input() -> None:
    response = Response.model_validate(
        {
            "id": "resp_1",
            "created_at": 0,
            "model": "gpt-5",
            "object": "response",
            "tools": [],
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"},
                {**SEARCH, "action": {"type": "search", "query": "Lyon"}},
                {
                    "type": "message",
                    "id": "msg_1",
                    "role": "assistant",
                    "status": "completed",
                    "phase": "commentary",
                    "content": [{"type": "output_text", "text": "I look.", "annotations": [], "logprobs": []}],
                },
                {**CALL, "id": "fc_1", "status": "completed"},
                {**CALL, "call_id": "call_3", "id": "fc_2", "status": "completed"},
            ],
        }
    )
    [asked] = messages_from_openai_responses(response.output)
    assert (asked.content, asked.tool_calls) == ("I look.", (ToolCall("call_1", "track"), ToolCall("call_3", "track")))
    items = view_of(asked).to_openai_responses()
    assert items == [{**said("I look."), "phase": "commentary"}, CALL, {**CALL, "call_id": "call_3"}]
    check_responses(items)


CONVERSATIONS: list[list[dict[str, Any]]] = [
    [{"role": "user", "content": "Hi"}, said("Hello!")],
    [{"role": "user", "content": "Hi"}, CALL, OUTPUT, said("It is in Lyon.")],
    [CALL, {**CALL, "call_id": "b"}, {**OUTPUT, "call_id": "b"}, OUTPUT],
    [CALL, OUTPUT, {**CALL, "call_id": "b"}, {**OUTPUT, "call_id": "b"}],
    [{**said("First."), "phase": "commentary"}, CALL, OUTPUT, {**said("Last."), "phase": "final_answer"}],
    [CALL, {**OUTPUT, "output": [{"type": "input_text", "text": "In"}, {"type": "input_text", "text": "Lyon."}]}],
    [CALL, {**OUTPUT, "output": ""}],
    [{"role": "user", "content": [{"type": "input_image", "file_id": "file_1", "detail": "low"}]}],
    [{"role": "user", "content": [{"type": "input_text", "text": "See"}, {"type": "input_file", "file_id": "file_1"}]}],
]


@pytest.mark.parametrize("items", CONVERSATIONS)
def test_items_come_back_as_they_were(items: list[dict[str, Any]]) -> None:
    check_responses(items)  # type: ignore[arg-type] # dicts
    assert view_of(*messages_from_openai_responses(items)).to_openai_responses() == items


def function(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": json.dumps(arguments)}


@pytest.mark.parametrize(
    ("items", "known"),
    [
        (
            [SHELL, SHELL_OUTPUT],
            [function("call_2", "shell", input="ls"), {**OUTPUT, "call_id": "call_2", "output": "a.txt"}],
        ),
        (
            [
                {"type": "shell_call", "call_id": "c", "id": "sh_1", "action": {"commands": ["ls"]}},
                {"type": "shell_call_output", "call_id": "c", "output": [{"stdout": "a.txt", "stderr": ""}]},
            ],
            [
                function("c", "shell", action={"commands": ["ls"]}),
                {**OUTPUT, "call_id": "c", "output": '[{"stdout": "a.txt", "stderr": ""}]'},
            ],
        ),
        (
            [
                {
                    "type": "computer_call",
                    "call_id": "c",
                    "id": "cu_1",
                    "action": {"type": "wait"},
                    "status": "completed",
                },
                {
                    "type": "computer_call_output",
                    "call_id": "c",
                    "output": {"type": "computer_screenshot", "image_url": PICTURE["image_url"]["url"]},
                },
            ],
            [
                function("c", "computer", action={"type": "wait"}),
                {
                    **OUTPUT,
                    "call_id": "c",
                    "output": [{"type": "input_image", "image_url": PICTURE["image_url"]["url"], "detail": "auto"}],
                },
            ],
        ),
        (
            [
                {"type": "tool_search_call", "call_id": "c", "execution": "client", "arguments": {"goal": "track"}},
                {"type": "tool_search_output", "call_id": "c", "execution": "client", "tools": [{"type": "function"}]},
            ],
            [
                function("c", "tool_search", execution="client", arguments={"goal": "track"}),
                {**OUTPUT, "call_id": "c", "output": '[{"type": "function"}]'},
            ],
        ),
        (
            [{"type": "mcp_call", "id": "m", "name": "ask", "server_label": "s", "arguments": "{}", "output": "Yes."}],
            [function("m", "ask"), {**OUTPUT, "call_id": "m", "output": "Yes."}],
        ),
        (
            [
                {
                    "type": "mcp_call",
                    "id": "m",
                    "name": "ask",
                    "server_label": "s",
                    "arguments": "{}",
                    "error": {"type": "http_error", "code": 500, "message": "Not now."},
                }
            ],
            [
                function("m", "ask"),
                {
                    **OUTPUT,
                    "call_id": "m",
                    "output": '{"type": "http_error", "code": 500, "message": "Not now."}',
                },
            ],
        ),
    ],
)
def test_calls_of_other_tools_are_those_of_functions(items: list[dict[str, Any]], known: list[dict[str, Any]]) -> None:
    messages = messages_from_openai_responses(items)
    assert view_of(*messages).to_openai_responses() == known
    check_responses(known)  # type: ignore[arg-type] # dicts
    check_openai(view_of(*messages).to_openai())
    check_anthropic(view_of(*messages).to_anthropic())


@pytest.mark.parametrize(
    "item",
    [
        SEARCH,
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "tool_search_call", "call_id": None, "execution": "server", "arguments": {"goal": "track"}},
        {"type": "tool_search_output", "call_id": None, "execution": "server", "tools": []},
        {"type": "program_output", "call_id": "p", "output": "1"},
        {"type": "mcp_list_tools", "id": "l", "server_label": "s", "tools": []},
        {"role": "user", "content": ""},
        {"type": "message", "role": "assistant", "content": []},
    ],
)
def test_what_says_nothing_to_a_model_that_reads_it_again_is_left_out(item: dict[str, Any]) -> None:
    assert messages_from_openai_responses([said("Hi"), item, CALL]) == (
        Message.assistant("Hi", tool_calls=[ToolCall("call_1", "track")]),
    )


def test_the_output_of_a_local_shell_names_its_call_by_its_own_id() -> None:
    call = {"type": "local_shell_call", "id": "ls_1", "call_id": "c", "action": {"type": "exec", "command": ["ls"]}}
    output = {"type": "local_shell_call_output", "output": "a.txt"}
    for named in ({"id": "c"}, {"id": "lso_1", "call_id": "c"}):
        _, result = messages_from_openai_responses([call, {**output, **named}])
        assert result == Message.tool("a.txt", "c")


@pytest.mark.parametrize("phase", [["final_answer"], {"of": 1}, 1, ""])
def test_what_is_no_phase_is_not_sent_as_one(phase: Any) -> None:
    message = Message.assistant("Hi", metadata={"openai_phase": phase})
    assert view_of(message).to_openai_responses() == [said("Hi")]
    assert messages_from_openai_responses([{**said("Hi"), "phase": phase}]) == (Message.assistant("Hi"),)


def test_calls_of_one_answer_are_one_message_and_those_of_two_are_two() -> None:
    together = messages_from_openai_responses([said("I look."), CALL, SHELL, OUTPUT, SHELL_OUTPUT])
    assert [(one.role, [call.id for call in one.tool_calls]) for one in together] == [
        ("assistant", ["call_1", "call_2"]),
        ("tool", []),
        ("tool", []),
    ]
    apart = messages_from_openai_responses([CALL, said("And now that."), SHELL])
    assert [(one.text, [call.id for call in one.tool_calls]) for one in apart] == [
        ("", ["call_1"]),
        ("And now that.", ["call_2"]),
    ]


@pytest.mark.parametrize(
    ("part", "sent"),
    [
        (text("See"), {"type": "input_text", "text": "See"}),
        (PICTURE, {"type": "input_image", "image_url": PICTURE["image_url"]["url"], "detail": "auto"}),
        (
            {"type": "image_url", "image_url": {**LINKED["image_url"], "detail": "high"}},
            {"type": "input_image", "image_url": "https://example.com/a.png", "detail": "high"},
        ),
        (
            {"type": "image", "source": PNG},
            {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo=", "detail": "auto"},
        ),
        (PAPER, {"type": "input_file", **PAPER["file"]}),
        ({"type": "audio", "data": "…"}, {"type": "input_text", "text": "[audio]"}),
        ({"type": "strange"}, {"type": "input_text", "text": "[strange]"}),
    ],
)
def test_parts_of_other_apis_become_those_of_this_one(part: dict[str, Any], sent: dict[str, Any]) -> None:
    [item] = view_of(Message.user([part])).to_openai_responses()
    assert item == {"role": "user", "content": [sent]}
    check_responses([item])


def test_only_text_stands_where_no_more_is_taken() -> None:
    view = view_of(
        Message.system([text("Look at"), PICTURE]),
        Message.assistant([text("I see"), PICTURE, {"type": "server_tool_use", "id": "x"}]),
        Message.assistant([{"type": "thinking", "thinking": "Hm.", "signature": "…"}]),
    )
    items = view.to_openai_responses()
    assert items == [
        {
            "role": "system",
            "content": [{"type": "input_text", "text": "Look at"}, {"type": "input_text", "text": "[input_image]"}],
        },
        said("I see"),
        said("[image_url]"),
        said("[server_tool_use]"),
    ]
    check_responses(items)


def test_text_alone_is_a_user_message_and_a_developer_is_the_system() -> None:
    assert messages_from_openai_responses("Hi") == (Message.user("Hi"),)
    assert messages_from_openai_responses([{"role": "developer", "content": "Be kind."}]) == (
        Message.system("Be kind."),
    )
    assert messages_from_openai_responses([]) == ()


@pytest.mark.parametrize(
    ("items", "problem"),
    [
        ({"output": []}, r"^items: must be a list of items, as `response.output`, not dict$"),
        (None, r"^items: must be a list of items"),
        (["Hi"], r"^items\[0\]: must be an object, not str$"),
        ([{"content": "Hi"}], r"^items\[0\].type: is missing"),
        ([said("Hi"), {"role": "narrator", "content": "x"}], r"^items\[1\].role: must be one of"),
        ([{"type": "function_call", "name": "track", "arguments": "{}"}], r"^items\[0\].call_id: must be text"),
        ([{**CALL, "arguments": {}}], r"^items\[0\].arguments: must be text"),
        ([CALL, {**OUTPUT, "output": [{"type": ["input_text"]}]}], r"^items\[1\].output\[0\].type: must be text"),
        ([{"type": "function_call_output", "output": "x"}], r"^items\[0\].call_id: must be text"),
        ([{"role": "assistant", "content": ["Hi"]}, CALL], r"^items\[0\].content\[0\]"),
        ([{"type": "item_reference", "id": "msg_1"}], r"^items\[0\].type: is item_reference"),
        ([{"role": "user", "content": [{"type": "input_text", "text": float("nan")}]}], r"^items\[0\].content"),
    ],
)
def test_what_is_no_item_is_refused_with_its_place(items: Any, problem: str) -> None:
    with pytest.raises(InvalidValue, match=problem):
        messages_from_openai_responses(items)
