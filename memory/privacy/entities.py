"""The kinds of secrets that are recognised, and how a recogniser of one is described."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, get_args

Entity: TypeAlias = Literal["email", "phone", "credit_card", "iban", "us_ssn", "ip_address", "api_key"]
ENTITIES: Final[tuple[Entity, ...]] = get_args(Entity)

Span: TypeAlias = tuple[int, int]
Check: TypeAlias = Callable[[str, int, int], Iterable[Span]]
"""Takes a text and where a candidate stands in it; returns the spans that are the secret, also beyond the candidate."""


@dataclass(frozen=True, slots=True)
class Recogniser:
    """How one form of an entity is found.

    pattern: of RE2, finds candidates. Where it has a group `value`, only that is the candidate. check: which of them
    are secrets; without it all are. labelled: the pattern begins with a word that says what follows, so it is also
    tried with the key of a field before its value.
    """

    entity: Entity
    pattern: str
    check: Check | None = None
    labelled: bool = False
