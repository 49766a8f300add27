"""The document `resource: memory`: budget, policy, flush, persistence and lifetime of a memory resource.

Every field has an effect.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Annotated, Final, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, PrivateAttr, WithJsonSchema, model_validator

from durable_memory.memory.declarations.allocation import TokenAllocation
from durable_memory.memory.declarations.budget import compute_limits, problems_between_fields, token_budget
from durable_memory.memory.declarations.declaration import Count, Declaration, Id, cross_field_error
from durable_memory.memory.declarations.durations import Duration
from durable_memory.memory.declarations.eviction import EvictionPolicy, policy_of
from durable_memory.memory.declarations.persistence import Persistence, persistence_problems
from durable_memory.memory.declarations.privacy import PrivacyPolicy, build_privacy, privacy_problems
from durable_memory.memory.declarations.summarizer import SummarizerChoice, summarizer_problems
from durable_memory.memory.declarations.token_provider import TokenProvider
from durable_memory.memory.eviction.keywords import Keywords
from durable_memory.memory.keys.templates import MAX_TEMPLATE_LENGTH, KeyTemplate
from durable_memory.memory.limits import Limits, PolicyName
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.tokens.counting import Counting

MemoryType: TypeAlias = Literal["token_based", "message_count_based", "buffer"]
FlushingType: TypeAlias = Literal["hybrid_summary", "drop", "simple_fifo", "lru", "lfu", "priority", "token_aware_lru"]
Scope: TypeAlias = Literal["temp", "session", "user", "app", "project"]
OnWorkflowEnd: TypeAlias = Literal["keep", "flush", "clear"]


@dataclass(frozen=True, slots=True)
class ScopeRule:
    """What a scope decides. actions: what may happen at a workflow's end, the default first."""

    ttl: timedelta | None
    actions: tuple[OnWorkflowEnd, ...]


_LASTING: Final = ScopeRule(None, ("keep", "flush"))
SCOPES: Final[dict[Scope, ScopeRule]] = {
    "temp": ScopeRule(timedelta(hours=1), ("clear",)),
    "session": ScopeRule(timedelta(hours=24), ("keep", "flush", "clear")),
    "user": _LASTING,
    "app": _LASTING,
    "project": _LASTING,
}

_VERSION_PATTERN: Final = r"^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$"
_VERSION: Final = re.compile(_VERSION_PATTERN.strip("^$"), re.ASCII)


def _checked_version(value: str) -> str:
    if len(value) > 100 or _VERSION.fullmatch(value) is None:  # noqa: PLR2004 - a version is short
        raise ValueError("must be a version of three numbers, such as 1.2.0")
    return value


def _checked_lease(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= timedelta(hours=1):
        raise ValueError("must be from 1s to 1h")
    return value


def _checked_template(value: str) -> str:
    KeyTemplate.parse(value)
    return value


Version = Annotated[
    str, AfterValidator(_checked_version), WithJsonSchema({"type": "string", "pattern": _VERSION_PATTERN})
]
Template = Annotated[
    str,
    AfterValidator(_checked_template),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_TEMPLATE_LENGTH}),
]
"""A field that holds a key template."""


class Flushing(Declaration):
    """What becomes of groups that leave the live view, and when the background flush works."""

    type: FlushingType = "hybrid_summary"
    """`hybrid_summary`: they wait in the overflow and become a summary. `drop`: they are removed and counted.

    `simple_fifo`, `lru`, `lfu`, `priority` and `token_aware_lru` are short for `drop` with that policy.
    """

    summarize_threshold: Annotated[float, Field(gt=0, le=1)] = 0.8
    """Fill at which the background flush starts, as a share of what messages may fill."""

    target_ratio: Annotated[float, Field(ge=0, lt=1)] = 0.5
    """Fill that a flush goes down to; less than summarize_threshold."""

    summary_tokens: Count | None = None
    """Room kept free for summaries, in tokens; the size of one where long_term has a share.

    Default: a tenth of max_tokens and at most half of long_term's share, or 350 without a token budget.
    """

    summarize_oldest_percent: Annotated[float, Field(ge=0, le=1)] = 0
    """Share of the conversation's messages, 0 to 1, that a flush takes at least, also where fewer reach the target."""

    keep_first: Annotated[int, Field(ge=0, le=100_000)] = 0
    """Groups at the start of the conversation (of short_term) that a flush leaves alone."""

    keep_last: Annotated[int, Field(ge=0, le=100_000)] = 2
    """Groups at the end of the conversation (of short_term) that a flush leaves alone."""

    summarizer: SummarizerChoice = SummarizerChoice()
    """Who writes the summaries."""

    @property
    def strategy(self) -> Literal["hybrid_summary", "drop"]:
        """What the type means, without the policy that its short forms name."""
        return "hybrid_summary" if self.type == "hybrid_summary" else "drop"


class Overflow(Declaration):
    """The capacity for what was evicted and waits for its summary. When it is full, appends are refused for now."""

    max_tokens: Count | None = None
    """In tokens, at least twice the memory's max_tokens. Default: four times."""

    max_messages: Count | None = None
    """In messages, for a memory without max_tokens; at least twice its max_messages. Default: four times."""


class Locking(Declaration):
    """The lease of a flush."""

    flush_ttl: Annotated[Duration, AfterValidator(_checked_lease)] = timedelta(seconds=30)
    """Lifetime of the lease, renewed at a third of it; 1s to 1h."""


class MemoryResource(Declaration):
    """A memory resource: one declaration, any number of memories (one for each key)."""

    resource: Literal["memory"] = "memory"
    """The kind of this document."""

    id: Id
    """Names the resource; unique in the project."""

    description: Annotated[str, Field(max_length=1000)] = ""
    """What the memory is for, shown by `durable-memory list`."""

    version: Version | None = None
    """The version of this declaration, shown by `durable-memory list`."""

    type: MemoryType = "token_based"
    """The fill that the flush watches: `token_based` tokens, `message_count_based` messages, `buffer` the larger one.

    Every limit that is given is hard, whatever the type.
    """

    max_tokens: Count | None = None
    """Tokens of the live view at most, summaries included."""

    max_messages: Count | None = None
    """Messages of the live view at most, summaries included."""

    max_context_ratio: Annotated[float, Field(gt=0, le=1)] | None = None
    """Share of the model's context window that the live view may fill at most; needs token_provider.

    Beside max_tokens the smaller limit holds.
    """

    token_provider: TokenProvider | None = None
    """The model that reads this memory, whose tokens are counted. Default: as the process counts, see the settings."""

    token_allocation: TokenAllocation | None = None
    """Divides the token budget between the sections. Left out: all of them share one budget."""

    eviction_policy: EvictionPolicy = EvictionPolicy()
    flushing: Flushing = Flushing()

    oversize: Literal["reject", "truncate"] = "reject"
    """What happens to a message or group that can never fit: the append is refused with both numbers, or its text is
    cut to what fits and marked; tool calls are never cut."""

    open_group_ttl: Duration = timedelta(hours=1)
    """How long tool calls may wait for their results, untouched, before the group counts as abandoned."""

    overflow: Overflow = Overflow()
    persistence: Persistence = Persistence()
    privacy_policy: PrivacyPolicy = PrivacyPolicy()
    locking: Locking = Locking()

    scope: Scope = "session"
    """How long the memory lives; decides the defaults of persistence.ttl and on_workflow_end."""

    agents_only: bool = False
    """`true`: only declared agents use it; calls that name no agent are refused."""

    default_key_template: Template | None = None
    """Makes the key for callers that send `input` and no key, unless their agent has a memory_key."""

    on_workflow_end: OnWorkflowEnd | None = None
    """What happens when the last workflow that used the memory has ended. Default, and what is allowed: by scope."""

    _limits: Limits = PrivateAttr()
    _counting: Counting | None = PrivateAttr()

    @model_validator(mode="after")
    def _check_between_fields(self) -> Self:
        problems = [
            *problems_between_fields(self),
            *persistence_problems(self.persistence, self.ttl),
            *summarizer_problems(self),
            *privacy_problems(self.privacy_policy),
        ]
        rule = SCOPES[self.scope]
        if self.on_workflow_end is not None and self.on_workflow_end not in rule.actions:
            allowed = " or ".join(rule.actions)
            problems.append(("on_workflow_end", f"must be {allowed} where scope is {self.scope}"))
        if problems:
            raise cross_field_error(problems)
        self._limits = compute_limits(self)
        self._counting = None if self.token_provider is None else self.token_provider.counting
        return self

    def limits(self) -> Limits:
        """Returns the numbers that govern each memory of this resource."""
        return self._limits

    def limits_due_at(self, threshold: float) -> Limits:
        """Returns the numbers with another summarize_threshold: what one call of flush may ask for."""
        flushing = self.flushing.model_copy(update={"summarize_threshold": threshold})
        return compute_limits(self.model_copy(update={"flushing": flushing}))

    @property
    def counting(self) -> Counting | None:
        """How tokens are counted; None where the declaration leaves that to the process."""
        return self._counting

    @property
    def token_budget(self) -> int | None:
        """Tokens of the live view at most: the smaller of max_tokens and the share of the model's window."""
        return token_budget(self)

    @property
    def ttl(self) -> timedelta | None:
        """The lifetime since the last write: as declared, else the scope's; None is for ever."""
        if "ttl" in self.persistence.model_fields_set:
            return self.persistence.ttl
        return SCOPES[self.scope].ttl

    @property
    def workflow_end_action(self) -> OnWorkflowEnd:
        """What happens at the last owner's end: as declared, else the scope's default."""
        return self.on_workflow_end or SCOPES[self.scope].actions[0]

    @property
    def policy(self) -> PolicyName:
        """The policy, wherever it is named: in eviction_policy.type, or by a short form of flushing.type."""
        return policy_of(self)

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
