"""Texts that fill a small memory quickly, and what its background flush has done with them."""

from __future__ import annotations

from durable_memory.memory.flushing.summary import covered
from durable_memory.memory.memory import Memory
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import Rig

SENTENCE = "The parcel {} left the depot in the morning and will be with the customer before the evening. "


def texts(count: int, sentences: int = 4) -> list[str]:
    """Returns texts of about 90 tokens each; three of them make a small memory due, the fourth evicts the first."""
    return [f"Text {number}. " + SENTENCE.format(number) * sentences for number in range(count)]


async def flusher_ended(rig: Rig, memory: Memory) -> None:
    """Waits until the flusher of a memory is idle."""

    async def look() -> bool:
        return await rig.flusher_status(memory) not in ("RUNNING", "CONTINUED_AS_NEW")

    await eventually(look)


async def messages_accounted_for(memory: Memory) -> int:
    """Counts what a memory holds, waiting and covered by its summary included."""
    view = await memory.read()
    return covered(view.messages) + view.omitted.messages
