"""A flush of thousands of messages leaves the event loop its turns: leases are renewed and heartbeats sent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext

import pytest

from durable_memory.memory import codec
from durable_memory.memory.clock import ManualClock
from durable_memory.memory.flushing.drafting import Drafting
from durable_memory.memory.flushing.llm.model import Answer, Question
from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer
from durable_memory.memory.flushing.map_reduce import summarize_in_parts
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.flushing.summarizers import Chosen
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.values import StoredEntry
from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.tokens.tiktoken_counter import PIECE_CHARACTERS, TiktokenCounter
from durable_memory.memory.types import Message

MANY = 3_000
SENTENCE = "The parcel 4711 left the depot for Ghent, and Anna Vermeer wrote a report on the damage. "
MESSAGES = tuple(Message.user(SENTENCE * 10) for _ in range(MANY))
SLICES = MANY * len(MESSAGES[0].text) // PIECE_CHARACTERS
"""What is counted at once in a thread: the loop turns after each."""

SUMMARY = " ".join(f"Parcel 4711 left the depot for Ghent with item {number}." for number in range(50))


class Turns:
    """How often the event loop has turned."""

    count = 0


@asynccontextmanager
async def turning() -> AsyncIterator[Turns]:
    """Counts the turns of the loop: none while somebody computes on it."""
    turns = Turns()

    async def turn() -> None:
        while True:
            turns.count += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(turn())
    try:
        yield turns
    finally:
        task.cancel()


class Notes:
    """A summariser, and a model, that notes how often the loop had turned when it was asked."""

    name = "of-a-test"
    max_input_tokens: int | None = 10_000_000

    def __init__(self, turns: Turns) -> None:
        self.turns = turns
        self.asked_at = list[int]()

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        assert len(request.messages) == MANY
        self.asked_at.append(self.turns.count)
        return SUMMARY

    async def ask(self, question: Question) -> Answer:
        """See Model."""
        assert question.text.count("4711") >= MANY
        self.asked_at.append(self.turns.count)
        return Answer(SUMMARY, "complete")

    async def close(self) -> None:
        """See Model."""


@pytest.fixture
async def counter() -> TiktokenCounter:
    """A counter that needs no load any more."""
    counter = TiktokenCounter(load_wait_seconds=60)
    assert await counter.load()
    return counter


async def test_messages_are_parted_without_holding_the_loop_up(counter: TiktokenCounter) -> None:
    async with turning() as turns:
        notes = Notes(turns)
        assert await summarize_in_parts(notes, SummaryRequest(MESSAGES, 1_000, counter)) == SUMMARY
    assert notes.asked_at[0] >= SLICES


async def test_a_models_answer_is_compared_with_them_without_holding_the_loop_up(counter: TiktokenCounter) -> None:
    async with turning() as turns:
        notes = Notes(turns)
        summarizer = LlmSummarizer(notes, resource="desk", max_input_tokens=10_000_000)
        assert await summarizer.summarize(SummaryRequest(MESSAGES, 1_000, counter)) == SUMMARY
        done_at = turns.count
    (asked_at,) = notes.asked_at
    assert asked_at > 0
    assert done_at - asked_at >= SLICES


async def test_they_are_read_without_holding_the_loop_up(counter: TiktokenCounter) -> None:
    payload = codec.encode_summary(MESSAGES[0], Count(200), created_ms=ManualClock().now_ms()).payload
    entries = [StoredEntry(f"incarnation-{number}-tag", payload, "short_term", 200) for number in range(MANY)]
    async with turning() as turns:
        notes = Notes(turns)
        notes.max_input_tokens = None
        drafting = Drafting(lambda _: nullcontext(Chosen(notes, "own")), lambda _: counter, ManualClock())
        await drafting.summary_of(MemoryId("project", "desk", "key"), entries, 1_100, last_attempt=True)
    assert notes.asked_at[0] > 0
