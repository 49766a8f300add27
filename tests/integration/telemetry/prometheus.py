"""A real Prometheus of our own that scrapes one text; where Debian's package is missing, what wants it is skipped."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import threading
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from durable_memory.dev.supervisor import ServerSpec, start_server
from tests.integration.worker.workers import eventually


def program(name: str) -> str:
    """Returns a program of Prometheus; skips the test where it is missing, except in CI, which installs it."""
    found = shutil.which(name)
    if found is None:
        message = f"{name} not found: install Debian's package prometheus"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
    return found


class Prometheus:
    """It has scraped the text at least twice, so that every series has a rate."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}/api/v1/query"

    async def query(self, expression: str) -> list[dict[str, Any]]:
        """Returns the samples that an expression gives now."""
        url = f"{self._url}?{urllib.parse.urlencode({'query': expression})}"
        answer = await asyncio.to_thread(lambda: json.loads(urllib.request.urlopen(url).read()))
        assert answer["status"] == "success"
        result: list[dict[str, Any]] = answer["data"]["result"]
        return result


@asynccontextmanager
async def prometheus_of(text: Callable[[], bytes], folder: Path) -> AsyncIterator[Prometheus]:
    """Runs one that scrapes what `text` returns four times a second."""
    executable = program("prometheus")
    with _page(text) as target:
        config = folder / "prometheus.yaml"
        jobs = [{"job_name": "worker", "static_configs": [{"targets": [target]}]}]
        config.write_text(json.dumps({"global": {"scrape_interval": "250ms"}, "scrape_configs": jobs}))

        def command(ports: Sequence[int]) -> list[str]:
            options = {"config.file": config, "storage.tsdb.path": folder / "data"}
            listens = f"--web.listen-address=127.0.0.1:{ports[0]}"
            return [executable, listens, *(f"--{name}={value}" for name, value in options.items())]

        spec = ServerSpec("prometheus", command, port_count=1, ready_text="Server is ready to receive web requests")
        server = await start_server(spec, folder)
        try:
            prometheus = Prometheus(server.ports[0])

            async def scraped() -> bool:
                return any(
                    float(sample["value"][1]) >= 2 for sample in await prometheus.query("count_over_time(up[1m])")
                )

            await eventually(scraped)
            yield prometheus
        finally:
            await server.stop()


@contextmanager
def _page(text: Callable[[], bytes]) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Answers /metrics."""
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.end_headers()
            self.wfile.write(text())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
            """Keeps the terminal still."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
