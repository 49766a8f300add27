"""The tokens that a resource may spend on a language model in a day, over all processes."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

from durable_memory.memory.errors import MemoryBudgetSpent, MemoryFault, MemoryInvalid, MemoryModelUnavailable
from durable_memory.memory.flushing.llm.model import Answer, Model, Question
from durable_memory.memory.stores.spending_port import Spending


@dataclass(frozen=True, slots=True)
class DailyBudget:
    """The budget of one resource. tokens: of one day (UTC), requests and answers together."""

    spending: Spending
    project: str
    resource: str
    tokens: int

    async def ask(self, model: Model, question: Question, input_tokens: int) -> Answer:
        """Asks within the budget. input_tokens: what the question costs, roughly.

        What question and answer may cost is reserved before, so that requests at the same time do not spend the same
        tokens, and settled afterwards by what the provider counted. What it does not count stays spent; so does all of
        it after an attempt that may have been charged for: one that was cancelled, took too long or broke off. Raises
        MemoryBudgetSpent without asking, MemoryInvalid if no day ever pays for the question, and what Model.ask raises.
        """
        reserved = input_tokens + question.max_tokens
        if reserved > self.tokens:
            raise MemoryInvalid(
                f"{self.resource}: one request may cost {reserved:,} tokens with its answer, which is more than its "
                f"whole daily_token_budget of {self.tokens:,}; raise it"
            )
        request = secrets.token_hex(8)
        day = await self.spending.reserve(self.project, self.resource, request, reserved, self.tokens)
        if day is None:
            raise MemoryBudgetSpent(
                f"{self.resource}: a request may cost {reserved:,} tokens with its answer, which is more than is left "
                f"of today's daily_token_budget of {self.tokens:,}; the day ends at midnight UTC"
            )
        cost = reserved
        try:
            answer = await model.ask(question)
            cost = (answer.input_tokens or input_tokens) + (answer.output_tokens or question.max_tokens)
        except Exception as error:
            if not (isinstance(error, MemoryModelUnavailable) and error.may_be_charged):
                cost = 0
            raise
        finally:
            if cost != reserved:
                await self._settle(request, cost, day)
        return answer

    async def _settle(self, request: str, tokens: int, day: int) -> None:
        try:
            await self.spending.settle(self.project, self.resource, request, tokens, day)
        except MemoryFault:
            return  # what was reserved stays spent, which errs on the side of the budget
