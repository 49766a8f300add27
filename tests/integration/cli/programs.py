"""Runs our programs as users do: as processes, with an environment of their own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import pty
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.integration.cli.preloaded import run_fork

PROGRAM = str(Path(sys.executable).with_name("durable-memory"))

DECLARATIONS = """
resource: memory
id: thread
description: A conversation that is summarised
version: 2.1.0
max_tokens: 600
flushing: {summary_tokens: 100, keep_last: 1}
scope: user
---
resource: memory
id: notes
max_messages: 5
type: message_count_based
flushing: {type: drop, keep_last: 0}
---
resource: memory
id: crowded
max_messages: 4
type: message_count_based
overflow: {max_messages: 8}
---
resource: memory
id: trip
max_tokens: 1000
flushing: {summary_tokens: 100}
token_allocation: {short_term: 0.6, long_term: 0.2, system: 0.1, user_defined: {bookings: 0.1}}
---
resource: agent
id: clerk
description: Files what was said
memory: thread
memory_key: "user:{{ input.user_id }}"
"""


@dataclass(frozen=True)
class Ended:
    """How a program ended."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """What it printed, which must be JSON and nothing else."""
        return json.loads(self.out)


def environment(**given: str) -> dict[str, str]:
    """The environment of this process without what configures our programs, and with what is given."""
    ours = ("REDIS_URL", "TEMPORAL_", "DURABLE_MEMORY_")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    # A file that does not exist: the configuration of whoever runs the tests must not be found.
    return {**inherited, "TEMPORAL_CONFIG_FILE": "/no/such/file", "COLUMNS": "120", "TZ": "UTC", **given}


async def run_program(*arguments: str, cwd: Path, stdin: str = "", **given: str) -> Ended:
    """Runs `durable-memory` with these arguments to its end. stdin is never a terminal.

    It is a process of its own, but no new interpreter: `run_command(PROGRAM, ...)` starts one.
    """
    code, out, err = await run_fork(arguments, stdin.encode(), cwd, environment(**given))
    return Ended(code, out.decode(), err.decode())


async def shown_at_a_terminal(*arguments: str, cwd: Path, width: int, with_errors: bool = False, **given: str) -> str:
    """Runs `durable-memory` with a terminal of this width as stdout, one without colours; returns what it shows.

    with_errors: the terminal is stderr as well.
    """
    ours, theirs = pty.openpty()
    size = {"TERM": "dumb", "COLUMNS": str(width), "LINES": "25"}
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *arguments,
        cwd=cwd,
        env=environment(**{**size, **given}),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=theirs,
        stderr=theirs if with_errors else asyncio.subprocess.PIPE,
    )
    os.close(theirs)
    shown = b""
    with contextlib.suppress(OSError):  # Linux: nobody holds the other end any more
        while more := await asyncio.to_thread(os.read, ours, 1 << 16):
            shown += more
    os.close(ours)
    assert await process.wait() == 0
    return shown.decode().replace("\r\n", "\n")


async def answered_at_a_terminal(
    folder: Path, answer: str | Callable[[], Awaitable[str]], *arguments: str, **given: str
) -> Ended:
    """Runs `durable-memory` with a terminal as stdin, at which someone types `answer`.

    answer: or what gives it, and is called while the question stands.
    """
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *arguments,
        cwd=folder,
        env=environment(**given),
        stdin=theirs,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    os.close(theirs)
    question = b""
    if not isinstance(answer, str):
        assert process.stderr is not None
        question = await process.stderr.readuntil(b"[y/N]: ")
        answer = await answer()
    os.write(ours, f"{answer}\n".encode())
    out, err = await process.communicate()
    os.close(ours)
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), (question + err).decode())


async def run_command(*command: str, cwd: Path, stdin: str = "", **given: str) -> Ended:
    """Runs a command to its end."""
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=cwd,
        env=environment(**given),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate(stdin.encode())
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())
