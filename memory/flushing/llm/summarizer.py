"""Summaries by a language model: what it answers is looked at before it may replace a single message."""

from __future__ import annotations

import asyncio

from durable_memory.memory import telemetry
from durable_memory.memory.declarations.model_requests import answer_tokens
from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.llm.budget import DailyBudget
from durable_memory.memory.flushing.llm.model import Model, Question
from durable_memory.memory.flushing.llm.prompt import shortening_prompt, summary_prompt
from durable_memory.memory.flushing.llm.usable import check_substance, fewest_tokens, summary_in, tokens_of
from durable_memory.memory.flushing.summarizer import SummaryRequest


class LlmSummarizer:
    """A Summarizer that asks a language model, once for a summary and once more to shorten one that is too long.

    resource: whose summaries these are, in metrics. prompt: what a summary is to say, in place of ours.
    """

    def __init__(
        self,
        model: Model,
        *,
        resource: str,
        max_input_tokens: int,
        prompt: str | None = None,
        budget: DailyBudget | None = None,
    ) -> None:
        self._model = model
        self._resource = resource
        self._max_input_tokens = max_input_tokens
        self._prompt = prompt
        self._budget = budget

    @property
    def max_input_tokens(self) -> int | None:
        """See Summarizer."""
        return self._max_input_tokens

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer.

        Raises MemorySummaryRejected for an answer that is empty, refused, cut, says next to nothing or stays too long;
        MemoryBudgetSpent; and what Model.ask raises.
        """
        if not request.messages:
            raise MemorySummaryRejected("there is nothing to summarise: a summary needs at least one message")
        room = answer_tokens(request.max_tokens)
        prompt = await asyncio.to_thread(summary_prompt, request.messages, request.max_tokens, self._prompt)
        text = await self._ask(Question(*prompt, room), request)
        fewest = await fewest_tokens(request)
        await check_substance(text, request, fewest)
        if await tokens_of(text, request) <= request.max_tokens:
            return text
        text = await self._ask(Question(*shortening_prompt(text, request.max_tokens), room), request)
        await check_substance(text, request, fewest)
        tokens = await tokens_of(text, request)
        if tokens > request.max_tokens:
            raise MemorySummaryRejected(
                f"the model's summary has {tokens} tokens after it was shortened, at most {request.max_tokens} are "
                "allowed; raise summary_tokens, or take a model that holds to a length"
            )
        return text

    async def close(self) -> None:
        """Closes the model's connections."""
        await self._model.close()

    async def _ask(self, question: Question, request: SummaryRequest) -> str:
        if self._budget is None:
            answer = await self._model.ask(question)
        else:
            told = [await tokens_of(part, request) for part in (question.instructions, question.text)]
            answer = await self._budget.ask(self._model, question, sum(told))
        telemetry.count_model_use(
            self._resource, self._model.name, answer.input_tokens, answer.output_tokens, answer.cost_usd
        )
        return await asyncio.to_thread(summary_in, answer, question)  # which compares it with all that was told
