"""Tools that Anthropic's service runs itself: which of their calls and results stand without the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from durable_memory.memory.types.chat_words import mention

_CALLS: Final = frozenset({"server_tool_use", "mcp_tool_use"})
_RESULT: Final = "_tool_result"
"""How the types of their results end. Those of your own tools are `tool_result`."""


def name_unpaired(turns: Iterable[dict[str, Any]]) -> None:
    """Replaces by its type each call without its result, and each result without its call: the API refuses both.

    A call may wait until its turn ends. Results of your own tools do not end it; what else a user says does. What an
    answer was cut off at, or an eviction has taken apart, would make every later request one that is refused.
    """
    waiting: dict[str, tuple[list[Any], int]] = {}
    for turn in turns:
        content = turn["content"]
        if turn["role"] == "assistant":
            for index, block in enumerate(content):
                if block["type"] in _CALLS:
                    waiting[str(block.get("id"))] = (content, index)
                elif block["type"].endswith(_RESULT) and not waiting.pop(str(block.get("tool_use_id")), None):
                    content[index] = mention(block)
        elif any(block["type"] != "tool_result" for block in content):
            for blocks, index in waiting.values():
                blocks[index] = mention(blocks[index])
            waiting.clear()


def leave_out_lost_callers(turns: Iterable[dict[str, Any]]) -> None:
    """Leaves out of calls of your own tools which program of the service made them, where it does not stand before."""
    shown: set[str] = set()
    for turn in turns:
        for block in turn["content"]:
            if block["type"] in _CALLS:
                shown.add(str(block.get("id")))
            elif block["type"] == "tool_use" and "caller" in block and block["caller"]["tool_id"] not in shown:
                del block["caller"]
