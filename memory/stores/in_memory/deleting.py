"""Deleting by id: whole groups, and what to say of ids that only a summary still holds."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.types import LONG_TERM, DeleteResult


def remove_groups(state: MemoryState, ids: Sequence[str], until_ms: int) -> DeleteResult:
    """Removes the groups of these messages, or summaries, live or waiting.

    until_ms: how long their tool calls are remembered.
    """
    found = {message_id: state.find(message_id) for message_id in ids}
    groups = {group.number: group for group in found.values() if group is not None}
    gone = {number: entry.id for group in groups.values() for number, entry in group.entries.items()}
    for group in groups.values():
        state.remove(group, until_ms)
    missing = {message_id: _covering_summary(state, message_id) for message_id in found if found[message_id] is None}
    return DeleteResult(
        removed=tuple(gone[number] for number in sorted(gone)),
        not_found=tuple(message_id for message_id, summary in missing.items() if summary is None),
        covered={message_id: summary for message_id, summary in missing.items() if summary is not None},
    )


def _covering_summary(state: MemoryState, message_id: str) -> str | None:
    """Returns the id of the live summary that covers the number in this id."""
    number = state.number_of(message_id)
    for summary in state.groups[LONG_TERM].values():
        if number is not None and any(first <= number <= last for first, last in summary.covers):
            return state.id_at(summary.number)
    return None
