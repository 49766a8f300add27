"""The tokens that a resource may spend on a language model in a day, over all processes."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from durable_memory.memory.errors import MemoryBudgetSpent, MemoryFault
from durable_memory.memory.flushing.llm.model import Answer, Model, Question
from durable_memory.memory.stores.spending_port import Spending


@dataclass(frozen=True, slots=True)
class DailyBudget:
    """The budget of one resource. tokens: of one day (UTC), requests and answers together."""

    spending: Spending
    project: str
    resource: str
    tokens: int

    async def ask(self, model: Model, question: Question, estimate: int) -> Answer:
        """Asks within the budget; estimate: what the question and its answer cost at most, roughly.

        That much is set aside before, so that requests at the same time do not spend the same tokens, and put right
        after. An attempt that was cancelled may have been charged for, so it keeps what was set aside. Raises
        MemoryBudgetSpent without asking, and what Model.ask raises.
        """
        day = await self.spending.set_aside(self.project, self.resource, estimate, self.tokens)
        if day is None:
            raise MemoryBudgetSpent(
                f"{self.resource}: a summary may cost {estimate:,} tokens, which is more than is left of its "
                f"daily_token_budget of {self.tokens:,}; the day ends at midnight UTC"
            )
        cost = 0
        try:
            answer = await model.ask(question)
            used = (answer.input_tokens or 0) + (answer.output_tokens or 0)
            cost = used or estimate
        except asyncio.CancelledError:
            cost = estimate
            raise
        finally:
            if cost != estimate:
                await self._put_right(day, cost - estimate)
        return answer

    async def _put_right(self, day: int, difference: int) -> None:
        try:
            await self.spending.put_right(self.project, self.resource, day, difference)
        except MemoryFault:
            return  # what was set aside stays spent, which errs on the side of the budget
