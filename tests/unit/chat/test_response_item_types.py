"""Each type of item of the installed `openai` package is kept, refused or left out, and none of them by chance."""

from __future__ import annotations

import typing
from collections.abc import Iterator
from typing import Any, Final

import pytest
from openai.types.beta.beta_response_input_item import BetaResponseInputItem
from openai.types.beta.beta_response_item import BetaResponseItem
from openai.types.beta.beta_response_output_item import BetaResponseOutputItem
from openai.types.responses import ResponseInputItem, ResponseItem, ResponseOutputItem

from durable_memory import messages_from_openai_responses
from durable_memory.memory.types import InvalidValue

UNIONS: Final = (
    *(ResponseInputItem, ResponseItem, ResponseOutputItem),
    *(BetaResponseInputItem, BetaResponseItem, BetaResponseOutputItem),
)

CALLS: Final[dict[str, dict[str, Any]]] = {
    "apply_patch_call": {"operation": {"type": "delete_file", "path": "a.txt"}},
    "computer_call": {"action": {"type": "wait"}},
    "custom_tool_call": {"name": "shell", "input": "ls"},
    "function_call": {"name": "track", "arguments": "{}"},
    "local_shell_call": {"action": {"type": "exec", "command": ["ls"], "env": {}}},
    "multi_agent_call": {"action": "list_agents", "arguments": "{}"},
    "shell_call": {"action": {"commands": ["ls"]}},
}
"""Kept, each with the item that answers it: what your side runs, and what has the same form."""

REFUSED: Final[dict[str, dict[str, Any]]] = {
    "compaction": {"encrypted_content": "gAAAA"},
    "item_reference": {"id": "msg_1"},
}
"""Stand for what the memory does not hold."""

LEFT_OUT: Final[dict[str, dict[str, Any]]] = {
    # Only for the model that thought it.
    "reasoning": {"id": "rs_1", "summary": []},
    # What the service's own tools, programs and agents did. The answer says what came of it.
    "agent_message": {"author": "/root/a", "recipient": "/root", "content": [{"type": "input_text", "text": "Done."}]},
    "code_interpreter_call": {"id": "ci_1", "code": "1", "container_id": "c", "outputs": [], "status": "completed"},
    "file_search_call": {"id": "fs_1", "queries": ["Lyon"], "status": "completed"},
    "image_generation_call": {"id": "ig_1", "result": "iVBORw0KGgo=", "status": "completed"},
    "program": {"id": "p_1", "call_id": "p", "code": "1", "fingerprint": "f"},
    "program_output": {"id": "po_1", "call_id": "p", "result": "1", "status": "completed"},
    "web_search_call": {"id": "ws_1", "status": "completed", "action": {"type": "search", "query": "Lyon"}},
    # Of one request: its tools and settings, and who approved what. The call that follows says what became of it.
    "additional_tools": {"role": "developer", "tools": []},
    "compaction_trigger": {},
    "configuration_update": {"reasoning": {"effort": "low"}},
    "mcp_approval_request": {"id": "ar_1", "name": "ask", "server_label": "s", "arguments": "{}"},
    "mcp_approval_response": {"approval_request_id": "ar_1", "approve": True},
    "mcp_list_tools": {"id": "l_1", "server_label": "s", "tools": []},
}

ELSEWHERE: Final = {"message", "mcp_call", "tool_search_call", "tool_search_output"}
"""Kept, in forms of their own, which other tests show."""


def known_types() -> set[str]:
    """Returns the types of all items that requests and responses of the installed package may hold."""
    return {name for union in UNIONS for model in _members(union) for name in _texts(model.model_fields["type"])}


def _members(union: Any) -> tuple[Any, ...]:
    bare = typing.get_args(union)[0] if typing.get_origin(union) is typing.Annotated else union
    return typing.get_args(bare)


def _texts(field: Any) -> Iterator[str]:
    """Yields the texts of a literal, which may be optional."""
    waiting = [field.annotation]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            yield one
        waiting.extend(typing.get_args(one))


def test_of_each_type_that_the_sdk_knows_somebody_has_decided_what_becomes_of_it() -> None:
    answers = {f"{kind}_output" for kind in CALLS}
    assert known_types() == {*CALLS, *answers, *REFUSED, *LEFT_OUT, *ELSEWHERE}


@pytest.mark.parametrize("kind", CALLS)
def test_a_call_is_kept_with_its_answer(kind: str) -> None:
    asked, answered = messages_from_openai_responses(
        [
            {"type": kind, "call_id": "call_1", "id": "i_1", **CALLS[kind]},
            {"type": f"{kind}_output", "call_id": "call_1", "output": "Done."},
        ]
    )
    assert [call.id for call in asked.tool_calls] == ["call_1"]
    assert (answered.tool_call_id, answered.content) == ("call_1", "Done.")


@pytest.mark.parametrize("kind", REFUSED)
def test_what_stands_for_something_else_is_refused_and_said_why(kind: str) -> None:
    with pytest.raises(InvalidValue, match=rf"^items\[1\]\.type: is {kind}: .*OpenAI"):
        messages_from_openai_responses([{"role": "user", "content": "Hi"}, {"type": kind, **REFUSED[kind]}])


@pytest.mark.parametrize("kind", LEFT_OUT)
def test_what_a_model_does_not_read_again_is_left_out(kind: str) -> None:
    assert messages_from_openai_responses([{"type": kind, **LEFT_OUT[kind]}]) == ()
