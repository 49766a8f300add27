"""A counting endpoint on loopback: it answers, delays, errs and redirects, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class CountingServer:
    """answer: the JSON to give, or raw bytes; a number is put where the API of the path has it."""

    url: str = ""
    status: int = 200
    answer: Any = 1_000
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Event = field(default_factory=threading.Event)
    asked: list[tuple[str, dict[str, str], dict[str, Any]]] = field(default_factory=list)

    def texts(self) -> list[str]:
        """The texts that were to be counted, in the form of either API."""
        return [
            body["messages"][0]["content"] if "messages" in body else body["contents"][0]["parts"][0]["text"]
            for _, _, body in self.asked
        ]


@contextmanager
def counting_server() -> Iterator[CountingServer]:
    """Serves until the end of the block. Its gate is open; a closed one holds answers back."""
    state = CountingServer()
    state.gate.set()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            state.gate.wait(60)
            answer = state.answer
            if isinstance(answer, int):
                answer = {"input_tokens" if "messages" in self.path else "totalTokens": answer}
            raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(state.status)
            for name, value in state.headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def do_GET(self) -> None:
            state.asked.append((self.path, dict(self.headers.items()), {}))
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the overridden one
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        state.gate.set()
        server.shutdown()
        server.server_close()
        thread.join()
