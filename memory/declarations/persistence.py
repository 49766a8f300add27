"""The field `persistence`: where a memory is kept, for how long, and when a silent store is left alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field

from durable_memory.memory.declarations.declaration import Declaration, Problem
from durable_memory.memory.declarations.durations import Duration, Within
from durable_memory.memory.limits import BreakerLimits

PersistenceType: TypeAlias = Literal["redis", "in_memory"]

_BREAKER: Final = "persistence.circuit_breaker"


class CircuitBreaker(Declaration):
    """While Redis does not answer, fails calls at once instead of letting each wait for it; only for `redis`.

    It counts for all memories of its resource in one process. While it is open, calls fail with `MemoryUnavailable`,
    which says when the next try is.
    """

    enabled: bool = False
    """Whether there is one; required beside other fields. Without it, a call tries for eight seconds at most."""

    timeout: Annotated[Duration, Within("10ms", "1m")] = timedelta(milliseconds=150)
    """What one call of the store may take; longer is a failure. Time in which it waits for a connection that other
    calls are using, or in which its own process is too busy to listen, is not counted. Let the longest calls pass, such
    as a read of a large view: what is given up may have been written, and is safe to repeat with its operation id, as
    activities do."""

    max_failures: Annotated[int, Field(ge=1, le=1000, title="failures")] = 4
    """How many calls in a row without an answer open it; of those that fail side by side, one counts. A refusal, such
    as `MemoryOversize`, is an answer, also that of a Redis which refuses writes alone (full, a read-only replica) or
    what its user lacks a right for: it goes on to serve the other calls."""

    reset_timeout: Annotated[Duration, Within("100ms", "1h")] = timedelta(seconds=20)
    """How long it stays open before one call tries again, whose answer closes it."""

    def limits(self) -> BreakerLimits | None:
        """Returns its numbers, or None where it is off."""
        if not self.enabled:
            return None
        return BreakerLimits(self.timeout.total_seconds(), self.max_failures, self.reset_timeout.total_seconds())


class Persistence(Declaration):
    """Where the memory is kept, and for how long."""

    type: PersistenceType = "redis"
    """Where it stands. `in_memory` lives in one process and ends with it: for tests, and refused by a worker."""

    ttl: Duration | None = None
    """Lifetime of the whole memory since its last write, renewed once a twentieth of it has passed; `null` is for ever.
    One by scope begins anew at each sweep of the janitor, too, while a workflow that owns it goes on; one that is
    declared does not. Backups are no part of it: each stays for seven days, and only a purge erases it before.

    Default: by scope.
    """

    refresh_on_read: bool = False
    """`true`: a read of the view prolongs the lifetime as a write does. Needs one that ends; reads then write,
    and are answered all the same where Redis refuses writes."""

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
