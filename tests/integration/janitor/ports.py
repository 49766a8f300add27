"""Ports of the store that stop, or let something happen, at the moment that a test is about."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any


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


class Before:
    """Lets something happen, once, before one kind of call is passed on."""

    def __init__(self, port: Any, call: str, happens: Callable[[], Awaitable[object]]) -> None:
        self._port = port
        self._call = call
        self._happens = happens
        self._happened = False

    def __getattr__(self, name: str) -> Any:
        passed_on = getattr(self._port, name)
        if name != self._call:
            return passed_on

        async def call(*args: Any, **kwargs: Any) -> Any:
            if not self._happened:
                self._happened = True
                await self._happens()
            return await passed_on(*args, **kwargs)

        return call
