"""Many flushes at once, each beating all the time: none starves, none is taken for dead."""

from __future__ import annotations

import asyncio

from tests.integration.temporal.background import texts
from tests.integration.temporal.flows.slow_flush import PASSES_ON, SILENCE, WatchedFlush
from tests.integration.temporal.observing import attempts_of, eventually
from tests.integration.temporal.rig import running
from tests.integration.temporal.summarizers import Gated

FLUSHES = 50


async def test_fifty_flushes_that_wait_for_their_model_keep_beating_and_end_at_their_first_attempt(
    temporal_address: str, redis_url: str
) -> None:
    summarizer = Gated()
    async with running(
        temporal_address,
        redis_url,
        summarizer=summarizer,
        workflows=[WatchedFlush],
        max_heartbeat_throttle_interval=PASSES_ON,
    ) as rig:
        memories = [rig.memory("patient", f"key-{number}") for number in range(FLUSHES)]
        await asyncio.gather(*(memory.append(texts(3)) for memory in memories))
        handles = [await rig.start(WatchedFlush.run, "patient", memory.id.key) for memory in memories]

        async def all_wait() -> bool:
            return summarizer.calls == FLUSHES

        await eventually(all_wait)
        # Longer than their heartbeat timeout: an attempt that did not beat would be repeated.
        await asyncio.sleep(SILENCE.total_seconds() + 1)
        summarizer.gate.set()
        assert {await handle.result() for handle in handles} == {"committed"}
        assert {attempt for handle in handles for attempt in await attempts_of(handle, "memory.flush")} == {1}
        assert summarizer.calls == FLUSHES
