"""The audit log as a file: one JSON object a line, whatever the level of the ordinary log is."""

from __future__ import annotations

import errno
import logging
import os
import threading
from pathlib import Path
from typing import Final

from durable_memory.logs import JsonLines
from durable_memory.memory import telemetry
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.operations import audit

_VARIABLE: Final = "DURABLE_MEMORY_AUDIT_LOG"
_log = logging.getLogger(__name__)
_adding = threading.Lock()


def keep_audit_log(path: Path | None) -> None:
    """Appends each audit record to a file from now on. Does nothing for None, or a file that is in use already.

    Raises MemoryInvalid if the file cannot be opened: whoever wants an audit does not begin without it.
    """
    if path is None:
        return
    logger = logging.getLogger(audit.LOGGER)
    with _adding:
        if any(isinstance(handler, _AuditFile) and handler.path == path.absolute() for handler in logger.handlers):
            return
        try:
            logger.addHandler(_AuditFile(path.absolute()))
        except OSError as error:
            raise MemoryInvalid(f"{_VARIABLE}: the file cannot be opened for appending: {error.strerror}") from None
        logger.setLevel(logging.INFO)


class _AuditFile(logging.Handler):
    """Appends each record by one write, so that processes may share the file, which is made anew if it was moved."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = self._opened()  # first, since at exit logging closes every handler that was initialised
        super().__init__(logging.INFO)
        self.setFormatter(JsonLines())
        self._torn = False
        """Whether the file ends with a part of a record, as of a full disk: the next one begins a line of its own."""

    def _opened(self) -> int:
        # Whoever may not read the memories may not read this either.
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)

    def emit(self, record: logging.LogRecord) -> None:
        """Writes a record. If that fails, it logs an error and raises nothing: the operation has already happened."""
        try:
            self._write(f"{self.format(record)}\n".encode("utf-8", "backslashreplace"))
        except Exception as error:  # noqa: BLE001 - nothing here may end an operation that has been applied
            telemetry.count_lost_audit(str(getattr(record, "operation", "unknown")))
            why = error.strerror if isinstance(error, OSError) else None
            fields = {name: value for name, value in vars(record).items() if name in audit.FIELDS}
            _log.error("%s: a record was not written: %s", _VARIABLE, why or type(error).__name__, extra=fields)

    def _write(self, line: bytes) -> None:
        self._follow()
        whole = b"\n" + line if self._torn else line
        written = os.write(self._file, whole)
        if written != len(whole):
            self._torn = True
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._torn = False

    def _follow(self) -> None:
        """Opens the file again if something, as logrotate, has moved or removed it."""
        try:
            there, held = self.path.stat(), os.fstat(self._file)
            if (there.st_dev, there.st_ino) == (held.st_dev, held.st_ino):
                return
        except FileNotFoundError:
            pass
        fresh = self._opened()
        os.close(self._file)
        self._file = fresh

    def close(self) -> None:
        """Closes the file."""
        os.close(self._file)
        super().close()
