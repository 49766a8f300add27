"""Looks after started servers: one that ends is reported at once, and started again or the end of its users."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NoReturn

from durable_memory.dev.supervisor import Server, ServerEndedError
from durable_memory.dev.valkey import Valkey, start_valkey

_log = logging.getLogger(__name__)


class KeptValkey:
    """A Valkey that is started again, on the same port and with its data, whenever it ends by itself."""

    def __init__(self, valkey: Valkey, folder: Path) -> None:
        """folder: where it was started, with fsync `always`."""
        self._valkey = valkey
        self._folder = folder

    async def keep(self) -> NoReturn:
        """Looks after it until it is cancelled. Raises ServerStartError if the server cannot be started again."""
        while True:
            server = self._valkey.server
            code = await server.ended()
            _log.error("%s ended %s; it is started again with its data", server.name, _with_code(code))
            server.kill()  # gives its folder back
            self._valkey = await start_valkey(self._folder, port=server.ports[0], fsync="always")
            _log.warning("%s runs again", server.name)

    async def stop(self) -> None:
        """Stops the one that runs now."""
        await self._valkey.server.stop()


async def end_with(server: Server, folder: Path) -> NoReturn:
    """Waits until a server ends that cannot be replaced while it is used, and raises ServerEndedError then."""
    code = await server.ended()
    text = f"{server.name} ended {_with_code(code)}; its log and its data are in {folder}: start again to go on"
    _log.error("%s", text)
    raise ServerEndedError(text)


@asynccontextmanager
async def looking_after(*watches: Callable[[], Coroutine[Any, Any, NoReturn]]) -> AsyncIterator[None]:
    """Runs the watches beside the block. The error of one cancels the block, and is raised at its end."""
    owner = asyncio.current_task()
    if owner is None:
        raise RuntimeError("servers are looked after inside a task")
    cancelling = owner.cancelling()
    tasks = [asyncio.create_task(watch()) for watch in watches]

    def stop(task: asyncio.Task[NoReturn]) -> None:
        if not task.cancelled():
            owner.cancel()

    for task in tasks:
        task.add_done_callback(stop)
    try:
        try:
            yield
        finally:
            for task in tasks:
                task.remove_done_callback(stop)
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
    except asyncio.CancelledError:
        for task in tasks:
            error = None if not task.done() or task.cancelled() else task.exception()
            if error is not None and owner.uncancel() <= cancelling:
                raise error from None
        raise


def _with_code(code: int) -> str:
    return f"with code {code}" + (f" ({signal.strsignal(-code)})" if code < 0 else "")
