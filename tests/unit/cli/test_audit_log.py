"""The file of the audit: whole lines, for its owner alone, and a file that fails is told and stops nobody."""

from __future__ import annotations

import io
import json
import logging
import resource
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from durable_memory.audit_log import keep_audit_log
from durable_memory.logs import configure_logs
from durable_memory.memory.caller import ProcessCaller
from durable_memory.memory.clock import SystemClock
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.operations import audit
from durable_memory.memory.operations.audit import AuditedCall

AUDIT = logging.getLogger(audit.LOGGER)
MEMORY = MemoryId("shop", "thread", "user:42")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """The ordinary log of a program that writes warnings; what the run of the tests has set comes back."""
    loggers = [logging.getLogger(name) for name in (None, "durable_memory", audit.LOGGER)]
    before = [(each, each.level, each.handlers[:]) for each in loggers]
    loggers[0].handlers.clear()  # configure_logs closes those that it replaces
    stream = io.StringIO()
    configure_logs("warning", "json", stream)
    yield stream
    for each, level, handlers in before:
        for added in set(each.handlers) - set(handlers):
            added.close()
        each.handlers[:] = handlers
        each.setLevel(level)


def cleared(removed: int) -> None:
    with AuditedCall("clear", ProcessCaller(SystemClock(), "cli"), MEMORY) as record:
        record.done(removed=removed)


def removed(file: Path) -> list[int]:
    """What the records of a file say was removed; each line must be whole."""
    return [json.loads(line)["removed"] for line in file.read_text().splitlines()]


def entry(log: io.StringIO) -> dict[str, Any]:
    [line] = log.getvalue().splitlines()
    found: dict[str, Any] = json.loads(line)
    return found


def test_records_are_appended_for_the_owner_alone_whatever_the_level_of_the_log(
    log: io.StringIO, tmp_path: Path
) -> None:
    file = tmp_path / "audit.jsonl"
    keep_audit_log(file)
    cleared(1)
    keep_audit_log(file)  # a second plugin of the process
    cleared(2)
    assert removed(file) == [1, 2]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    line = json.loads(file.read_text().splitlines()[0])
    assert {"logger": audit.LOGGER, "level": "info", "operation": "clear", "caller": "cli"}.items() <= line.items()
    assert line["time"].endswith("Z")
    assert log.getvalue() == ""


def test_a_file_that_was_moved_away_is_made_anew(log: io.StringIO, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    keep_audit_log(file)
    cleared(1)
    file.rename(tmp_path / "audit.1")
    cleared(2)
    file.unlink()
    cleared(3)
    assert (removed(tmp_path / "audit.1"), removed(file)) == ([1], [3])
    assert log.getvalue() == ""


def test_without_its_file_nobody_begins(log: io.StringIO, tmp_path: Path) -> None:
    with pytest.raises(MemoryInvalid, match=r"DURABLE_MEMORY_AUDIT_LOG: the file cannot be opened .*: No such file"):
        keep_audit_log(tmp_path / "nowhere" / "audit.jsonl")
    with pytest.raises(MemoryInvalid, match="Is a directory"):
        keep_audit_log(tmp_path)
    keep_audit_log(None)
    assert (AUDIT.handlers, log.getvalue()) == ([], "")


def test_a_record_that_cannot_be_written_stops_nobody_and_stands_in_the_log_as_an_error(log: io.StringIO) -> None:
    keep_audit_log(Path("/dev/full"))
    cleared(7)
    told = entry(log)
    assert told["level"] == "error"
    assert told["message"] == "DURABLE_MEMORY_AUDIT_LOG: a record was not written: No space left on device"
    assert {"operation": "clear", "outcome": "applied", "removed": 7, "resource": "thread"}.items() <= told.items()


def test_behind_a_record_that_was_cut_the_next_one_has_a_line_of_its_own(log: io.StringIO, tmp_path: Path) -> None:
    file = tmp_path / "audit.jsonl"
    keep_audit_log(file)
    cleared(1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (file.stat().st_size + 10, hard))
    try:
        cleared(2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    cleared(3)
    whole, cut, last = file.read_text().splitlines()
    assert (json.loads(whole)["removed"], len(cut), json.loads(last)["removed"]) == (1, 10, 3)
    assert entry(log)["removed"] == 2


def test_where_nobody_listens_no_record_is_made(log: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(AUDIT, "handle", lambda _: pytest.fail("a record was made"))
    cleared(1)
    assert log.getvalue() == ""
