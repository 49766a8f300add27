"""The worker's HTTP endpoints: /livez, /readyz and /metrics, for probes and Prometheus on a private network."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import TypeAlias

REQUEST_SECONDS = 5
"""How long a request may take, with its answer."""

_MAX_HEADER_BYTES = 16 * 1024
_TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Answer:
    """What a path answers."""

    status: HTTPStatus
    body: bytes
    content_type: str = _TEXT


Paths: TypeAlias = Mapping[str, Callable[[], Awaitable[Answer]]]
"""What answers which path."""


@asynccontextmanager
async def serving(host: str, port: int, paths: Paths) -> AsyncIterator[str]:
    """Serves GET and HEAD on these paths, one request a connection.

    port: 0 takes a free one. Yields the address, such as http://127.0.0.1:9464. Open requests end when it does. Raises
    OSError if it cannot listen there.
    """
    open_requests: dict[asyncio.Task[None], asyncio.Timeout] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a server runs this in one
        with contextlib.suppress(OSError, TimeoutError):
            try:
                async with asyncio.timeout(REQUEST_SECONDS) as limit:
                    open_requests[task] = limit
                    await _exchange(reader, writer, paths)
            finally:
                del open_requests[task]
                writer.close()

    server = await asyncio.start_server(handle, host, port, limit=_MAX_HEADER_BYTES)
    async with server:
        bound: tuple[str, int] = server.sockets[0].getsockname()[:2]
        shown = f"[{bound[0]}]" if ":" in bound[0] else bound[0]
        try:
            yield f"http://{shown}:{bound[1]}"
        finally:
            server.close()
            await _end(open_requests)


async def _end(requests: Mapping[asyncio.Task[None], asyncio.Timeout]) -> None:
    """Ends the open requests as if their time were over. One that ends with the loop is logged as an error."""
    for limit in requests.values():
        if not limit.expired():
            limit.reschedule(0)
    if requests:
        await asyncio.wait(list(requests))


async def _exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, paths: Paths) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        writer.write(_encoded(_plain(HTTPStatus.BAD_REQUEST), with_body=True))
    else:
        method, target = (*head.split(b"\r\n", 1)[0].decode("latin-1").split(" "), "", "")[:2]
        writer.write(_encoded(await _answer(method, target, paths), with_body=method != "HEAD"))
    await writer.drain()


async def _answer(method: str, target: str, paths: Paths) -> Answer:
    path = paths.get(target.partition("?")[0])
    if path is None:
        return _plain(HTTPStatus.NOT_FOUND)
    if method not in ("GET", "HEAD"):
        return _plain(HTTPStatus.METHOD_NOT_ALLOWED)
    return await path()


def _plain(status: HTTPStatus) -> Answer:
    return Answer(status, f"{status.phrase.lower()}\n".encode())


def _encoded(answer: Answer, *, with_body: bool) -> bytes:
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\n"
        f"Content-Type: {answer.content_type}\r\n"
        f"Content-Length: {len(answer.body)}\r\n"
        "Cache-Control: no-store\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode("latin-1") + (answer.body if with_body else b"")
