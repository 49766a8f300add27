"""What every store refuses of an append whatever the memory holds: known before anything is sent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.fixed_room import check_fixed_room
from durable_memory.memory.stores.values import Entry
from durable_memory.memory.types import LONG_TERM, SYSTEM, Section


def check_sections(resource: str, entries: Sequence[Entry], limits: Limits) -> None:
    """Raises MemoryInvalid for a section that is not declared, or that only a flush writes."""
    declared = limits.sections
    for position, entry in enumerate(entries):
        if entry.section == LONG_TERM or entry.section not in declared:
            raise refusals.section_not_writable(resource, position, entry.section, declared)


def too_large(resource: str, position: int, entry: Entry, limits: Limits) -> MemoryOversize | None:
    """Returns the refusal of a message that could never stand in the view, or None for one that could."""
    room = limits.room_of(entry.section) if entry.answers is None else limits.widest_room()
    if room is None or entry.tokens <= room.limit:
        return None
    return refusals.message_too_large(resource, position, entry.tokens, room, for_summaries=limits.summary_tokens)


def check_fixed(resource: str, entries: Sequence[Entry], limits: Limits) -> None:
    """Raises MemoryOversize for system and pinned messages that alone fill more than there is for them."""
    fixed = [entry for entry in entries if entry.answers is None and (entry.pinned or entry.section == SYSTEM)]
    in_sections = Counter[Section]()
    for entry in fixed:
        in_sections[limits.section_of(entry.section)] += entry.tokens
    check_fixed_room(resource, limits, in_sections=in_sections, tokens=in_sections.total(), messages=len(fixed))
