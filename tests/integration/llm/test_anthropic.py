"""Anthropic's API is asked and understood like OpenAI's."""

from __future__ import annotations

import pytest

from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.errors import MemoryModelRefused, MemoryModelUnavailable
from durable_memory.memory.flushing.llm.model import Answer, Question
from durable_memory.memory.flushing.llm.pydantic_ai_model import PydanticAiModel
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Fails, Says

QUESTION = Question("Summarise.", "A record.", 600)


async def ask(service: Endpoint, reply: Says | Fails) -> Answer:
    service.default = reply
    endpoint = service.url.removesuffix("/v1")  # its library adds that
    model = PydanticAiModel(
        SummarizerChoice(type="llm", model="anthropic:claude-haiku-4-5", endpoint=endpoint), "sk-ant-api03-of-a-test"
    )
    try:
        return await model.ask(QUESTION)
    finally:
        await model.close()


async def test_an_answer_comes_with_its_tokens_and_its_price(service: Endpoint) -> None:
    answer = await ask(service, Says(finish="end_turn"))
    assert (answer.text, answer.ending) == (SUMMARY, "complete")
    assert (answer.input_tokens, answer.output_tokens) == (120, 30)
    assert (answer.cost_usd or 0) > 0
    assert [key.removeprefix("Bearer ") for key in service.keys] == ["sk-ant-api03-of-a-test"]
    assert service.requests[0]["max_tokens"] == 600


@pytest.mark.parametrize(("finish", "ending"), [("max_tokens", "cut"), ("refusal", "refused")])
async def test_an_answer_that_did_not_end_by_itself_is_known_as_such(
    service: Endpoint, finish: str, ending: str
) -> None:
    assert (await ask(service, Says(finish=finish))).ending == ending


async def test_a_stream_without_its_end_is_no_answer(service: Endpoint) -> None:
    with pytest.raises(MemoryModelUnavailable, match="broke off"):
        await ask(service, Says(cut=True))


async def test_an_error_in_the_middle_of_a_stream_is_no_status_and_may_have_been_charged(service: Endpoint) -> None:
    with pytest.raises(MemoryModelUnavailable, match="broke off") as broken:
        await ask(service, Says(breaks=True))
    assert broken.value.may_be_charged


async def test_of_an_answer_that_is_not_read_to_its_end_nobody_knows_what_it_cost(service: Endpoint) -> None:
    answer = await ask(service, Says("word " * 10_000))
    assert (answer.ending, answer.input_tokens, answer.output_tokens, answer.cost_usd) == ("cut", 120, None, None)


async def test_its_failures_are_told_apart(service: Endpoint) -> None:
    with pytest.raises(MemoryModelRefused, match="refused the key"):
        await ask(service, Fails(401))
    with pytest.raises(MemoryModelUnavailable, match="status 529") as overloaded:
        await ask(service, Fails(529, {"retry-after": "3"}))
    assert overloaded.value.retry_after_ms == 3_000
    assert len(service.requests) == 2
