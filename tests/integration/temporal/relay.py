"""A way to a server that can be cut, as that of a client whose certificate has ended."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Relay:
    """Passes bytes on in both directions until it is cut; `address` is where it listens."""

    def __init__(self, target: str) -> None:
        self.address = ""
        self._host, _, port = target.rpartition(":")
        self._port = int(port)
        self._writers: list[asyncio.StreamWriter] = []
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Listens on a free port."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.address = f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def cut(self) -> None:
        """Ends all connections, and takes none any more."""
        if self._server is not None:
            self._server.close()
        for writer in self._writers:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server_reader, server_writer = await asyncio.open_connection(self._host, self._port)
        self._writers += [writer, server_writer]
        await asyncio.gather(_pass_on(reader, server_writer), _pass_on(server_reader, writer))


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


@asynccontextmanager
async def open_relay(target: str) -> AsyncIterator[Relay]:
    """Opens a relay to a server, and cuts it at the end."""
    relay = Relay(target)
    await relay.open()
    try:
        yield relay
    finally:
        relay.cut()
