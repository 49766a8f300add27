"""The pid file of a child server: a lock while its supervisor lives, and the trace of what a dead one left running."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO

_STOP_GRACE_SECONDS = 5.0
_POLL_SECONDS = 0.02


class FolderInUse(Exception):
    """Another living process holds the pid file."""


class PidFile:
    """Held while a server runs. The kernel drops the lock with its process, so a held lock is a living supervisor."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: IO[str] | None = None

    def claim(self) -> None:
        """Takes the lock and ends the server that a dead supervisor left behind, if there is one.

        Raises FolderInUse if a living process holds the file.
        """
        file = self._path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise FolderInUse from None
        self._file = file
        file.seek(0)
        with contextlib.suppress(ValueError, KeyError, TypeError):  # half written at a power cut: nothing to find
            left = json.loads(file.read())
            _end_left_over(int(left["pid"]), [str(part) for part in left["command"]])

    def write(self, pid: int, command: Sequence[str]) -> None:
        """Records which process runs, so that it can be found and told from a stranger with the same pid."""
        self._replace(json.dumps({"pid": pid, "command": list(command)}))

    def release(self) -> None:
        """Empties the file and drops the lock; the file itself stays, as another process may have it open."""
        if self._file is not None:
            self._replace("")
            self._file.close()
            self._file = None

    def _replace(self, text: str) -> None:
        if self._file is None:
            message = "the pid file is written only between claim and release"
            raise RuntimeError(message)
        self._file.seek(0)
        self._file.truncate()
        self._file.write(text)
        self._file.flush()


def _end_left_over(pid: int, command: list[str]) -> None:
    wanted = " ".join(command).split()
    if _command_of(pid) != wanted:
        return
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, sign)
        deadline = time.monotonic() + _STOP_GRACE_SECONDS
        while time.monotonic() < deadline:
            if _command_of(pid) != wanted:
                return
            time.sleep(_POLL_SECONDS)


if sys.platform == "linux":

    def _command_of(pid: int) -> list[str]:
        """Returns the words of a process's command line; none if it does not run (a zombie has an empty one)."""
        try:
            return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").split()
        except OSError:
            return []

else:

    def _command_of(pid: int) -> list[str]:
        """Returns the words of a process's command line; none if it does not run."""
        shown = subprocess.run(  # noqa: S603 -- a fixed program and a number
            ["/bin/ps", "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        return shown.stdout.split()
