"""Wakes the background flush from a command, if a Temporal is configured; says so if it could not."""

from __future__ import annotations

from durable_memory.activities.waker import TemporalWaker
from durable_memory.cli.output import say
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId
from durable_memory.temporal_connection import connect_temporal, load_profile


async def require_temporal() -> None:
    """Raises MemoryInvalid or MemoryUnavailable where no worker could be woken from here."""
    profile = load_profile()
    if profile.address is None:
        raise MemoryInvalid("TEMPORAL_ADDRESS: is not set, so no worker can be woken from here; leave out --no-wait")
    await connect_temporal(profile)


class CommandWaker:
    """Connects to Temporal only when there is something to wake, since most commands never need it."""

    def __init__(self, task_queue: str, payload_keys: str | None) -> None:
        self._task_queue = task_queue
        self._payload_keys = payload_keys
        self._told = False

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:
        """See FlushWaker. A Temporal that cannot be reached fails no command: what was written is written."""
        try:
            profile = load_profile()
            if profile.address is None:
                self._tell("A flush is due; a worker will see it (set TEMPORAL_ADDRESS to wake one from here).")
                return
            client = await connect_temporal(profile, payload_keys=self._payload_keys)
        except (MemoryUnavailable, MemoryInvalid) as fault:
            self._tell(f"A flush is due; a worker will see it. It could not be woken from here: {fault.message}.")
            return
        await TemporalWaker(client, self._task_queue).wake(memory, force=force)

    def _tell(self, sentence: str) -> None:
        if not self._told:  # an import wakes after each of its groups
            say(sentence)
        self._told = True
