"""The fields of the document `resource: memory`: budget, policy, flush, persistence and lifetime of a memory resource.

Every field has an effect.
"""

from __future__ import annotations

import math
import re
from datetime import timedelta
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, WithJsonSchema

from durable_memory.memory.declarations.allocation import TokenAllocation
from durable_memory.memory.declarations.declaration import Declaration, Groups, Id, Messages, Tokens
from durable_memory.memory.declarations.durations import Duration, Within
from durable_memory.memory.declarations.eviction import EvictionPolicy, policy_of
from durable_memory.memory.declarations.persistence import Persistence
from durable_memory.memory.declarations.privacy import PrivacyPolicy
from durable_memory.memory.declarations.scopes import SCOPES, OnWorkflowEnd, Scope
from durable_memory.memory.declarations.shares import written
from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.declarations.token_provider import TokenProvider
from durable_memory.memory.keys.templates import MAX_TEMPLATE_LENGTH, KeyTemplate
from durable_memory.memory.limits import PolicyName

MemoryType: TypeAlias = Literal["token_based", "message_count_based", "buffer"]
FlushingType: TypeAlias = Literal["hybrid_summary", "drop", "simple_fifo", "lru", "lfu", "priority", "token_aware_lru"]

_VERSION_PATTERN: Final = r"^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$"
_VERSION: Final = re.compile(_VERSION_PATTERN.strip("^$"), re.ASCII)


def _checked_version(value: str) -> str:
    if len(value) > 100 or _VERSION.fullmatch(value) is None:  # noqa: PLR2004 - a version is short
        raise ValueError("must be a version of three numbers, such as 1.2.0")
    return value


def _checked_template(value: str) -> str:
    KeyTemplate.parse(value)
    return value


Version = Annotated[
    str,
    AfterValidator(_checked_version),
    WithJsonSchema({"type": "string", "title": "version such as 1.2.0", "pattern": _VERSION_PATTERN}),
]
Template = Annotated[
    str,
    AfterValidator(_checked_template),
    WithJsonSchema({"type": "string", "title": "key template", "minLength": 1, "maxLength": MAX_TEMPLATE_LENGTH}),
]
"""A field that holds a key template."""


class Flushing(Declaration):
    """What becomes of groups that leave the live view, and when the background flush works.

    The threshold and the target are shares of what messages may fill: of the budget less the room for summaries
    (`summary_tokens`, and one message of `max_messages`), or of each section's part where `token_allocation` divides
    it.
    """

    type: FlushingType = "hybrid_summary"
    """What leaves the view waits in the overflow and becomes a summary (`hybrid_summary`), or is removed and counted
    (`drop`). `simple_fifo` and the names of the other policies are short for `drop` with that policy; another
    `eviction_policy.type` beside them is an error."""

    summarize_threshold: Annotated[float, Field(gt=0, le=1, title="share")] = 0.8
    """The fill at which the background flush starts. Close to 1, appends evict before it has done its work."""

    target_ratio: Annotated[float, Field(ge=0, lt=1, title="share")] = 0.5
    """The fill that a flush goes down to; less than `summarize_threshold`. The closer they are, the more often flushes
    run."""

    summary_tokens: Tokens | None = None
    """Room that is kept free for summaries, so messages have that much less; with `token_allocation` the most that one
    summary may have, less than the part of `long_term`. At least 16, also where it is a default; of a model whose
    tokens are estimated, 16 times its factor, if that is above 1. Only for `hybrid_summary`.

    Default: a tenth of the token budget, at most half of the part of `long_term`; 350 without a token budget.
    """

    summarize_oldest_percent: Annotated[float, Field(ge=0, le=1, title="share")] = 0
    """The part of the conversation's messages that a flush takes at least, in the policy's order, also where fewer
    would reach the target. A share for all its name: 0.4 is 40 %."""

    keep_first: Groups = 0
    """Groups at the start of the conversation (of `short_term`) that a flush leaves alone. An append that finds no room
    may evict them all the same; pin what must stay."""

    keep_last: Groups = 2
    """Groups at the end of the conversation (of `short_term`) that a flush leaves alone. Together with `keep_first`
    fewer than fit beside the summary, at one message and one token each."""

    summarizer: SummarizerChoice = SummarizerChoice()

    @property
    def strategy(self) -> Literal["hybrid_summary", "drop"]:
        """What the type means, without the policy that its short forms name."""
        return "hybrid_summary" if self.type == "hybrid_summary" else "drop"


class Overflow(Declaration):
    """How much may wait for its summary after it was evicted; only for `hybrid_summary`.

    When it is full, appends are refused for now (`MemoryBackpressure`), and Temporal repeats them until a flush has
    made room.
    """

    max_tokens: Tokens | None = None
    """Most tokens that may wait, of a memory with a token budget; at least twice that budget.

    Default: four times the token budget.
    """

    max_messages: Messages | None = None
    """Most messages that may wait, of a memory without a token budget; at least twice its `max_messages`.

    Default: four times `max_messages`.
    """


class Locking(Declaration):
    """The lease that keeps two flushes of one memory apart. Appends and clears need none."""

    flush_ttl: Annotated[Duration, Within("1s", "1h")] = timedelta(seconds=30)
    """How long the lease lives if it is not renewed, which it is at a third of that. A flush that was killed
    keeps any other out for what is left of it."""


class MemoryFields(Declaration):
    """What a memory resource declares, and what it comes to where a field refers to another; nothing is checked yet."""

    resource: Literal["memory"] = "memory"
    """What the document declares."""

    id: Id
    """Its name, unique among the memories of the project. Every key in the store holds it: under another id, the same
    declaration finds nothing."""

    description: Annotated[str, Field(max_length=1000)] = ""
    """What the memory is for; shown by `durable-memory resources`."""

    version: Version | None = None
    """The version of this declaration; shown by `durable-memory resources`, and nothing else.

    Default: none.
    """

    type: MemoryType = "token_based"
    """The fill that the flush watches: tokens (`token_based`, needs a token budget), messages (`message_count_based`,
    needs `max_messages`), or the larger of both (`buffer`, needs one of them). Every limit that is given is hard,
    whatever the type."""

    max_tokens: Tokens | None = None
    """Most tokens of the live view, summaries included; no more than the window of `token_provider`'s model. Your own
    prompt and the model's answer need room beside it.

    Default: no limit.
    """

    max_messages: Messages | None = None
    """Most messages of the live view, summaries included; at least 2 for `hybrid_summary`, since one is the summary.

    Default: no limit.
    """

    max_context_ratio: Annotated[float, Field(gt=0, le=1, title="share")] | None = None
    """The share of the model's context window that the live view may fill; needs `token_provider`. Beside `max_tokens`
    the smaller limit holds. A model with another window changes the budget.

    Default: no limit.
    """

    token_provider: TokenProvider | None = None
    token_allocation: TokenAllocation | None = None
    eviction_policy: EvictionPolicy = EvictionPolicy()
    flushing: Flushing = Flushing()

    oversize: Literal["reject", "truncate"] = "reject"
    """What happens to a message or group that can never fit: the append is refused with both numbers (`reject`), or its
    text is cut to what fits and marked (`truncate`). Tool calls are never cut."""

    open_group_ttl: Duration = timedelta(hours=1)
    """How long a group may miss results of its tool calls, untouched, before it counts as abandoned: it is evicted and
    flushed like any other then. Before and after that no view shows it while it misses one; a result that comes late
    brings it back, unless the group has left by then."""

    overflow: Overflow = Overflow()
    persistence: Persistence = Persistence()
    privacy_policy: PrivacyPolicy = PrivacyPolicy()
    locking: Locking = Locking()

    scope: Scope = "session"
    """How long a memory lives: decides what `persistence.ttl` and `on_workflow_end` are by default, and what the latter
    may be."""

    agents_only: bool = False
    """`true`: calls that name no declared agent are refused, from workflows, activities and the command line alike.
    What an operator does to all memories (list, purge, export, import) names none and is let through."""

    default_key_template: Template | None = None
    """Makes the key for callers that send `input` and no key, where their agent has no template for this memory. One
    that cannot be rendered is an error, never another key.

    Default: none; such callers have to give a key.
    """

    on_workflow_end: OnWorkflowEnd | None = None
    """What happens when the last [owner](sharing.md) of a memory has ended: nothing (`keep`), a flush down to what is
    never flushed (`flush`), or the end of the memory, without a backup (`clear`).

    Default: by scope.
    """

    @property
    def token_budget(self) -> int | None:
        """Tokens of the live view at most: the smaller of max_tokens and the share of the model's window."""
        if self.max_context_ratio is None or self.token_provider is None:
            return self.max_tokens
        share = math.floor(written(self.max_context_ratio) * self.token_provider.context_window)
        return share if self.max_tokens is None else min(share, self.max_tokens)

    @property
    def policy(self) -> PolicyName:
        """The policy, wherever it is named: in eviction_policy.type, or by a short form of flushing.type."""
        return policy_of(self.eviction_policy, self.flushing.type)

    @property
    def ttl(self) -> timedelta | None:
        """The lifetime since the last write: as declared, else the scope's; None is for ever."""
        return self.persistence.ttl if self.ttl_is_declared else SCOPES[self.scope].ttl

    @property
    def ttl_is_declared(self) -> bool:
        """Whether the lifetime is declared; one by scope begins anew while an owner goes on."""
        return "ttl" in self.persistence.model_fields_set
