"""Which summariser writes for a resource: the program's own, else the one that its YAML declares."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from durable_memory.memory.declarations.model_access import check_models
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.flushing.llm.budget import DailyBudget
from durable_memory.memory.flushing.llm.model import Model
from durable_memory.memory.flushing.llm.opening import OpenedLater
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import Summarizer
from durable_memory.memory.stores.spending_port import Spending

if TYPE_CHECKING:
    from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer

_Purpose: TypeAlias = tuple[str, str, SummarizerChoice]
"""What a summariser was made for: persistence type and id of the resource, and what was declared."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """Who writes. name: in metrics and logs. fallback: who writes when all attempts failed."""

    summarizer: Summarizer
    name: str
    fallback: Chosen | None = None


_RULE_BASED: Final = Chosen(RuleBasedSummarizer(), "rule_based")


class Summarizers:
    """The summarisers of one client. Belongs to its event loop.

    The program's own one (`summarizer=`, else DURABLE_MEMORY_SUMMARIZER) writes for every resource, whatever is
    declared, and has no fallback. Without one, `flushing.summarizer` decides.
    """

    def __init__(
        self,
        own: Summarizer | None,
        spending: Mapping[str, Spending],
        *,
        project: str,
    ) -> None:
        """spending: by persistence type."""
        self._own = None if own is None else Chosen(own, "own")
        self._spending = spending
        self._project = project
        self._models: dict[_Purpose, LlmSummarizer] = {}

    def of(self, resource_id: str, registry: Registry) -> Chosen:
        """Returns who writes for a resource of this registry.

        Raises InvalidDeclarations if its model cannot be used here: the extra `llm` or the key is missing.
        """
        resource = registry.memory(resource_id)
        choice = resource.flushing.summarizer
        if self._own is not None:
            return self._own
        if not choice.uses_model:
            return _RULE_BASED
        purpose = (resource.persistence.type, resource.id, choice)
        if purpose not in self._models:
            check_models(registry, resource_id)
            self._models[purpose] = self._make(resource)
        fallback = None if choice.fallback == "none" else _RULE_BASED
        return Chosen(self._models[purpose], "llm", fallback)

    def is_slow(self, resource: MemoryResource) -> bool:
        """Tells whether a summary of this resource may take long, as a model's does, so that it wants its own slots."""
        return self._own is not None or resource.flushing.summarizer.uses_model

    async def close(self) -> None:
        """Closes the connections of models, all of them also if one fails to."""
        async with AsyncExitStack() as stack:
            for summarizer in self._models.values():
                stack.push_async_callback(summarizer.close)
            self._models.clear()

    def _make(self, resource: MemoryResource) -> LlmSummarizer:
        # Its patterns of refusals in many languages take a tenth of a second, and commands and callers need none.
        from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer  # noqa: PLC0415 - loaded where it is used

        choice = resource.flushing.summarizer
        key = os.environ.get(choice.key_variable or "") or None

        def open_model() -> Model:
            # The library is imported only where a model is declared.
            from durable_memory.memory.flushing.llm.pydantic_ai_model import PydanticAiModel  # noqa: PLC0415 - loaded where it is used

            return PydanticAiModel(choice, key)

        budget = choice.daily_token_budget
        return LlmSummarizer(
            OpenedLater(choice.model or "", open_model),
            resource=resource.id,
            max_input_tokens=choice.max_input_tokens,
            prompt=choice.prompt,
            budget=None
            if budget is None
            else DailyBudget(self._spending[resource.persistence.type], self._project, resource.id, budget),
        )
