"""Scopes: how long a memory lives, and what may happen to it when its workflows end, where nothing else is declared."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final, Literal, TypeAlias

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
