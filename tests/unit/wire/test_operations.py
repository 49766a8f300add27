"""What must be written out beside the table of operations covers it: handles, the core, names, activities."""

from __future__ import annotations

from typing import Any

import pytest
from temporalio import activity

from durable_memory import Agent, AgentMemory, DeclaredAgent, Memory
from durable_memory.activities import operations, wire
from durable_memory.activities.operations import OF_AN_AGENT, ON_A_MEMORY, Operation, Operations
from durable_memory.activities.served import EVERY_WORKER, PROJECT_WORKER

HOMES: dict[type, Operations] = {
    AgentMemory: ON_A_MEMORY,
    Memory: ON_A_MEMORY,
    Agent: OF_AN_AGENT,
    DeclaredAgent: OF_AN_AGENT,
}
NO_OPERATIONS = {"ref", "id", "writer", "memories"}


def method(operation: Operation[object, object]) -> str:
    """The method that is the operation: what an agent's turns are called says so only in the name of the activity."""
    return operation.name.removeprefix("memory.").replace("_agent_turn", "_turn")


@pytest.mark.parametrize("home", HOMES, ids=lambda home: home.__name__)
def test_every_operation_is_a_method_and_every_method_an_operation(home: type) -> None:
    methods = {name for name in vars(home) if not name.startswith("_")} - NO_OPERATIONS
    assert {method(each) for each in HOMES[home]} == methods


def test_every_row_is_in_the_table() -> None:
    rows = [each for each in vars(operations).values() if isinstance(each, Operation)]
    assert [each.name for each in rows] == [*operations.PUBLIC, *operations.INTERNAL]


def test_every_activity_that_has_a_name_has_a_row() -> None:
    names = {value for value in vars(wire).values() if isinstance(value, str) and value.startswith("memory.")}
    assert names == {*operations.PUBLIC, *operations.INTERNAL}


def test_every_row_is_served_under_its_name() -> None:
    served = {**EVERY_WORKER, **PROJECT_WORKER}
    assert set(served) == {*operations.PUBLIC, *operations.INTERNAL}
    definitions = [activity._Definition.must_from_callable(each) for each in served.values()]  # noqa: SLF001 - the SDK has no public way to ask
    assert [each.name for each in definitions] == list(served)
    # A type would have the SDK read the request, and repeat for ever what it cannot read.
    assert [each.arg_types for each in definitions] == [[Any]] * len(served)
