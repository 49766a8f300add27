"""The part `eviction_policy` of a memory resource, and the short forms that name a policy in `flushing.type`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from durable_memory.memory.declarations.declaration import Declaration, Problem
from durable_memory.memory.eviction.keywords import words_of
from durable_memory.memory.limits import PolicyName

MAX_KEYWORD_LENGTH: Final = 100

SHORT_FORMS: Final[Mapping[str, PolicyName]] = {
    "simple_fifo": "fifo",
    "lru": "lru",
    "lfu": "lfu",
    "priority": "priority",
    "token_aware_lru": "token_aware_lru",
}
"""Values of flushing.type that are short for `drop` with this policy."""


def _checked_keyword(value: str) -> str:
    if len(value) > MAX_KEYWORD_LENGTH or not any(map(str.isalnum, words_of(value))):
        raise ValueError(f"must have a letter or a digit, and at most {MAX_KEYWORD_LENGTH} characters")
    return value


Keyword = Annotated[
    str, AfterValidator(_checked_keyword), Field(title=f"text of up to {MAX_KEYWORD_LENGTH} characters")
]


class EvictionPolicy(Declaration):
    """Which group goes next, at an append that would break the budget and at a flush."""

    type: PolicyName = "fifo"
    """Which group goes first: the oldest (`fifo`); the one whose last message or access is longest ago (`lru`); the one
    with the fewest accesses, its append the first of them, where one of a day ago counts half (`lfu`); the one of the
    lowest priority (`priority`); at a flush the one of the most tokens times time since its last message or access, at
    an append as `lru` (`token_aware_lru`). Of equals the oldest. A plain read of the view is no access."""

    priority_keywords: Annotated[tuple[Keyword, ...], Field(strict=False, max_length=100)] = ()
    """Words and phrases that raise a message with one of them to high priority; only for the policy `priority`. They
    are looked for at the append, so a new one changes nothing that is stored.

    Default: none.
    """


def policy_of(named: EvictionPolicy, flushing_type: str) -> PolicyName:
    """Returns the one policy of a resource, wherever it is named."""
    return SHORT_FORMS.get(flushing_type, named.type)


def policy_problems(named: EvictionPolicy, flushing_type: str) -> list[Problem]:
    """Returns every problem that policy, keywords and flush have together."""
    policy = policy_of(named, flushing_type)
    problems: list[Problem] = []
    if "type" in named.model_fields_set and named.type != policy:
        text = (
            f"{flushing_type} is short for drop with the policy {policy}, but eviction_policy.type is {named.type}: "
            f"write drop, or leave eviction_policy.type out"
        )
        problems.append(("flushing.type", text))
    if named.priority_keywords and policy != "priority":
        where = "flushing.type" if flushing_type in SHORT_FORMS else "eviction_policy.type"
        text = f"has no effect where {where} is {flushing_type if flushing_type in SHORT_FORMS else policy}"
        problems.append(("eviction_policy.priority_keywords", f"{text}; write type: priority, or remove it"))
    return problems
