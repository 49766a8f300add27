"""Fields that are known but refused, by their paths: what other products have and this one never will."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

Kind: TypeAlias = str
"""`memory` or `agent`: what the document declares."""

_NO_LOCK: Final = "does not exist: append and clear need no lock, each is one atomic step; remove it"

FIELDS: Final[Mapping[Kind, Mapping[str, str]]] = {
    "memory": {
        "locking.append_ttl": _NO_LOCK,
        "locking.clear_ttl": _NO_LOCK,
    },
}
"""Refused fields, each with the problem that is reported."""


def refused_field(kind: Kind, path: str) -> str | None:
    """Returns why this known field is refused, or None if it is not one of these."""
    return FIELDS.get(kind, {}).get(path)
