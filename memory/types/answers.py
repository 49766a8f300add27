"""Results as JSON and back: what crosses the Temporal border. Fields that a newer worker adds are ignored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final, TypeVar

from durable_memory.memory.types.agent import AgentTurn, MemoryTurn
from durable_memory.memory.types.clean import Json
from durable_memory.memory.types.message import Message
from durable_memory.memory.types.results import (
    AppendResult,
    Backup,
    ClearResult,
    DeleteResult,
    FlushResult,
    MemoryHealth,
    MemoryStats,
    StatsGroup,
    Turn,
)
from durable_memory.memory.types.view import Omitted, View

_Result = TypeVar("_Result", AppendResult, ClearResult, DeleteResult, FlushResult)
_PLAIN: Final = frozenset({str, int, float, bool, type(None)})
"""Most fields of most results."""

_TIMES = ("last_flush_at", "created_at", "updated_at", "expires_at", "due_since")


def to_json(value: object) -> Any:
    """Returns a result as JSON data: dataclasses as objects, tuples as lists, times as ISO 8601."""
    kind = value.__class__
    if kind in _PLAIN:
        return value
    if isinstance(value, Message):
        return value.to_dict()
    if is_dataclass(kind):
        return {name: to_json(getattr(value, name)) for name in _names(kind)}
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [to_json(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Returns the names of a result's fields; every answer asks for them."""
    return tuple(item.name for item in fields(kind))


def from_json(kind: type[_Result], data: Mapping[str, Any]) -> _Result:
    """Reads a flat result."""
    known = {item.name for item in fields(kind)}
    values = {name: _tuples(value) for name, value in data.items() if name in known}
    if values.get("view") is not None:
        values["view"] = View.from_dict(values["view"])
    return kind(**values)


def turn_from_json(data: Mapping[str, Any]) -> Turn:
    """Reads the answer to record_turn."""
    return Turn(
        messages=tuple(Message.from_answer(message) for message in data["messages"]),
        result=from_json(AppendResult, data["result"]),
    )


def agent_turn_from_json(data: Mapping[str, Any]) -> AgentTurn:
    """Reads the answer to the record_turn of an agent."""
    return AgentTurn(
        messages=tuple(Message.from_answer(message) for message in data["messages"]),
        turns=tuple(MemoryTurn(turn["resource"], from_json(AppendResult, turn["result"])) for turn in data["turns"]),
    )


def stats_from_json(data: Mapping[str, Any]) -> MemoryStats:
    """Reads the answer to stats."""
    known = {item.name for item in fields(MemoryStats)}
    values = {name: value for name, value in data.items() if name in known}
    for name in _TIMES:
        if values.get(name) is not None:
            values[name] = datetime.fromisoformat(values[name])
    values["backups"] = tuple(_backup(each) for each in values.get("backups", ()))
    values["omitted"] = Omitted.from_dict(values["omitted"])
    values["groups"] = tuple(
        StatsGroup(group["name"], group["messages"], group["tokens"]) for group in values.get("groups", ())
    )
    return MemoryStats(**values)


def _backup(data: Mapping[str, Any]) -> Backup:
    created, ends = (datetime.fromisoformat(data[name]) for name in ("created_at", "ends_at"))
    return Backup(data["id"], data["messages"], created, ends)


def health_from_json(data: Mapping[str, Any]) -> MemoryHealth:
    """Reads the answer to health."""
    stats = data.get("stats")
    return MemoryHealth(
        healthy=data["healthy"],
        problems=tuple(data["problems"]),
        stats=None if stats is None else stats_from_json(stats),
        answer_us=data.get("answer_us"),
    )


def _tuples(value: Json) -> Any:
    return tuple(value) if isinstance(value, list) else value
