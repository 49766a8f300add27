"""A handle inside another value fails the workflow at once, as one by itself does, whatever the data converter."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import timedelta

import pytest
from pydantic import BaseModel, Field
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter

from durable_memory import MemoryRef
from durable_memory.workflows.passing_on import hold_reference, refuse_handles, without_handles
from tests.integration.temporal.flows.nested_handles import AnswerReferences, KeepAHandle, PassABox
from tests.integration.temporal.observing import fault_of
from tests.integration.temporal.rig import Rig, running

_HOW = ("list", "tuple", "set", "deque", "value", "key", "dataclass", "model", "extra", "behind much")
_ROUTES = (
    "activity",
    "local activity",
    "child",
    "memo of a child",
    "signal",
    "service",
    "continue-as-new",
    "memo of continue-as-new",
    "memo",
    "result",
)
_SOON = timedelta(minutes=1)
"""A task that fails again and again ends with a timeout."""


@pytest.fixture(scope="module", params=[DataConverter.default, pydantic_data_converter], ids=["default", "pydantic"])
async def by_converter(temporal_address: str, redis_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """A worker with each of the data converters."""
    workflows = [PassABox, AnswerReferences]
    async with running(temporal_address, redis_url, data_converter=request.param, workflows=workflows) as rig:
        yield rig


@pytest.mark.parametrize(
    ("route", "how"), [*((route, "dataclass") for route in _ROUTES), *(("result", how) for how in _HOW)]
)
async def test_a_handle_inside_a_value_fails_the_workflow(by_converter: Rig, route: str, how: str) -> None:
    fault = await fault_of(by_converter.run(PassABox.run, route, how, execution_timeout=_SOON))
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)
    assert "pass its `ref`" in fault.message


async def test_a_handle_in_a_memo_of_a_handler_fails_the_workflow(by_converter: Rig) -> None:
    handle = await by_converter.start(PassABox.run, "memo in a handler", "value", execution_timeout=_SOON)
    await handle.signal(PassABox.note, "value")
    fault = await fault_of(handle.result())
    assert (fault.type, "pass its `ref`" in fault.message) == ("MemoryInvalid", True)


async def test_references_inside_values_are_passed_on(by_converter: Rig) -> None:
    memory, agent, numbers = await by_converter.run(AnswerReferences.run, execution_timeout=_SOON)
    assert (memory["inside"]["resource"], agent["inside"]["id"], len(numbers)) == ("chat", "clerk", 20_000)


async def test_what_a_model_encodes_not_is_not_refused(temporal_address: str, redis_url: str) -> None:
    workflows = [KeepAHandle]
    async with running(temporal_address, redis_url, data_converter=pydantic_data_converter, workflows=workflows) as rig:
        answer = await rig.run(KeepAHandle.run, execution_timeout=_SOON)
    assert answer.inside == "text"


def test_a_cycle_is_looked_at_to_an_end() -> None:
    cycle: list[object] = []
    cycle += [cycle, {"again": cycle}]
    refuse_handles(cycle)


def test_a_deprecated_field_is_looked_at_without_its_warning() -> None:
    class Model(BaseModel):
        inside: MemoryRef = Field(deprecated="use another one")

    model = Model(inside=MemoryRef("chat", key="anna"))
    refuse_handles(model)
    assert hold_reference(model)


async def test_a_class_of_the_same_name_is_not_taken_for_a_handle() -> None:
    class Agent:
        """Of another library, which has one too."""

    async def encodes() -> str:
        return json.dumps({"a": Agent()})

    with pytest.raises(TypeError, match="Object of type Agent"):
        await without_handles(encodes())
