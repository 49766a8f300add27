"""The form of an export: a header line, a line for each message, and a last line that shows it is whole."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeAlias

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.types import LONG_TERM, SECTIONS, STORE_GIVEN, Message

FORMAT: Final = "durable-memory-messages"
VERSION: Final = 1
"""Grows only with a change that older readers would misread; a new field is no such change."""

MAX_LINE_BYTES: Final = 4_000_000
"""Longer than any message that an append takes."""

RawLine: TypeAlias = str | bytes
_encode: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_LINE_ENDS: Final = {ord(character): f"\\u{ord(character):04x}" for character in "\x85\u2028\u2029"}
"""What ends a line for many programs (`str.splitlines` too) and stands in JSON as it is; inside its strings alone."""


class BadLine(Exception):
    """A line that is no message; `problem` says why, without its content."""

    def __init__(self, problem: str) -> None:
        super().__init__(problem)
        self.problem = problem


@dataclass(frozen=True, slots=True)
class Header:
    """The first line: which resource was exported, and an id of this export that no other has."""

    resource: str
    export_id: str


@dataclass(frozen=True, slots=True)
class MessageLine:
    """A message of a memory, as it may be appended again. summary: it is one, and becomes an ordinary message."""

    key: str
    message: dict[str, Any]
    summary: bool

    @property
    def opens(self) -> tuple[str, ...]:
        """Ids of the tool calls that it makes."""
        calls = self.message.get("tool_calls")
        found = [call.get("id") for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
        return tuple(call_id for call_id in found if isinstance(call_id, str))

    @property
    def answers(self) -> str | None:
        """Id of the tool call that it is the result of."""
        answered = self.message.get("tool_call_id")
        return answered if isinstance(answered, str) else None

    def as_said(self) -> dict[str, Any]:
        """Returns a tool result as an ordinary message, for where its call is no more."""
        return {**{name: value for name, value in self.message.items() if name != "tool_call_id"}, "role": "assistant"}


def _write(data: dict[str, Any]) -> str:
    line = _encode(data)
    return line if line.isascii() else line.translate(_LINE_ENDS)


def header_line(header: Header, exported_at: datetime) -> str:
    """Writes the first line."""
    return _write(
        {
            "format": FORMAT,
            "version": VERSION,
            "resource": header.resource,
            "export": header.export_id,
            "exported_at": exported_at.isoformat(timespec="seconds"),
        }
    )


def message_line(key: str, message: Message, *, waiting: bool) -> str:
    """Writes a message. waiting: it had left the view and waited for its summary."""
    line: dict[str, Any] = {"key": key, "message": message.to_dict()}
    if waiting:
        line["waiting"] = True
    return _write(line)


def last_line(messages: int) -> str:
    """Writes the last line."""
    return _write({"end": True, "messages": messages})


def read_header(raw: RawLine) -> Header:
    """Reads the first line. Raises MemoryInvalid if it is none, or of a later version."""
    if isinstance(raw, str):
        raw = raw.removeprefix("\ufeff")  # with which some programs begin a file, and no decoder but one takes it off
    try:
        data = _object(raw)
    except BadLine:
        data = {}
    if data.get("format") != FORMAT:
        raise MemoryInvalid(f'line 1: is no header of an export: {{"format": "{FORMAT}", "version": {VERSION}, …}}')
    version, resource, export_id = data.get("version"), data.get("resource"), data.get("export")
    if not isinstance(version, int) or not isinstance(resource, str) or not isinstance(export_id, str):
        raise MemoryInvalid("line 1: the header of the export lacks its version, resource or export")
    if version > VERSION:
        raise MemoryInvalid(f"line 1: the export has version {version}, this program reads up to {VERSION}: update it")
    return Header(resource, export_id)


def read_line(raw: RawLine) -> MessageLine | int:
    """Reads a message, or from the last line how many there should be. Raises BadLine."""
    data = _object(raw)
    count = data.get("messages")
    if data.get("end") is True and isinstance(count, int):
        return count
    key, message = data.get("key"), data.get("message")
    if not isinstance(key, str) or not isinstance(message, dict):
        raise BadLine('has no "key" with text, or no "message" with an object')
    summary = message.get("section") == LONG_TERM
    again = {name: value for name, value in message.items() if name not in STORE_GIVEN}
    if again.get("section") in SECTIONS and not summary:
        del again["section"]  # given by the role; that of a summary tells the append to make an ordinary message of it
    return MessageLine(key, again, summary)


def _object(raw: RawLine) -> dict[str, Any]:
    if len(raw) > MAX_LINE_BYTES:
        raise BadLine(f"is longer than {MAX_LINE_BYTES:,} bytes")
    try:
        data = json.loads(raw)
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise BadLine("is not JSON") from None
    except RecursionError:
        raise BadLine("is nested too deeply") from None
    except ValueError:
        raise BadLine("holds a number of too many digits; write it as text") from None
    if not isinstance(data, dict):
        raise BadLine("is no JSON object")
    return data
