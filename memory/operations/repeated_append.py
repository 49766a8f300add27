"""An append that is repeated: whether what is stored is what it sends, though a policy or a cut has changed it."""

from __future__ import annotations

from dataclasses import replace

from durable_memory.memory.codec import body_of, decode
from durable_memory.memory.errors import MemoryUndecryptable
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations.admission import Admitted
from durable_memory.memory.operations.oversize import is_cut_of
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.stores.port import Store
from durable_memory.memory.types import AppendResult, Message


async def stored_before_this_policy(
    store: Store, memory: MemoryId, limits: Limits, operation_id: str, admitted: Admitted, privacy: Privacy
) -> AppendResult | None:
    """Answers an append whose earlier attempt met a milder privacy policy; None if that stored something else.

    Digests differ then, since each is of what its policy left. Both are the same call if today's policy leaves of what
    was stored just what it left of what was sent.
    """
    first = await store.recorded(memory, operation_id, limits)
    if first is None:
        return None
    try:
        stored = tuple(map(decode, await store.find(memory, first.ids)))
    except MemoryUndecryptable:
        return None  # what this process has no key for cannot be compared
    if len(stored) < len(first.ids):
        return None  # nor can what has left the memory
    screened = await privacy.screen_stored(stored, sum(len(body_of(message)) for message in stored))
    if len(screened.messages) != len(admitted.messages):
        return None
    return first if all(map(is_stored_form, screened.messages, admitted.messages)) else None


def is_stored_form(stored: Message, given: Message) -> bool:
    """Tells whether a message is what was stored of another, which may have been cut, and pinned or unpinned since."""
    stored = replace(stored, pinned=given.pinned)
    if stored.truncated_from is not None and is_cut_of(stored, given):
        stored = replace(stored, content=given.content)
    return body_of(stored) == body_of(given)
