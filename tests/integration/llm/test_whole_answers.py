"""A service that cannot stream is asked for its answer whole, where `stream: false` says so, and judged alike."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from decimal import Decimal

import pytest

from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.errors import (
    MemoryFault,
    MemoryModelRefused,
    MemoryModelUnavailable,
    MemorySummaryRejected,
)
from durable_memory.memory.flushing.llm.model import Answer, Question
from durable_memory.memory.flushing.llm.pydantic_ai_model import PydanticAiModel
from tests.integration.llm.asking import KEY, make, request
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Fails, Says

QUESTION = Question("Summarise.", "A record.", 600)


async def ask(service: Endpoint, reply: Says, model: str) -> Answer:
    service.default = reply
    endpoint = service.url if model.startswith("openai:") else service.url.removesuffix("/v1")
    asked = PydanticAiModel(SummarizerChoice(type="llm", model=model, endpoint=endpoint, stream=False), KEY)
    try:
        return await asked.ask(QUESTION)
    finally:
        await asked.close()


@pytest.mark.parametrize(
    ("model", "whole"), [("openai:gpt-4o-mini", "stop"), ("anthropic:claude-haiku-4-5", "end_turn")]
)
async def test_a_whole_answer_has_its_text_its_tokens_and_its_price(service: Endpoint, model: str, whole: str) -> None:
    answer = await ask(service, Says(finish=whole), model)

    assert (answer.text, answer.ending, answer.input_tokens, answer.output_tokens) == (SUMMARY, "complete", 120, 30)
    assert (answer.cost_usd or 0) > Decimal(0)
    assert [bool(asked.get("stream")) for asked in service.requests] == [False]


@pytest.mark.parametrize(
    ("model", "finish", "ending"),
    [
        ("openai:gpt-4o-mini", "length", "cut"),
        ("openai:gpt-4o-mini", "content_filter", "refused"),
        ("openai:gpt-4o-mini", "content_filter: SAFETY", "refused"),
        ("openai:gpt-4o-mini", "eos_token", "complete"),
        ("anthropic:claude-haiku-4-5", "max_tokens", "cut"),
        ("anthropic:claude-haiku-4-5", "refusal", "refused"),
    ],
)
async def test_how_a_whole_answer_ended_is_known(service: Endpoint, model: str, finish: str, ending: str) -> None:
    assert (await ask(service, Says(finish=finish), model)).ending == ending


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (Fails(429, {"retry-after": "7"}), MemoryModelUnavailable, "status 429"),
        (Fails(401), MemoryModelRefused, "refused the key"),
        (Says(finish="whatever"), MemoryModelUnavailable, "broke off"),
        (Says(""), MemorySummaryRejected, "empty text"),
        (Says(finish="length"), MemorySummaryRejected, "cut before its end"),
        (Says("", refusal="I'm sorry, I can't help with that."), MemorySummaryRejected, "declined"),
    ],
    ids=["429", "401", "strange-finish", "empty", "cut", "refusal"],
)
async def test_a_whole_answer_is_judged_like_a_streamed_one(
    service: Endpoint, reply: Says | Fails, kind: type[MemoryFault], words: str
) -> None:
    service.default = reply
    summarizer = make(service, stream=False)
    with pytest.raises(kind, match=words) as failed:
        await summarizer.summarize(request())
    await summarizer.close()
    assert KEY not in str(failed.value)
    assert "stream: false" not in str(failed.value)


async def test_a_whole_answer_that_is_too_slow_is_given_up_at_its_timeout(service: Endpoint) -> None:
    service.default = Says(gate=asyncio.Event())
    summarizer = make(service, stream=False, timeout=timedelta(seconds=1))
    with pytest.raises(MemoryModelUnavailable, match=r"within 1 s \(summarizer.timeout\)"):
        await summarizer.summarize(request())
    await summarizer.close()


async def test_a_whole_answer_is_the_summary_without_the_thinking_before_it(service: Endpoint) -> None:
    service.default = Says(f"<think>They speak of a parcel.</think>{SUMMARY}")
    summarizer = make(service, stream=False)
    assert await summarizer.summarize(request()) == SUMMARY
    await summarizer.close()
