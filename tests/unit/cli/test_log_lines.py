"""A log line holds known fields and the kind of an error; what users said cannot get into it by accident."""

from __future__ import annotations

import ast
import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from temporalio.exceptions import ApplicationError

import durable_memory
from durable_memory import activities, memory, workflows
from durable_memory.logs import configure_logs
from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.settings import LogFormat


@pytest.fixture
def lines() -> Iterator[Callable[[LogFormat], io.StringIO]]:
    """Sends the logs of this process into a buffer, and restores what the test run has set."""
    root, ours = logging.getLogger(), logging.getLogger("durable_memory")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    # configure_logs closes the handlers that it replaces.
    root.handlers.clear()

    def into_buffer(format_: LogFormat) -> io.StringIO:
        stream = io.StringIO()
        configure_logs("debug", format_, stream)
        return stream

    yield into_buffer
    root.handlers[:] = handlers
    root.setLevel(levels[0])
    ours.setLevel(levels[1])


def entry(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    data: dict[str, Any] = json.loads(line)
    return data


def fields_in_the_source() -> Iterator[str]:
    """The names of what our modules pass as `extra=` to a logger."""
    folders = [folder for package in (durable_memory, memory, activities, workflows) for folder in package.__path__]
    for file in (file for folder in folders for file in Path(folder).rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.keyword) and node.arg == "extra" and isinstance(node.value, ast.Dict):
                yield from (str(key.value) for key in node.value.keys if isinstance(key, ast.Constant))


def test_known_fields_are_written_and_others_are_not(lines: Callable[[LogFormat], io.StringIO]) -> None:
    stream = lines("json")
    logging.getLogger("durable_memory.x").info("a flush", extra={"resource": "thread", "key": "user:42", "text": "hi"})
    written = entry(stream)
    assert written.pop("time").endswith("Z")
    assert written == {"level": "info", "logger": "durable_memory.x", "message": "a flush", "resource": "thread"}


def test_every_field_that_the_product_logs_is_written(lines: Callable[[LogFormat], io.StringIO]) -> None:
    logged = dict.fromkeys(fields_in_the_source(), "value")
    assert {"resource", "provider", "schedule"} <= logged.keys()
    stream = lines("json")
    logging.getLogger("durable_memory.x").info("a flush", extra=logged)
    assert logged.items() <= entry(stream).items()


def test_of_an_unknown_error_only_its_kind_and_place_are_written(lines: Callable[[LogFormat], io.StringIO]) -> None:
    stream = lines("json")
    try:
        int("what the user said")
    except ValueError:
        logging.getLogger("anything").exception("failed")
    written = entry(stream)
    assert written["error"] == "ValueError"
    assert "test_log_lines.py" in written["error_at"][0]
    assert "what the user said" not in stream.getvalue()


@pytest.mark.parametrize(
    "error", [MemoryOversize("600 of 500 tokens"), ApplicationError("600 of 500 tokens", type="MemoryOversize")]
)
def test_our_own_errors_keep_their_text(lines: Callable[[LogFormat], io.StringIO], error: Exception) -> None:
    stream = lines("json")
    logging.getLogger("durable_memory").error("refused", exc_info=error)
    assert (entry(stream)["error"], entry(stream)["error_message"]) == ("MemoryOversize", "600 of 500 tokens")


def test_of_what_temporal_adds_no_workflow_id_is_written(lines: Callable[[LogFormat], io.StringIO]) -> None:
    stream = lines("json")
    details = {"workflow_id": "support-of-marley", "activity_type": "memory.append", "attempt": 2}
    logging.getLogger("temporalio.activity").warning("failed", extra={"temporal_activity": details})
    assert (entry(stream)["activity_type"], entry(stream)["attempt"]) == ("memory.append", 2)
    assert "marley" not in stream.getvalue()


def test_no_reader_of_lines_ends_one_inside_of_an_entry(lines: Callable[[LogFormat], io.StringIO]) -> None:
    breaks = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"
    stream = lines("json")
    logging.getLogger("durable_memory").warning("one%sline", breaks, extra={"resource": breaks})
    assert len(stream.getvalue().splitlines()) == 1
    assert (entry(stream)["message"], entry(stream)["resource"]) == (f"one{breaks}line", breaks)


def test_libraries_are_silent_below_info(lines: Callable[[LogFormat], io.StringIO]) -> None:
    stream = lines("json")
    logging.getLogger("temporalio.worker").debug("Completing activity with completion: what the user said")
    assert stream.getvalue() == ""
    logging.getLogger("durable_memory").debug("ours")
    assert entry(stream)["level"] == "debug"


def test_a_line_for_people_has_the_same_in_words(lines: Callable[[LogFormat], io.StringIO]) -> None:
    stream = lines("console")
    logging.getLogger("durable_memory").warning("refused", extra={"resource": "thread"}, exc_info=MemoryOversize("600"))
    assert stream.getvalue().endswith(" warning refused  resource=thread  MemoryOversize: 600\n")
