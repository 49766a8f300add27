"""A worker as a process of its own, watched through its log, its probes and its end."""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import urllib.error
import urllib.request
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil

from tests.integration.cli.preloaded import Fork, start_fork
from tests.integration.cli.programs import environment

PATIENCE_SECONDS = 240


class WorkerProcess:
    """A worker that was started; `http` is where its probes are."""

    def __init__(self, process: Process | Fork, log: Path) -> None:
        self.process = process
        self._log = log

    def log_text(self) -> str:
        """Everything it wrote to stderr."""
        return self._log.read_text()

    def entries(self) -> list[dict[str, Any]]:
        """Its log; every line must be JSON."""
        return [json.loads(line) for line in self.log_text().splitlines()]

    async def entry(self, **fields: str | None) -> dict[str, Any]:
        """Waits for an entry with these fields; None stands for any value."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                for entry in self._whole_entries():
                    if all(name in entry and value in (None, entry[name]) for name, value in fields.items()):
                        return entry
                assert self.process.returncode is None, self.log_text()
                await asyncio.sleep(0.05)

    async def text(self, wanted: str) -> None:
        """Waits until the log holds this text."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while wanted not in self.log_text():
                assert self.process.returncode is None, self.log_text()
                await asyncio.sleep(0.05)

    def _whole_entries(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log_text().splitlines(keepends=True) if line.endswith("}\n")]

    async def get(self, path: str) -> tuple[int, str]:
        """Asks its HTTP endpoint; returns status and body.

        It ends a request that takes it five seconds, which happens where many tests run: it is asked again then.
        """
        url = f"{(await self.entry(http=None))['http']}{path}"
        async with asyncio.timeout(PATIENCE_SECONDS):
            while True:
                try:
                    return await asyncio.to_thread(_get, url)
                except (OSError, http.client.HTTPException):
                    assert self.process.returncode is None, self.log_text()

    async def ready(self) -> None:
        """Waits until it does its work."""
        await self.answers("/readyz", 200)

    async def answers(self, path: str, status: int, words: str = "") -> None:
        """Waits until a path answers with this status, and a body that holds these words."""

        async def is_so() -> bool:
            answer = await self.get(path)
            return answer[0] == status and words in answer[1]

        await eventually(is_so)

    def children(self) -> list[psutil.Process]:
        """The servers that it started."""
        return psutil.Process(self.process.pid).children(recursive=True)

    async def end(self, *signals: signal.Signals) -> int:
        """Sends the signals and returns the exit code."""
        for number in signals:
            self.process.send_signal(number)
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.process.wait()


async def eventually(holds: Callable[[], Awaitable[object]]) -> None:
    """Asks until the answer is true."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            if await holds():
                return
            await asyncio.sleep(0.1)


@asynccontextmanager
async def worker_process(
    *arguments: str, cwd: Path, command: Sequence[str] = (), **given: str
) -> AsyncIterator[WorkerProcess]:
    """Starts a worker; kills it at the end if it still runs.

    command: that of a worker which has to have an interpreter of its own.
    """
    log = cwd / "worker.log"
    process: Process | Fork
    with log.open("wb") as stderr:
        if command:
            process = await asyncio.create_subprocess_exec(
                *(*command, *arguments),
                cwd=cwd,
                env=environment(**given),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=stderr,
            )
        else:
            process = await start_fork(["worker", *arguments], cwd, environment(**given), stderr=stderr.fileno())
    worker = WorkerProcess(process, log)
    try:
        yield worker
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


def _get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
