"""A daily budget that `validate` accepts pays for each request that the summariser makes, up to the largest."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory import Registry
from durable_memory.memory.declarations.model_requests import answer_tokens, full_request_tokens
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.flushing.llm.prompt import DEFAULT_TASK, shortening_prompt, summary_prompt
from durable_memory.memory.flushing.map_reduce import summarize_in_parts
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

COUNTER = TiktokenCounter()


def declared(budget: int, **summarizer: Any) -> dict[str, Any]:
    choice = {"type": "llm", "model": "openai:gpt-4o-mini", "daily_token_budget": budget, **summarizer}
    flushing = {"summary_tokens": 400, "summarizer": choice}
    return {"resource": "memory", "id": "desk", "max_tokens": 4_000, "scope": "user", "flushing": flushing}


@pytest.mark.parametrize("prompt", [None, "Keep the prices. " * 400], ids=["ours", "own"])
def test_a_budget_that_does_not_pay_for_one_full_request_is_a_fault_with_both_numbers(prompt: str | None) -> None:
    most = full_request_tokens(2_000, 400, prompt)
    choice = {"max_input_tokens": 2_000} if prompt is None else {"max_input_tokens": 2_000, "prompt": prompt}
    Registry.from_resources([declared(most, **choice)])
    with pytest.raises(
        InvalidDeclarations, match=rf"{most - 1} tokens do not pay for one full.* may cost {most} "
    ) as no:
        Registry.from_resources([declared(most - 1, **choice)])
    assert len(no.value.faults) == 1


class Asked:
    """A summariser that keeps what it is asked."""

    max_input_tokens = 4_000

    def __init__(self) -> None:
        self.requests: list[SummaryRequest] = []

    async def summarize(self, request: SummaryRequest) -> str:
        self.requests.append(request)
        return "Parcels are late."


@pytest.mark.parametrize(
    "text",
    ["ok", "the parcel is late", "the parcel left late " * 50, '"' * 300, "a\n\n\tb\n" * 60],
    ids=["1", "4", "200", "quotes", "lines"],
)
@pytest.mark.parametrize("prompt", [None, DEFAULT_TASK * 10], ids=["ours", "own"])
async def test_no_full_request_costs_more_than_is_said_at_most(text: str, prompt: str | None) -> None:
    asked = Asked()
    await summarize_in_parts(asked, SummaryRequest((Message.user(text),) * 900, 400, COUNTER))
    assert len(asked.requests) > 1
    for request in asked.requests:
        cost = answer_tokens(400)
        for told in summary_prompt(request.messages, 400, prompt):
            cost += (await COUNTER.count_text(told)).tokens
        assert cost <= full_request_tokens(4_000, 400, prompt)


async def test_to_shorten_an_answer_costs_no_more_than_a_full_request() -> None:
    cost = answer_tokens(4_000)
    for told in shortening_prompt("parcel " * (answer_tokens(4_000) - 1), 4_000):
        cost += (await COUNTER.count_text(told)).tokens
    assert cost <= full_request_tokens(256, 4_000, None)
