"""The records of the audit as a collector gets them: lines of JSON."""

from __future__ import annotations

import json
import logging
from typing import Any

from durable_memory.logs import JsonLines
from durable_memory.memory.operations import audit

Record = dict[str, Any]
ALWAYS = {"time", "level", "logger", "message"}


class Recorded(logging.Handler):
    """Keeps every record as it is written."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.setFormatter(JsonLines())
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps a record."""
        self.lines.append(self.format(record))

    def of(self, project: str) -> list[Record]:
        """The records of a project, each checked to hold nothing but what is listed."""
        found = [json.loads(line) for line in self.lines]
        assert all(set(one) <= ALWAYS | set(audit.FIELDS) for one in found)
        assert {(one["level"], one["logger"]) for one in found} <= {("info", audit.LOGGER)}
        return [one for one in found if one.get("project") == project]

    def brief(self, project: str) -> list[str]:
        """What was done and how it ended."""
        return [f"{one['operation']} {one['outcome']}" for one in self.of(project)]
