"""What is never evicted, system and pinned messages, must fit what there is for it: else nothing else could come in."""

from __future__ import annotations

from collections.abc import Mapping

from durable_memory.memory.limits import Limits, Room
from durable_memory.memory.stores import refusals
from durable_memory.memory.types import Section


def check_fixed_room(
    resource: str, limits: Limits, *, in_sections: Mapping[Section, int], tokens: int, messages: int
) -> None:
    """Raises MemoryOversize for system and pinned messages that fill more than there is for them.

    in_sections: the tokens that they fill in each section that gets something, which counts where the budget is
    divided. tokens, messages: what they fill in all.
    """
    for share in limits.shares:
        filled = in_sections.get(share.section, 0)
        if filled > share.tokens:
            raise refusals.pinned_too_large(resource, "tokens", filled, Room(share.tokens, share.section))
    for unit, filled, limit in (
        ("tokens", tokens, None if limits.shares else limits.room_tokens),
        ("messages", messages, limits.room_messages),
    ):
        if limit is not None and filled > limit:
            raise refusals.pinned_too_large(resource, unit, filled, Room(limit))
