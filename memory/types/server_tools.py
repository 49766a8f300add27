"""Tools that Anthropic's service runs itself: what a request may not hold of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, TypeAlias

from durable_memory.memory.types.chat_words import mention
from durable_memory.memory.types.vocabulary import THOUGHTS

_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})
_Place: TypeAlias = tuple[list[Any], int]
"""The content of a turn, and which of its blocks."""

_RESULT: Final = "_tool_result"
"""How the types of their results end. Those of your own tools are `tool_result`."""


def is_of_an_answer(block: Mapping[str, Any]) -> bool:
    """Tells whether only an answer of a model may hold this: a thought, or what the service's own tools did."""
    kind = block["type"]
    return kind in THOUGHTS or kind in _CALLS or kind.endswith(_RESULT)


def name_unpaired(turns: Iterable[dict[str, Any]]) -> None:
    """Replaces by its type each call without its result, and each result without its call: the API refuses both.

    A call may wait until its turn ends. Results of your own tools do not end it; what else a user says does. What an
    answer was cut off at, or an eviction has taken apart, would make every later request one that is refused.
    """
    waiting: dict[str, _Place] = {}
    for turn in turns:
        content = turn["content"]
        if turn["role"] == "assistant":
            for index, block in enumerate(content):
                if block["type"] in _CALLS:
                    call_id = str(block.get("id"))
                    _name([waiting[call_id]] if call_id in waiting else [])  # the same search begun once more
                    waiting[call_id] = (content, index)
                elif block["type"].endswith(_RESULT) and not waiting.pop(str(block.get("tool_use_id")), None):
                    content[index] = mention(block)
        elif any(block["type"] != "tool_result" for block in content):
            _name(waiting.values())
            waiting.clear()


def _name(places: Iterable[_Place]) -> None:
    for content, index in places:
        content[index] = mention(content[index])


def leave_out_lost_callers(turns: Iterable[dict[str, Any]]) -> None:
    """Leaves out of calls of your own tools which program of the service made them, where it does not stand before."""
    shown: set[str] = set()
    for turn in turns:
        for block in turn["content"]:
            if block["type"] in _CALLS:
                shown.add(str(block.get("id")))
            elif block["type"] == "tool_use" and "caller" in block and block["caller"]["tool_id"] not in shown:
                del block["caller"]
