"""The document `resource: memory`: its fields, checked against each other, and what follows from them."""

from __future__ import annotations

from functools import cached_property
from typing import Self

from pydantic import model_validator

from durable_memory.memory.declarations.budget import compute_limits, problems_between_fields, summary_tokens_of
from durable_memory.memory.declarations.declaration import Problem, cross_field_error
from durable_memory.memory.declarations.memory_fields import MemoryFields
from durable_memory.memory.declarations.persistence import persistence_problems
from durable_memory.memory.declarations.privacy import build_privacy, privacy_problems
from durable_memory.memory.declarations.scopes import SCOPES, OnWorkflowEnd
from durable_memory.memory.declarations.summarizer import summarizer_problems
from durable_memory.memory.eviction.keywords import Keywords
from durable_memory.memory.keys.templates import KeyTemplate
from durable_memory.memory.limits import Limits
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.tokens.counting import Counting


class MemoryResource(MemoryFields):
    """A memory resource: one declaration, any number of memories, one for each key.

    The *token budget* is the smaller of `max_tokens` and the share of the model's window that `max_context_ratio` is.
    """

    @model_validator(mode="after")
    def _check_between_fields(self) -> Self:
        problems = [
            *problems_between_fields(self),
            *persistence_problems(self.persistence, self.ttl),
            *self._summarizer_problems(),
            *privacy_problems(self.privacy_policy),
        ]
        rule = SCOPES[self.scope]
        if self.on_workflow_end is not None and self.on_workflow_end not in rule.actions:
            allowed = " or ".join(rule.actions)
            problems.append(("on_workflow_end", f"must be {allowed} where scope is {self.scope}"))
        if problems:
            raise cross_field_error(problems)
        return self

    def _summarizer_problems(self) -> list[Problem]:
        flushing = self.flushing
        if flushing.strategy == "drop" and "summarizer" in flushing.model_fields_set:
            return [("flushing.summarizer", f"has no effect where flushing.type is {flushing.type}; remove it")]
        return summarizer_problems(flushing.summarizer, summary_tokens_of(self))

    def limits(self) -> Limits:
        """Returns the numbers that govern each memory of this resource."""
        return self._limits

    @cached_property
    def _limits(self) -> Limits:
        return compute_limits(self)

    def limits_due_at(self, threshold: float) -> Limits:
        """Returns the numbers with another summarize_threshold: what one call of flush may ask for."""
        flushing = self.flushing.model_copy(update={"summarize_threshold": threshold})
        return compute_limits(self.model_copy(update={"flushing": flushing}))

    @property
    def counting(self) -> Counting | None:
        """How tokens are counted; None where the declaration leaves that to the process."""
        return None if self.token_provider is None else self.token_provider.counting

    @property
    def workflow_end_action(self) -> OnWorkflowEnd:
        """What happens at the last owner's end: as declared, else the scope's default."""
        return self.on_workflow_end or SCOPES[self.scope].actions[0]

    @property
    def has_owners(self) -> bool:
        """Whether the workflows that write to a memory own it: False where it outlives them all and nothing is done."""
        return self.workflow_end_action != "keep" or "clear" in SCOPES[self.scope].actions

    @cached_property
    def keywords(self) -> Keywords | None:
        """What raises the priority of messages, ready to be looked for."""
        words = self.eviction_policy.priority_keywords
        return Keywords(words) if words else None

    @cached_property
    def privacy(self) -> Privacy | None:
        """What is taken out before messages are stored, ready to be applied; None where nothing is."""
        return build_privacy(self.id, self.privacy_policy)

    @cached_property
    def key_template(self) -> KeyTemplate | None:
        """The default key template, ready to be rendered."""
        return None if self.default_key_template is None else KeyTemplate.parse(self.default_key_template)
