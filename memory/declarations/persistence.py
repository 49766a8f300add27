"""The field `persistence`: where a memory is kept, for how long, and when a silent store is left alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from durable_memory.memory.declarations.declaration import Declaration
from durable_memory.memory.declarations.durations import Duration
from durable_memory.memory.limits import BreakerLimits

Problem = tuple[str, str]
_BREAKER: Final = "persistence.circuit_breaker"


def _checked_timeout(value: timedelta) -> timedelta:
    if not timedelta(milliseconds=10) <= value <= timedelta(minutes=1):
        raise ValueError("must be from 10ms to 1m")
    return value


def _checked_reset(value: timedelta) -> timedelta:
    if not timedelta(milliseconds=100) <= value <= timedelta(hours=1):
        raise ValueError("must be from 100ms to 1h")
    return value


class CircuitBreaker(Declaration):
    """Fails calls at once while Redis does not answer, instead of letting each wait for it."""

    enabled: bool = False
    """Whether there is one; without it, a call tries for about ten seconds."""

    timeout: Annotated[Duration, AfterValidator(_checked_timeout)] = timedelta(milliseconds=150)
    """What one call of the store may take; 10ms to 1m. Longer is a failure."""

    max_failures: Annotated[int, Field(ge=1, le=1000)] = 4
    """Failures in a row that open it. Refusals, such as a message that is too large, are none."""

    reset_timeout: Annotated[Duration, AfterValidator(_checked_reset)] = timedelta(seconds=20)
    """How long it stays open before one call tries again; 100ms to 1h."""

    def limits(self) -> BreakerLimits | None:
        """Returns its numbers, or None where it is off."""
        if not self.enabled:
            return None
        return BreakerLimits(self.timeout.total_seconds(), self.max_failures, self.reset_timeout.total_seconds())


class Persistence(Declaration):
    """Where the memory is kept, and for how long."""

    type: Literal["redis", "in_memory"] = "redis"
    """`in_memory` lives in one process and ends with it: for tests."""

    ttl: Duration | None = None
    """Lifetime of the whole memory since the last write; null means for ever. Default: by scope."""

    refresh_on_read: bool = False
    """Whether a read of the view prolongs the lifetime as a write does, of all that belongs to the memory together."""

    circuit_breaker: CircuitBreaker = CircuitBreaker()


def persistence_problems(persistence: Persistence, ttl: timedelta | None) -> list[Problem]:
    """Returns what is wrong between these fields, each with its path. ttl: the lifetime that follows from them."""
    problems: list[Problem] = []
    if persistence.refresh_on_read and ttl is None:
        text = "has no effect on a memory that never ends; write persistence.ttl, or remove it"
        problems.append(("persistence.refresh_on_read", text))
    breaker = persistence.circuit_breaker
    if breaker.model_fields_set and persistence.type == "in_memory":
        text = "has no effect where persistence.type is in_memory, which always answers; remove it"
        problems.append((_BREAKER, text))
    elif breaker.model_fields_set and "enabled" not in breaker.model_fields_set:
        text = "is missing; write true to have the circuit breaker, false to keep it off"
        problems.append((f"{_BREAKER}.enabled", text))
    return problems
