"""A TCP proxy in front of Redis that loses, refuses or holds back what passes, as networks and failovers do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class Proxy:
    """Passes everything on until told otherwise; each fault is used up by one script call.

    refusals: error lines to answer with instead of asking the server. cut_before, cut_after: how many script calls
    lose their connection before the server sees them, or after it has answered. held: while it is not set, answers of
    scripts are kept back. delay_seconds: how long each of them is kept back otherwise. host, port: the server; another
    one is asked by connections that are made after the change.
    """

    host: str
    port: int
    url: str = ""
    refusals: list[bytes] = field(default_factory=list)
    cut_before: int = 0
    cut_after: int = 0
    connections: int = 0
    delay_seconds: float = 0
    held: asyncio.Event = field(default_factory=asyncio.Event)
    holding: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.held.set()

    def is_script(self, request: bytes) -> bool:
        """Whether a request runs a script."""
        return b"\r\nEVAL" in request


@asynccontextmanager
async def open_proxy(host: str, port: int) -> AsyncIterator[Proxy]:
    """Opens a proxy to a server on a free port."""
    proxy = Proxy(host, port)
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        proxy.connections += 1
        try:
            server_reader, server_writer = await asyncio.open_connection(proxy.host, proxy.port)
            try:
                await _pass_on(proxy, reader, writer, server_reader, server_writer)
            finally:
                server_writer.close()
        except (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    proxy.url = f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    try:
        yield proxy
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _pass_on(
    proxy: Proxy,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    server_reader: asyncio.StreamReader,
    server_writer: asyncio.StreamWriter,
) -> None:
    # Our client sends a request and waits for its answer. A script with its text comes in several pieces.
    while request := await reader.read(1 << 20):
        while not _is_whole(request):
            piece = await reader.read(1 << 20)
            if not piece:
                return
            request += piece
        script = proxy.is_script(request)
        if script and proxy.refusals:
            writer.write(proxy.refusals.pop(0))
            continue
        if script and proxy.cut_before:
            proxy.cut_before -= 1
            return
        server_writer.write(request)
        answer = await server_reader.read(1 << 20)
        if script and proxy.cut_after:
            proxy.cut_after -= 1
            return
        if script and not proxy.held.is_set():
            proxy.holding.set()
            await proxy.held.wait()
        if script and proxy.delay_seconds:
            await asyncio.sleep(proxy.delay_seconds)
        writer.write(answer)


def _is_whole(request: bytes) -> bool:
    """Whether these bytes are whole commands: arrays of texts, each of which begins with its length."""
    at, texts = 0, 0
    while at < len(request):
        end = request.find(b"\r\n", at)
        if end < 0:
            return False
        number = int(request[at + 1 : end])
        at = end + 2
        if texts:
            at, texts = at + number + 2, texts - 1
        else:
            texts = number
    return (at, texts) == (len(request), 0)


@asynccontextmanager
async def fake_server(answer: Callable[[bytes], Awaitable[bytes]]) -> AsyncIterator[str]:
    """A server that answers each request by a function; yields its URL."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while request := await reader.read(1 << 16):
            writer.write(await answer(request))
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"redis://127.0.0.1:{server.sockets[0].getsockname()[1]}/0"
    finally:
        server.close()
        await server.wait_closed()
