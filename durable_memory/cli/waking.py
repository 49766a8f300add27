"""Wakes the background flush from a command, if a Temporal is configured; says so if it could not."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from durable_memory.cli.output import say
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.waking import RetriedFlush

if TYPE_CHECKING:
    from durable_memory.activities.waker import TemporalWaker


async def require_temporal() -> None:
    """Raises MemoryInvalid or MemoryUnavailable where no worker could be woken from here."""
    from durable_memory.temporal_connection import connect_temporal, load_profile  # noqa: PLC0415 - as in CommandWaker

    profile = load_profile()
    if profile.address is None:
        raise MemoryInvalid("TEMPORAL_ADDRESS: is not set, so no worker can be woken from here; leave out --no-wait")
    await connect_temporal(profile)


_NOT_ASKED: Final = "Temporal could not be asked how its flush fares"


class CommandWaker:
    """Connects to Temporal only when there is something to wake, since most commands never need it, and then once."""

    def __init__(self, task_queue: str, payload_keys: str | None) -> None:
        self._task_queue = task_queue
        self._payload_keys = payload_keys
        self._connecting = asyncio.Lock()
        self._tried = False
        self._told = False
        self._waker: TemporalWaker | None = None

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
        """See FlushWaker. A Temporal that cannot be reached fails no command: what was written is written."""
        waker = await self._once("A flush is due; a worker will see it. It could not be woken from here")
        if waker is not None:
            await waker.wake(memory, force=force)
        elif not self._told:
            say("A flush is due; a worker will see it (set TEMPORAL_ADDRESS to wake one from here).")
            self._told = True

    async def retried(self, memory: MemoryId) -> RetriedFlush | None:
        """See FlushReporter. Where no Temporal is configured there is nobody to ask."""
        waker = await self._once(_NOT_ASKED)
        return None if waker is None else await waker.retried(memory)

    async def unpolled(self, project: str) -> str | None:
        """See QueueReporter. Where no Temporal is configured there is nobody to ask."""
        waker = await self._once(_NOT_ASKED)
        return None if waker is None else await waker.unpolled(project)

    async def _once(self, in_vain: str) -> TemporalWaker | None:
        """Connects the first time, if a Temporal is configured. in_vain: what to say if it cannot be reached."""
        async with self._connecting:  # an import wakes after each of its groups, some at the same time
            if not self._tried:
                self._tried = True
                try:
                    self._waker = await self._open()
                except (MemoryUnavailable, MemoryInvalid) as fault:
                    self._told = True
                    say(f"{in_vain}: {fault.message}.")
        return self._waker

    async def _open(self) -> TemporalWaker | None:
        """Connects to the Temporal that is configured, if one is."""
        # Temporal's client takes a quarter of a second, and most commands ask it nothing.
        from durable_memory.activities.waker import TemporalWaker  # noqa: PLC0415 - loaded where it is used
        from durable_memory.temporal_connection import connect_temporal, load_profile  # noqa: PLC0415 - the same

        profile = load_profile()
        if profile.address is None:
            return None
        client = await connect_temporal(profile, payload_keys=self._payload_keys)
        return TemporalWaker(client, self._task_queue)
