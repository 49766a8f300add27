"""A real memory with real counting and summarising, and what tests wrap around its ports to make them fail."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from durable_memory.memory import codec
from durable_memory.memory.flushing.drafting import Drafting
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.steps import FlushSteps
from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest
from durable_memory.memory.flushing.summarizers import Chosen
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.forwarding import ForwardingStore
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Batch, FlushOptions, Operation, ReadQuery
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import AppendResult, FlushResult, Message
from durable_memory.testing.contracts.builders import summarising
from durable_memory.testing.contracts.driven import Driven, fresh_memory
from durable_memory.testing.contracts.rigs import StoreRig

Step = Literal["begin", "content", "draft", "commit"]


@dataclass(frozen=True)
class Scene:
    """A memory of 300 tokens, 80 of them for summaries, and all that it takes to flush it."""

    rig: StoreRig
    memory: MemoryId = field(default_factory=fresh_memory)
    counter: TokenCounter = field(default_factory=TiktokenCounter)
    limits: Limits = field(
        default_factory=lambda: summarising(
            max_tokens=300, summary_tokens=80, overflow_tokens=1_200, due_tokens=170, target_tokens=60, ttl_ms=3_600_000
        )
    )

    @property
    def store(self) -> Store:
        return self.rig.backend.store

    def flush(self, summarizer: Summarizer | None = None, store: Store | None = None) -> FlushSteps:
        chosen = Chosen(summarizer or RuleBasedSummarizer(), "own")
        clock = self.rig.clock
        drafting = Drafting(lambda _: nullcontext(chosen), lambda _: self.counter, clock)
        return FlushSteps(store or self.store, drafting, clock)

    def soon(self) -> int:
        return self.rig.clock.now_ms() + 600_000

    async def append(self, *messages: Message) -> AppendResult:
        entries = [
            codec.encode(message, count, created_ms=self.rig.clock.now_ms())
            for message, count in zip(messages, await self.counter.count(messages), strict=True)
        ]
        return await self.store.append(self.memory, entries, self.operation(), self.limits)

    def operation(self) -> Operation:
        return Operation(uuid.uuid4().hex, self.soon(), digest="")

    async def fill(self) -> list[str]:
        """Appends twelve messages, so that a flush is due; returns their texts."""
        texts = [f"Parcel {i} left the depot {i * 37} for Ghent." for i in range(12)]
        for text in texts:
            await self.append(Message.user(text))
        return texts

    async def run(
        self,
        owner: str = "flush-1",
        *,
        summarizer: Summarizer | None = None,
        store: Store | None = None,
        deadline_ms: int | None = None,
        **asked: Any,
    ) -> FlushResult:
        """Runs a flush. asked: the fields of FlushOptions."""
        return await self.flush(summarizer, store).run(
            self.memory,
            owner,
            self.limits,
            FlushOptions(**asked),
            deadline_ms=self.soon() if deadline_ms is None else deadline_ms,
        )

    async def begin(self, owner: str = "flush-1", *, force: bool = False) -> Batch:
        begun = await self.flush().begin(
            self.memory, owner, self.limits, FlushOptions(force=force), attempt_ends_ms=self.soon()
        )
        assert isinstance(begun, Batch)
        return begun

    async def busy(self, owner: str = "someone-else") -> FlushResult:
        begun = await self.flush().begin(
            self.memory, owner, self.limits, FlushOptions(force=True), attempt_ends_ms=self.soon()
        )
        assert isinstance(begun, FlushResult)
        assert begun.outcome == "busy"
        return begun

    async def messages(self) -> list[Message]:
        view = await self.store.read(self.memory, ReadQuery(), self.limits)
        assert view.tokens == sum(entry.tokens for entry in view.entries)
        return [codec.decode(entry) for entry in view.entries]

    async def conversation(self) -> list[str]:
        return [message.text for message in await self.messages() if message.section == "short_term"]

    async def summaries(self) -> list[Message]:
        return [message for message in await self.messages() if message.section == "long_term"]

    async def state(self) -> tuple[list[Message], int, int, str]:
        view = await self.store.read(self.memory, ReadQuery(), self.limits)
        return await self.messages(), view.omitted_messages, view.omitted_tokens, view.version

    async def check_one_summary_and_no_loss(self, appended: list[str]) -> None:
        """Each message is in the conversation or covered by the one summary, and the counters are a recount."""
        (summary,) = await self.summaries()
        left = await self.conversation()
        assert left == appended[len(appended) - len(left) :]
        assert summary.metadata["covers_messages"] == len(appended) - len(left)
        stats = await self.store.stats(self.memory, self.limits)
        assert (stats.omitted.messages, stats.omitted.tokens) == (0, 0)
        counts = await self.counter.count(await self.messages())
        assert sum(count.tokens for count in counts) == sum(stats.tokens.values())
        assert stats.messages == {"system": 0, "long_term": 1, "short_term": len(left)}
        assert stats.flushing_owner is None

    async def expire(self) -> None:
        await self.rig.expire(self._driven())

    async def expire_lease(self) -> None:
        """Ends the lease, if one is held."""
        if (await self.store.stats(self.memory, self.limits)).flushing_owner is not None:
            await self.rig.expire_lease(self._driven())

    def _driven(self) -> Driven:
        return Driven(self.store, self.limits, self.memory, self.rig.clock)

    def with_limits(self, **changes: Any) -> Scene:
        return replace(self, limits=replace(self.limits, **changes))


class Writes:
    """A Summarizer whose text is the answer of a function: a stand-in for a model, good or bad."""

    max_input_tokens = None

    def __init__(self, write: Callable[[SummaryRequest], Awaitable[str]]) -> None:
        self._write = write
        self.calls = 0

    async def summarize(self, request: SummaryRequest) -> str:
        self.calls += 1
        return await self._write(request)


class Gated:
    """A Summarizer that waits at a gate, then writes what the rule-based one does."""

    max_input_tokens = None

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.gate = asyncio.Event()
        self.cancelled = False

    async def summarize(self, request: SummaryRequest) -> str:
        self.reached.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return await RuleBasedSummarizer().summarize(request)


def wrapped(store: Store, replaced: Mapping[str, Callable[..., Awaitable[Any]]]) -> Store:
    """Returns a store whose named methods are replaced: for faults between a flush and a real store."""

    forwarding = ForwardingStore(store)
    for name, call in replaced.items():
        setattr(forwarding, name, call)
    return forwarding
