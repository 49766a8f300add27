"""docs/python.md names every field, every parameter with its default, and the timeouts that hold."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any, get_args

import pytest

import durable_memory
from durable_memory.memory.declarations.durations import format_duration
from durable_memory.workflows.calling import CALL, FLUSH, LOCAL
from durable_memory.workflows.cleanup import CLEANUP_CALL

PAGE = (Path(__file__).parents[2] / "docs" / "python.md").read_text()
MADE: dict[str, Callable[..., Any]] = {
    "AgentMemory": durable_memory.AgentMemory,
    "Agent": durable_memory.Agent,
    "MemoryPlugin": durable_memory.MemoryPlugin,
    "MemoryClient.from_environment": durable_memory.MemoryClient.from_environment,
    "MemoryClient.connect": durable_memory.MemoryClient.connect,
}


def rows(first_heading: str) -> list[list[str]]:
    """The cells of the table whose header begins with that cell."""
    table = PAGE.split(f"| {first_heading} |", 1)[1].split("\n\n", 1)[0]
    return [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


@pytest.mark.parametrize("name", sorted({row[0] for row in rows("type")}))
def test_every_field_is_listed(name: str) -> None:
    kind = getattr(durable_memory, name)
    assert sorted(row[1] for row in rows("type") if row[0] == name) == sorted(field.name for field in fields(kind))


def test_what_reads_and_turns_answer_is_listed() -> None:
    asked = {"View", "Turn", "AppendResult", "AgentContext", "ContextMemory", "AgentTurn", "MemoryTurn", "Message"}
    assert {row[0] for row in rows("type")} == asked


def test_every_field_of_the_other_answers_is_listed() -> None:
    others = {row[0]: re.findall(r"\w+", row[2]) for row in rows("answer")}
    assert others == {name: [field.name for field in fields(getattr(durable_memory, name))] for name in others}
    answers = {name for name in durable_memory.__all__ if name.endswith(("Result", "Stats", "Health"))}
    assert answers - {"AppendResult", "MemoryOrphanResult"} <= set(others)


def test_every_way_in_which_a_flush_ends_is_named() -> None:
    said = PAGE.split("\nA flush was ", 1)[1].split("\n\n", 1)[0]
    for word in (*get_args(durable_memory.FlushOutcome), *get_args(durable_memory.FlushReason)):
        assert f"`{word}`" in said


def test_what_a_summariser_is_asked_is_listed() -> None:
    named = [row[0] for row in rows("field of `SummaryRequest`")]
    assert named == [field.name for field in fields(durable_memory.SummaryRequest)]


@pytest.mark.parametrize("name", MADE)
def test_every_parameter_is_listed_with_its_default(name: str) -> None:
    stated = [(row[1], row[2]) for row in rows("call") if row[0] == name]
    held = [(one.name, _written(one.default)) for one in inspect.signature(MADE[name]).parameters.values()]
    assert stated == held


def test_the_timeouts_are_those_that_hold() -> None:
    table = PAGE.split("| | `start_to_close_timeout` |", 1)[1].split("\n\n", 1)[0].splitlines()[2:]
    flush, others, cleanup = ([cell.strip() for cell in line.split("|")[2:-1]] for line in table)
    assert flush == _times(FLUSH)
    assert others == _times(CALL) == _times(LOCAL)
    assert cleanup == _times(CLEANUP_CALL)


def _times(config: Mapping[str, Any]) -> list[str]:
    policy = config["retry_policy"]
    return [
        "none"
        if time is None
        else f"{time.total_seconds():g}s"
        if time < timedelta(minutes=1)
        else format_duration(time)
        for time in (
            config["start_to_close_timeout"],
            config["schedule_to_close_timeout"],
            config.get("heartbeat_timeout"),
            policy.initial_interval,
            policy.maximum_interval,
        )
    ]


def _written(default: object) -> str:
    if default is inspect.Parameter.empty:
        return ""
    return f'"{default}"' if isinstance(default, str) else str(default)
