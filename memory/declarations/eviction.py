"""The part `eviction_policy` of a memory resource."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field

from durable_memory.memory.declarations.declaration import Declaration
from durable_memory.memory.eviction.keywords import words_of
from durable_memory.memory.limits import PolicyName

MAX_KEYWORD_LENGTH: Final = 100


def _checked_keyword(value: str) -> str:
    if len(value) > MAX_KEYWORD_LENGTH or not words_of(value).strip():
        raise ValueError(f"must have a letter or a digit, and at most {MAX_KEYWORD_LENGTH} characters")
    return value


Keyword = Annotated[str, AfterValidator(_checked_keyword)]


class EvictionPolicy(Declaration):
    """Which group goes next, at an append that would break the budget and at a flush."""

    type: PolicyName = "fifo"
    """`fifo`: the oldest. `lru`: the one that was least recently appended to or touched.

    `lfu`: the one that was touched least often. `priority`: the one with the lowest priority. `token_aware_lru`: as
    lru; at a flush the one whose tokens times the time since its last use are the most.
    """

    priority_keywords: Annotated[tuple[Keyword, ...], Field(strict=False, max_length=100)] = ()
    """Words that raise a message whose text has one of them to high priority; for the policy `priority`."""
