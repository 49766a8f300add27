"""The frame of the state machine: a store beside the model, and what must be true after every step."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant

from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.values import ABSENT, Batch, Entry, Operation
from durable_memory.memory.types import FlushResult
from durable_memory.testing.contracts.builders import text_of
from durable_memory.testing.contracts.driven import Driven
from durable_memory.testing.contracts.rigs import StoreRig
from tests.integration.stores.model import ModelMemory

Answer = TypeVar("Answer")
OpenRig = Callable[[AsyncExitStack], Awaitable[StoreRig]]

LONG_MS: Final = 10**9
YEARS_MS: Final = 10**12
"""Deadlines lie behind every expiry that a run can play, so that each operation stays repeatable."""

position = st.integers(0, 60)
"""Which of the earlier things a step refers to: 0 is the latest."""


@dataclass(frozen=True)
class Applied:
    """An operation that was applied, to be sent again later."""

    operation: Operation
    attempt: Callable[[Operation], Coroutine[Any, Any, object]]
    answer: object


class MachineBase(RuleBasedStateMachine):
    """A store, the model beside it, and what earlier steps left behind."""

    limits: Limits
    memory: Driven
    model: ModelMemory

    def __init__(self, open_rig: OpenRig) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.stack = AsyncExitStack()
        self.rig = self.run(open_rig(self.stack))
        self.number = itertools.count(1)
        self.ids: dict[str, str] = {}
        self.calls: list[str] = ["never-called"]
        self.applied: list[Applied] = []
        self.refused: list[tuple[Operation, list[Entry]]] = []
        self.batches: list[Batch] = []
        self.current: Batch | None = None
        self.finished: dict[str, FlushResult] = {}
        self.versions = [ABSENT]
        self.waits_after_failure = False
        self.steps = 0
        """Steps since everything was removed at once: an incarnation must be long enough to become interesting."""

    def run(self, step: Awaitable[Answer]) -> Answer:
        async def one() -> Answer:
            return await step

        return self.loop.run_until_complete(one())

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.loop.close()

    @invariant()
    def both_show_the_same(self) -> None:
        self.steps += 1
        view, stats = self.run(self.memory.state())
        shown = [(text_of(entry), entry.tokens, entry.id) for entry in view.entries]
        assert shown == [(text, tokens, self.ids[text]) for block in self.model.view() for text, tokens in block]
        assert view.tokens == sum(tokens for _, tokens, _ in shown) <= 100
        assert (view.omitted_tokens, view.omitted_messages) == self.model.left_out()
        assert (stats.omitted.tokens, stats.omitted.messages) == self.model.omitted()
        assert {name: (stats.tokens[name], stats.messages[name]) for name in stats.tokens} == {
            name: self.model.section(name) for name in ("system", "long_term", "short_term")
        }
        assert view.flush_due == stats.flush_due == self.model.due()
        assert (view.version == ABSENT) == (not stats.exists) == (not self.model.exists)
        assert stats.version == view.version
        assert stats.flushing_owner == self.model.lease
        if view.version not in self.versions:
            self.versions.append(view.version)

    @invariant()
    def every_acknowledged_message_is_in_one_place(self) -> None:
        acknowledged = sorted(text for text in self.ids if text.startswith("m"))
        assert sorted([*self.model.texts(), *self.model.removed]) == acknowledged
