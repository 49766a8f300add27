"""A row about the flush: what the extract of 1,000 messages costs beside reading and counting them once."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from itertools import chain
from typing import Any, Final

import corrections
import summaries
from measure import compare
from table import Row

from durable_memory import MemoryClient, Message, Registry
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter

_MESSAGES: Final = 1_000
_ROOM: Final = 800
_LARGE: Final[dict[str, Any]] = {
    "resource": "memory",
    "id": "large",
    "max_tokens": 100_000_000,
    "persistence": {"ttl": "1d"},
}


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Summarises what people say in the conversations of the questions, said again with other numbers."""
    told = [one.messages for one in summaries.conversations()] + [one.messages for one in corrections.cases()]
    said = [one.text for one in chain.from_iterable(told) if one.role in ("user", "assistant") and one.text]
    messages = [
        Message.user(f"{said[number % len(said)]} {number * 7919}", name=("Ana", "Bo")[number % 2])
        for number in range(_MESSAGES)
    ]
    counter, summarizer = TiktokenCounter(), RuleBasedSummarizer()
    async with await MemoryClient.connect(redis_url, memories=Registry.from_resources([_LARGE])) as client:
        memory = client.memory("large", secrets.token_hex(8))
        for start in range(0, _MESSAGES, 100):
            await memory.append(messages[start : start + 100])

        async def read_and_count(_: int) -> None:
            view = await memory.read(limit=_MESSAGES)
            await counter.count(view.messages)

        async def summarize(_: int) -> None:
            await summarizer.summarize(SummaryRequest(tuple(messages), _ROOM, counter))

        ratio = await compare(summarize, read_and_count, calls=1, rounds=9)
    detail = f"{ratio.subject_us / 1000:.0f} ms against {ratio.floor_us / 1000:.0f} to read and count them"
    yield Row("summary of 1,000 messages", ratio.ratio, 2, detail)
