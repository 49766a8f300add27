"""The fields under `token_allocation`: fixed parts of the token budget, one for each section."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Final

from pydantic import Field

from durable_memory.memory.declarations.declaration import Declaration, Problem
from durable_memory.memory.declarations.shares import written
from durable_memory.memory.types import LONG_TERM, SECTIONS, SHORT_TERM, SYSTEM, Section, is_section_name

_TOLERANCE: Final = Fraction(1, 1000)
"""By so much the sum of shares may miss 1, since thirds have no end."""

MOST_SECTIONS: Final = 16

UserShare = Annotated[float, Field(gt=0, lt=1, title="share")]


class TokenAllocation(Declaration):
    """Divides the token budget into fixed parts, one for each section. None uses what another one leaves free.

    The shares add up to 1.0 (± 0.001), those of `user_defined` included. They are rounded down to whole tokens, and
    none may be left without a token.

    Default: one budget for all sections.
    """

    short_term: Annotated[float, Field(gt=0, le=1, title="share")]
    """The share of the conversation, apart from user-defined sections."""

    long_term: Annotated[float, Field(ge=0, lt=1, title="share")] = 0.0
    """The share of summaries, as many as fit: more tokens than `flushing.summary_tokens`. Required for
    `hybrid_summary`, refused for `drop`."""

    system: Annotated[float, Field(ge=0, lt=1, title="share")] = 0.0
    """The share of system messages. Without one there can be none: an append of one is refused."""

    user_defined: dict[str, UserShare] = Field(default_factory=dict)
    """Sections of your own, at most 16, each with its share, in the order in which a view shows them:
    `{bookings: 0.05}`. A name has 1 to 64 of `a-z 0-9 _ -`, no sign first. Only messages that name the section stand
    there.

    Default: none.
    """

    def by_section(self) -> dict[Section, Fraction]:
        """Returns the shares as they are written, in the order of the view."""
        shares = {SYSTEM: self.system, LONG_TERM: self.long_term, **self.user_defined, SHORT_TERM: self.short_term}
        return {section: written(share) for section, share in shares.items()}


def allocated_tokens(allocation: TokenAllocation | None, budget: int | None) -> dict[Section, int]:
    """Returns the tokens of each section in the order of the view, rounded down; nothing where the budget is common.

    A sum that is not quite 1 is taken for the whole, so that the parts never exceed the budget.
    """
    if allocation is None or budget is None:
        return {}
    shares = allocation.by_section()
    whole = sum(shares.values(), Fraction())
    return {section: math.floor(share * budget / whole) for section, share in shares.items()}


def allocation_problems(allocation: TokenAllocation, budget: int | None, flushing_type: str) -> Iterator[Problem]:
    """Yields what is wrong with the parts of a token budget, where flushes are of this type."""
    if budget is None:
        yield "token_allocation", "divides the token budget, and there is none; write max_tokens, or remove it"
        return
    wrong_names = list(_name_problems(allocation))
    if wrong_names:
        yield from wrong_names
        return
    total = sum(allocation.by_section().values(), Fraction())
    if abs(total - 1) > _TOLERANCE:
        yield "token_allocation", f"must add up to 1.0, user_defined included; these shares are {float(total):g}"
        return
    summarizes = flushing_type == "hybrid_summary"
    if summarizes and not allocation.long_term:
        yield (
            "token_allocation",
            "gives summaries no room; write long_term with their share, or flushing.type: drop",
        )
    elif not summarizes and allocation.long_term:
        yield (
            "token_allocation.long_term",
            f"has no effect where flushing.type is {flushing_type}: there are no summaries; remove it",
        )
    for section, tokens in allocated_tokens(allocation, budget).items():
        if not tokens and allocation.by_section()[section]:
            path = section if section in SECTIONS else f"user_defined.{section}"
            yield f"token_allocation.{path}", f"leaves no token of {budget}"


def _name_problems(allocation: TokenAllocation) -> Iterator[Problem]:
    path = "token_allocation.user_defined"
    if len(allocation.user_defined) > MOST_SECTIONS:
        yield path, f"has {len(allocation.user_defined)} sections; at most {MOST_SECTIONS} are possible"
    for name in allocation.user_defined:
        if name in SECTIONS:
            yield f"{path}.{name}", f"is a built-in section; write token_allocation.{name}"
        elif not is_section_name(name):
            yield path, "a section is named by 1 to 64 of a-z, 0-9, - and _, and begins with a letter or digit"
