"""Appends that go on while workers come and go, and what became of them."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryClient
from durable_memory.activities.waker import flusher_id
from tests.chaos.flows import AppendInTurn
from tests.integration.temporal.background import messages_accounted_for, texts
from tests.integration.temporal.declarations import DECLARATIONS

DECLARED: Final = next(each for each in DECLARATIONS if each["id"] == "small")
_TURNS: Final = 5
"""Appends of one workflow."""


class Load:
    """Writers, each with a memory of its own, that append until they are told to stop."""

    def __init__(self, client: Client, queue: str, writers: int) -> None:
        self._client = client
        self._queue = queue
        self._writers = writers
        self._stopped = False
        self.answered: Counter[str] = Counter()
        """Appends that were answered, by key."""
        self.applied_unanswered = 0
        """Attempts that were applied and whose answer was lost, so that another one had to ask again."""

    @asynccontextmanager
    async def going_on(self) -> AsyncIterator[None]:
        """Appends while the block runs, and to the end of what it began."""
        callers = f"{self._queue}-callers"
        async with Worker(self._client, task_queue=callers, workflows=[AppendInTurn]):
            writing = asyncio.gather(*(self._write(f"writer-{number}", callers) for number in range(self._writers)))
            try:
                yield
                self._stopped = True
                await writing
            finally:
                writing.cancel()
                with suppress(asyncio.CancelledError):
                    await writing

    async def more(self, appends: int) -> None:
        """Waits until so many more appends were answered."""
        wanted = self.answered.total() + appends
        async with asyncio.timeout(240):
            while self.answered.total() < wanted:  # noqa: ASYNC110 - several writers count, none gives a sign
                await asyncio.sleep(0.05)

    async def _write(self, key: str, callers: str) -> None:
        while not self._stopped:
            self.applied_unanswered += await self._client.execute_workflow(
                AppendInTurn.run,
                args=[self._queue, key, texts(_TURNS)],
                id=f"load-{uuid.uuid4().hex}",
                task_queue=callers,
            )
            self.answered[key] += _TURNS

    async def stored(self, memories: MemoryClient) -> Counter[str]:
        """Counts what the memories hold, waiting and summarised messages included, once their flushers are idle."""
        counted: Counter[str] = Counter()
        for key in self.answered:
            memory = memories.memory("small", key)
            await self._client.get_workflow_handle(flusher_id(memory.id)).result()
            counted[key] = await messages_accounted_for(memory)
        return counted
