"""Logs of our programs: one JSON object a line, or lines for people; never content, keys or secrets.

What may be logged is chosen by name: known fields of a record, and of an exception its type and where it was raised.
The text of an exception is kept only where it, or its cause, is one of our own errors, whose texts name no content.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
import sys
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

from temporalio import activity, workflow
from temporalio.exceptions import ApplicationError

from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.operations import audit
from durable_memory.memory.settings import LogFormat, LogLevel

_FIELDS = (
    "resource",
    "operation",
    "outcome",
    "project",
    "task_queue",
    "namespace",
    "deployment_version",
    "temporal",
    "temporal_ui",
    "redis",
    "http",
    "memories",
    "provider",
    "schedule",
    "signal",
    "summarizer",
    *audit.FIELDS,
)
"""Fields of a record that are written: names and addresses, bounded and public."""

_OF_TEMPORAL = {
    "temporal_activity": ("activity_type", "attempt", "task_queue", "workflow_run_id"),
    "temporal_workflow": ("workflow_type", "attempt", "task_queue", "run_id"),
}
"""The details of Temporal's loggers that are written. A workflow id is chosen by users and may hold a key."""

_KINDS = re.compile(r"\b(?:code|kind): ([A-Z][A-Za-z]{2,40})\b")
"""Finds, in an error of Temporal's core, the code of a gRPC status and the kind of a system error behind it."""

_UNKNOWN_ENCODING = re.compile(r"Unknown payload encoding ([\w.+-]{1,40}/[\w.+-]{1,40})", re.ASCII)
"""Finds what Temporal's converter says of a payload that a codec made: the name of its form, never its content."""

_LINE_BREAKS = {code: f"\\u{code:04x}" for code in (0x85, 0x2028, 0x2029)}
"""What JSON leaves as it is, and some that read logs take for the end of a line."""

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}


def configure_logs(level: LogLevel, format_: LogFormat, stream: TextIO | None = None) -> None:
    """Sends the logs of this process to `stream`, stderr by default. Called once, at its start.

    level: of our own loggers. Those of libraries never go below info: at debug, Temporal's write whole payloads.
    """
    handler = logging.StreamHandler(stream or sys.stderr)
    # Where the audit has a file of its own, its records reach this handler at any level: the level applies here, too.
    handler.setLevel(_LEVELS[level])
    handler.setFormatter(JsonLines() if format_ == "json" else _ConsoleLines())
    chosen = _LEVELS[level]
    logging.basicConfig(level=max(chosen, logging.INFO), handlers=[handler], force=True)
    logging.getLogger("durable_memory").setLevel(chosen)
    for client in ("httpx", "httpx2"):  # of models: a line for each request
        logging.getLogger(client).setLevel(max(chosen, logging.WARNING))
    # Both would otherwise append a dictionary with the workflow id to every message.
    activity.logger.activity_info_on_message = False
    workflow.logger.workflow_info_on_message = False


def log_lost_errors(loop: asyncio.AbstractEventLoop) -> None:
    """Logs errors that no task awaited by their type; asyncio's own handler writes their text into the message."""

    def handle(_: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        error = context.get("exception")
        logging.getLogger("durable_memory.asyncio").error("an error was lost in a background task", exc_info=error)

    loop.set_exception_handler(handle)


class JsonLines(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """Returns the line."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        entry = {
            "time": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
            **_error(record),
        }
        return json.dumps(entry, ensure_ascii=False).translate(_LINE_BREAKS)


class _ConsoleLines(logging.Formatter):
    """Time, level, message and fields, for people."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        line = f"{time} {record.levelname.lower():<7} {record.getMessage()}" + (f"  {fields}" if fields else "")
        error = _error(record)
        if not error:
            return line
        text = f": {error['error_message']}" if "error_message" in error else ""
        return "\n".join([f"{line}  {error['error']}{text}", *(f"    {place}" for place in error["error_at"])])


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    values = {name: getattr(record, name) for name in _FIELDS if hasattr(record, name)}
    for source, names in _OF_TEMPORAL.items():
        details = getattr(record, source, None)
        if isinstance(details, Mapping):
            values.update((name, details[name]) for name in names if name in details)
    if words := _core_error(record):
        values["temporal_error"] = words
    return values


def _core_error(record: logging.LogRecord) -> str:
    """Returns the kinds of error that Temporal's core names; the rest of its text may be anything, and is left out."""
    fields = getattr(getattr(record, "temporal_log", None), "fields", None)
    text = str(fields.get("error", "")) if isinstance(fields, Mapping) else ""
    return " ".join(dict.fromkeys(_KINDS.findall(text)))


def _error(record: logging.LogRecord) -> dict[str, Any]:
    if not record.exc_info or record.exc_info[1] is None:
        return {}
    error = record.exc_info[1]
    if isinstance(error, MemoryFault):
        return {"error": error.type, "error_message": error.message, "error_at": []}
    if isinstance(error, ApplicationError) and (error.type or "").startswith("Memory"):
        return {"error": error.type, "error_message": error.message, "error_at": []}
    described = {"error": type(error).__name__, "error_at": _places(record.exc_info[2])}
    words = _words_of_cause(error.__cause__)
    return described if words is None else {**described, "error_message": words}


def _words_of_cause(cause: BaseException | None) -> str | None:
    if isinstance(cause, MemoryFault):
        return cause.message
    encoding = _UNKNOWN_ENCODING.search(repr(cause))
    return None if encoding is None else cannot_decode(encoding[1])


def cannot_decode(encoding: str) -> str:
    """Returns what to say of a payload in an encoding that this process does not know."""
    return (
        f"a payload has the encoding {encoding}, which this process cannot read: give it the "
        "DURABLE_MEMORY_PAYLOAD_KEYS, or the codec, that its callers have"
    )


def _places(trace: TracebackType | None) -> list[str]:
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(trace)]
