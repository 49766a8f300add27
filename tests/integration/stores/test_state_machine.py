"""Random schedules of every operation, on both stores, compared step by step with a memory made of plain lists."""

from __future__ import annotations

import os
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any, get_args

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, rule, run_state_machine_as_test

from durable_memory.memory.limits import PolicyName
from durable_memory.testing.contracts.builders import dropping, summarising
from durable_memory.testing.contracts.driven import OPERATION_MS
from durable_memory.testing.contracts.rigs import InMemoryRig, StoreRig, drive, open_redis_rig
from tests.integration.stores.machine_base import LONG_MS, YEARS_MS, OpenRig
from tests.integration.stores.machine_clients import ClientSteps, Drawn, messages
from tests.integration.stores.machine_flush import FlushSteps
from tests.integration.stores.model import ModelMemory

EXAMPLES = int(os.environ.get("DURABLE_MEMORY_TEST_EXAMPLES", "40"))
"""Schedules for each store."""

# A failing schedule is made short before it is shown, which takes some minutes.
pytestmark = pytest.mark.timeout(900)


class StoreMachine(ClientSteps, FlushSteps):
    """Calls a store and the model with the same arguments and compares what both show after each call."""

    @initialize(
        summarise=st.booleans(),
        policy=st.sampled_from(get_args(PolicyName)),
        max_messages=st.sampled_from([None, 8]),
        oldest_share=st.sampled_from([0, 0, 0.5, 0.9]),
        keep_first=st.integers(0, 1),
        keep_last=st.integers(0, 2),
        drawn=st.lists(messages, min_size=2, max_size=4),
    )
    def declare(self, *, summarise: bool, drawn: list[Drawn], **fields: Any) -> None:
        declared = summarising if summarise else dropping
        numbers = {"due_messages": 6, "target_messages": 3, "overflow_messages": 20} if fields["max_messages"] else {}
        overflow = {"overflow_tokens": 200} if summarise else {}
        self.limits = declared(ttl_ms=LONG_MS, **numbers, **overflow, **fields)
        # Redis takes the short way of an append only where deadlines are near, as they are in use.
        patience_ms = YEARS_MS if isinstance(self.rig, InMemoryRig) else OPERATION_MS
        self.memory = replace(drive(self.rig, self.limits), patience_ms=patience_ms)
        self.model = ModelMemory(self.limits)
        for batch in drawn:
            self.append(batch)

    @rule(
        percent=st.sampled_from([100, 100, 50, 25]), summarise=st.sampled_from([True, True, False]), few=st.booleans()
    )
    def declare_anew(self, *, percent: int, summarise: bool, few: bool) -> None:
        """The budget is lowered, raised again, limits messages, or drops from now on."""
        declared = summarising() if summarise else dropping(overflow_tokens=None)
        names = ("max_tokens", "summary_tokens", "due_tokens", "target_tokens")
        numbers: dict[str, Any] = {name: (getattr(declared, name) or 0) * percent // 100 for name in names}
        numbers |= dict.fromkeys(("max_messages", "due_messages", "target_messages", "overflow_messages"))
        if few:
            numbers |= {"max_messages": 4, "due_messages": 3, "target_messages": 1, "overflow_messages": 20}
        numbers["overflow_tokens"] = 2 * percent if summarise else None
        self.limits = self.model.limits = replace(self.limits, summarize=summarise, **numbers)
        self.memory = self.memory.under(self.limits)


async def in_memory(_: AsyncExitStack) -> StoreRig:
    return InMemoryRig()


def check(open_rig: OpenRig) -> None:
    class Machine(StoreMachine):
        def __init__(self) -> None:
            super().__init__(open_rig)

    run_state_machine_as_test(
        Machine,
        settings=hypothesis.settings(
            max_examples=EXAMPLES,
            stateful_step_count=60,
            suppress_health_check=[hypothesis.HealthCheck.too_slow, hypothesis.HealthCheck.filter_too_much],
        ),
    )


def test_any_schedule_leaves_the_in_memory_store_as_the_model() -> None:
    check(in_memory)


def test_any_schedule_leaves_the_redis_store_as_the_model(redis_url: str) -> None:
    async def redis(stack: AsyncExitStack) -> StoreRig:
        return await stack.enter_async_context(open_redis_rig(redis_url))

    check(redis)
