"""Ports of the store that stop, or let something happen, at the moment that a test is about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from durable_memory.memory.access import Mode
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.forwarding import ForwardingStore
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Operation
from durable_memory.memory.types import ClearResult


class StopsAt:
    """Passes every call on but one: whoever makes that stops there for ever, as where its process is killed."""

    def __init__(self, port: Any, call: str) -> None:
        self._port = port
        self._call = call
        self.reached = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        if name != self._call:
            return getattr(self._port, name)

        async def stop(*_: Any, **__: Any) -> None:
            self.reached.set()
            await asyncio.Event().wait()

        return stop


class BeforeClear(ForwardingStore):
    """A store in which something else happens before the first clear."""

    def __init__(self, store: Store, happens: Callable[[], Awaitable[None]]) -> None:
        super().__init__(store)
        self._happens: Callable[[], Awaitable[None]] | None = happens

    async def clear(
        self, memory: MemoryId, operation: Operation, if_version: str | None = None, *, backup: bool = False, mode: Mode
    ) -> ClearResult:
        happens, self._happens = self._happens, None
        if happens is not None:
            await happens()
        return await super().clear(memory, operation, if_version, backup=backup, mode=mode)
