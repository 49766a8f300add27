"""Which summariser writes for a resource: the program's own, else the one that its YAML declares."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
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

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class _OpenModel:
    """A summariser with connections of its own. flushes: how many of them hold it. declared: a later one may ask it."""

    summarizer: LlmSummarizer
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)
    flushes: int = 0
    declared: bool = True


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
        self._models: dict[_Purpose, _OpenModel] = {}
        self._closing: set[asyncio.Task[None]] = set()

    @contextmanager
    def lent(self, resource_id: str, registry: Registry) -> Iterator[Chosen]:
        """Gives who writes for a resource of this registry. It stays open as long as the context.

        Raises InvalidDeclarations if its model cannot be used here: the extra `llm` or the key is missing.
        """
        resource = registry.memory(resource_id)
        choice = resource.flushing.summarizer
        if self._own is not None or not choice.uses_model:
            yield self._own or _RULE_BASED
            return
        purpose = _purpose_of(resource)
        model = self._models.get(purpose)
        if model is None:
            check_models(registry, resource_id)
            model = self._models[purpose] = _OpenModel(self._make(resource))
        model.flushes += 1
        try:
            yield Chosen(model.summarizer, "llm", None if choice.fallback == "none" else _RULE_BASED)
        finally:
            model.flushes -= 1
            self._close_unused(purpose)

    def use(self, registry: Registry) -> None:
        """Closes what another registry has left open, as soon as no flush holds it. May be called in any thread."""
        declared = {_purpose_of(resource) for resource in registry.memories()}
        for purpose, model in list(self._models.items()):
            model.declared = purpose in declared
            if not model.declared and not model.loop.is_closed():
                model.loop.call_soon_threadsafe(self._close_unused, purpose)

    def is_slow(self, resource: MemoryResource) -> bool:
        """Tells whether a summary of this resource may take long, as a model's does, so that it wants its own slots."""
        return self._own is not None or resource.flushing.summarizer.uses_model

    async def close(self) -> None:
        """Closes the connections of models, all of them also if one fails to."""
        async with AsyncExitStack() as stack:
            for model in self._models.values():
                stack.push_async_callback(model.summarizer.close)
            self._models.clear()
            if self._closing:
                await asyncio.wait(self._closing)

    def _close_unused(self, purpose: _Purpose) -> None:
        model = self._models.get(purpose)
        if model is None or model.declared or model.flushes:
            return
        del self._models[purpose]
        closing = asyncio.create_task(model.summarizer.close())
        self._closing.add(closing)
        closing.add_done_callback(self._closed)

    def _closed(self, closing: asyncio.Task[None]) -> None:
        self._closing.discard(closing)
        if not closing.cancelled() and (error := closing.exception()) is not None:
            _log.warning("connections of a model could not be closed (%s)", type(error).__name__)

    def _make(self, resource: MemoryResource) -> LlmSummarizer:
        # Its patterns take time to compile, and commands and callers need none.
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


def _purpose_of(resource: MemoryResource) -> _Purpose:
    return resource.persistence.type, resource.id, resource.flushing.summarizer
