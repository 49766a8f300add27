"""OpenAI's and Anthropic's APIs on loopback, for what no real model does on demand: it waits, cuts, refuses, fails."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections import deque
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

SUMMARY = "Anna Vermeer decided on 3 March 2026 to ship parcel 4711 to Ghent for 129.50 euro; Bob objected."


@dataclass(frozen=True)
class Says:
    """Streams an answer, word by word, or sends it whole where it is not asked to stream.

    gate: waits for it after the first word, or before the whole. cut: closes the connection in the middle.
    drip_seconds: between words. echo: the question itself is the answer. breaks: an error comes in the middle of the
    stream, after status 200. whole: in one piece although it was asked to stream, as a service that cannot.
    """

    text: str = SUMMARY
    finish: str | None = "stop"
    tokens: tuple[Any, Any] | None = (120, 30)
    refusal: str | None = None
    gate: asyncio.Event | None = None
    cut: bool = False
    drip_seconds: float = 0.0
    echo: bool = False
    breaks: bool = False
    whole: bool = False


@dataclass(frozen=True)
class Fails:
    """Answers with an error. Its body repeats a secret, as providers' texts may."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    code: str | None = None


Reply: TypeAlias = Says | Fails


class Endpoint:
    """Answers with what its script holds, one reply a request, and with `default` when that has ended."""

    def __init__(self) -> None:
        self.script: deque[Reply] = deque()
        self.default: Reply = Says()
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.asked = asyncio.Event()
        self.url = ""
        self._connections: set[asyncio.Task[None]] = set()

    @property
    def questions(self) -> list[tuple[str, str]]:
        """What was asked: instructions and text of each request."""
        return [(request["messages"][0]["content"], request["messages"][-1]["content"]) for request in self.requests]

    @property
    def taken(self) -> int:
        """How many connections were taken."""
        return len(self._connections)

    @property
    def open(self) -> int:
        """How many of them are open."""
        return sum(not connection.done() for connection in self._connections)

    def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Takes a connection."""
        self._connections.add(asyncio.create_task(self._serve(reader, writer)))

    async def close(self) -> None:
        """Ends what still waits at a gate, or for a request."""
        for connection in self._connections:
            connection.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                while await self._answer_next(reader, writer):
                    pass
        finally:
            writer.close()

    async def _answer_next(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        self.requests.append(json.loads(await reader.readexactly(int(headers["content-length"]))))
        self.keys.append(headers.get("x-api-key", headers.get("authorization", "")))
        self.asked.set()
        reply = self.script.popleft() if self.script else self.default
        if isinstance(reply, Fails):
            error = {"message": f"refused for {self.keys[-1]}", "type": "some_error", "code": reply.code}
            body = json.dumps({"error": error}).encode()
            extra = "".join(f"{name}: {value}\r\n" for name, value in reply.headers.items())
            writer.write(_head(reply.status, f"content-length: {len(body)}\r\n{extra}") + body)
            await writer.drain()
            return True
        as_anthropic = " /v1/messages " in head[0]
        if reply.whole or not self.requests[-1].get("stream"):
            if reply.gate is not None:
                await reply.gate.wait()
            body = json.dumps(_whole_as_anthropic(reply) if as_anthropic else _whole(reply)).encode()
            writer.write(_head(200, f"content-length: {len(body)}\r\ncontent-type: application/json\r\n") + body)
            await writer.drain()
            return True
        if as_anthropic:
            return await _stream_as_anthropic(reply, writer)
        return await self._stream(reply, writer)

    async def _stream(self, reply: Says, writer: asyncio.StreamWriter) -> bool:
        writer.write(_head(200, "transfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n"))
        words = (self.questions[-1][1] if reply.echo else reply.text).split(" ")
        for number, word in enumerate(words):
            text = word if number == 0 else f" {word}"
            await _event(writer, _choice({"role": "assistant", "content": text}, None))
            if number == 0 and reply.gate is not None:
                await reply.gate.wait()
            if reply.cut and number >= len(words) // 2:
                return False
            if reply.breaks and number >= len(words) // 2:
                await _event(writer, {"error": {"message": "overloaded", "type": "server_error", "code": 503}})
                return False
            await asyncio.sleep(reply.drip_seconds)
        if reply.refusal is not None:
            await _event(writer, _choice({"refusal": reply.refusal}, None))
        if reply.finish is not None:
            await _event(writer, _choice({}, reply.finish))
        if reply.tokens is not None:
            prompt, completion = reply.tokens
            usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": 0}
            await _event(writer, {**_choice({}, None), "choices": [], "usage": usage})
        await _chunk(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True


@asynccontextmanager
async def endpoint() -> AsyncIterator[Endpoint]:
    """Runs an endpoint."""
    served = Endpoint()
    server = await asyncio.start_server(served.connected, "127.0.0.1", 0)
    served.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    try:
        yield served
    finally:
        server.close()
        await served.close()


async def _stream_as_anthropic(reply: Says, writer: asyncio.StreamWriter) -> bool:
    """Streams text, end and tokens only. finish: as Anthropic spells it."""
    prompt, completion = reply.tokens or (0, 0)
    message = {"id": "1", "type": "message", "role": "assistant", "model": "claude-haiku-4-5", "content": []}
    begun = {
        **message,
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": prompt, "output_tokens": 1},
    }
    events: list[dict[str, Any]] = [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": reply.text}},
        {"type": "content_block_stop", "index": 0},
    ]
    if reply.breaks:
        events[-1] = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    elif not reply.cut:
        delta = {"stop_reason": reply.finish, "stop_sequence": None}
        events.append({"type": "message_delta", "delta": delta, "usage": {"output_tokens": completion}})
        events.append({"type": "message_stop"})
    writer.write(_head(200, "transfer-encoding: chunked\r\ncontent-type: text/event-stream\r\n"))
    for event in events:
        await _chunk(writer, f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())
    writer.write(b"0\r\n\r\n")
    await writer.drain()
    return True


def _head(status: int, headers: str) -> bytes:
    return f"HTTP/1.1 {status} Whatever\r\n{headers}\r\n".encode()


def _whole(reply: Says) -> dict[str, Any]:
    said = {"role": "assistant", "content": reply.text, "refusal": reply.refusal}
    choice = {"index": 0, "message": said, "finish_reason": reply.finish}
    prompt, completion = reply.tokens or (0, 0)
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "gpt-4o-mini", "choices": [choice]}
    return {**whole, "usage": usage}


def _whole_as_anthropic(reply: Says) -> dict[str, Any]:
    prompt, completion = reply.tokens or (0, 0)
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "claude-haiku-4-5",
        "content": [{"type": "text", "text": reply.text}],
        "stop_reason": reply.finish,
        "stop_sequence": None,
        "usage": {"input_tokens": prompt, "output_tokens": completion},
    }


def _choice(delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o-mini", "choices": [choice]}


async def _event(writer: asyncio.StreamWriter, data: dict[str, Any]) -> None:
    await _chunk(writer, b"data: " + json.dumps(data).encode() + b"\n\n")


async def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))
    await writer.drain()
