"""What exceeds its room, because the budget was lowered after it was stored."""

from __future__ import annotations

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.in_memory.state import MemoryState
from durable_memory.memory.stores.in_memory.values import Tally


def above_room(state: MemoryState, limits: Limits) -> Tally:
    """Returns the tokens and messages outside long_term that the next append has to evict, whatever it brings."""
    outside = state.outside
    rooms = [(outside.tokens, limits.room_tokens)]
    if limits.shares:
        rooms = [(state.fill(share.section, limits).tokens, share.tokens) for share in limits.conversation_shares]
    tokens = sum(max(0, held - room) for held, room in rooms if room is not None)
    most = limits.room_messages
    return Tally(tokens, 0 if most is None else max(0, outside.messages - most))
