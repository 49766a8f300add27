"""A model that is opened with its first question, in a thread: its library takes seconds to import."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from durable_memory.memory.flushing.llm.model import Answer, Model, Question


class OpenedLater:
    """See Model. open_model: makes it; it may block, and is called once."""

    def __init__(self, name: str, open_model: Callable[[], Model]) -> None:
        self.name = name
        self._open = open_model
        self._model: Model | None = None
        self._opening = asyncio.Lock()

    async def ask(self, question: Question) -> Answer:
        """See Model."""
        async with self._opening:
            if self._model is None:
                self._model = await asyncio.to_thread(self._open)
        return await self._model.ask(question)

    async def close(self) -> None:
        """See Model."""
        if self._model is not None:
            await self._model.close()
