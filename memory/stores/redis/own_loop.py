"""The event loop that connections belong to: a call from another one would break them for everybody."""

from __future__ import annotations

import asyncio

from durable_memory.memory.errors import MemoryInvalid


class OwnLoop:
    """Knows the loop in which it was made, and refuses calls from others."""

    __slots__ = ("_loop",)

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()

    def check(self) -> None:
        """Raises MemoryInvalid in another loop, also if its own is closed."""
        if asyncio.get_running_loop() is not self._loop:
            raise MemoryInvalid(
                "this memory client belongs to another event loop, as that of another thread or another asyncio.run: "
                "call it from its own (from a thread with asyncio.run_coroutine_threadsafe), or connect one here"
            )
