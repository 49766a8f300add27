"""What is said of a Redis that is away for a while: one line when calls begin to be retried, one when it answers again.

Calls are retried in silence for seconds, and most succeed then: without these lines nobody would know.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Final, Self
from weakref import WeakKeyDictionary, WeakValueDictionary

from redis import exceptions

from durable_memory.memory import telemetry

_SETTLED_SECONDS: Final = 8.0
"""How long no call may fail before one answer ends an outage that it may not tell of.

Of several servers another one may have answered. A server that refuses only writes answers reads all the time.
"""

_REFUSED_WRITES: Final = ("MISCONF", "NOREPLICAS", "READONLY")

_CODES: Final[Mapping[type[Exception], str]] = {
    exceptions.BusyLoadingError: "LOADING",
    exceptions.ReadOnlyError: "READONLY",
    exceptions.ClusterDownError: "CLUSTERDOWN",
    exceptions.MasterDownError: "MASTERDOWN",
    exceptions.TryAgainError: "TRYAGAIN",
}
"""Those that redis-py takes off the words of an answer: before 7.4 nothing but the type of the error tells them."""

_log = logging.getLogger(__name__)


class Outage:
    """Notices when the Redis behind some links goes away and comes back. Belongs to one event loop.

    An outage begins with a call that was answered by a failure which may pass, or not in time. A connection that is
    lost and replaced at once is none: servers, and what stands between, close idle ones. It ends when a call is
    answered and no other is still being retried. Before the first answer there is none: who connects is told by the
    error.
    """

    def __init__(self, place: str, *, servers: bool = False) -> None:
        """See outage_of."""
        self._place = place
        self._servers = servers
        self._writes_alone = False
        self.away = True
        """Whether an answer is news: looked at after each call, so it is all that a usual one costs."""
        self._since: float | None = None
        self._failed_at = 0.0
        self._retried = 0

    def call(self) -> RetriedCall:
        """Returns a call whose attempts are made in its block, which ends without an error when it is answered."""
        return RetriedCall(self)

    def answered_at_once(self) -> None:
        """Notes the answer to a call that was not retried. Only asked for while it is `away`."""
        settled = _SETTLED_SECONDS if self._servers or self._writes_alone else 0.0
        if time.monotonic() - self._failed_at >= settled:
            self.answered()

    def answered(self) -> None:
        """Notes an answer."""
        if self._retried or not self.away:
            return
        self.away = False
        if self._since is not None:
            seconds = time.monotonic() - self._since
            self._since = None
            # Not for how long it was away: it answers only when somebody asks, which may be much later.
            _log.warning("Redis at %s answers again; calls began to fail %.1f s ago", self._place, seconds)

    def begin_retries(self) -> None:
        """Notes that one more call is being retried."""
        self._retried += 1

    def end_retries(self) -> None:
        """Notes that it is not any more."""
        self._retried -= 1

    def failed(self, error: Exception, since: float) -> None:
        """Notes that an attempt failed in a way that may pass. since: when the first one of its call did."""
        self._failed_at = time.monotonic()
        kind = kind_of(error)
        self._writes_alone = refuses_writes_alone(error)
        if self.away:
            return
        self.away, self._since = True, since
        _log.warning("Redis at %s does not answer as it should (%s): calls are retried", self._place, kind)


_known: Final[WeakKeyDictionary[asyncio.AbstractEventLoop, WeakValueDictionary[str, Outage]]] = WeakKeyDictionary()


def outage_of(place: str, *, servers: bool = False) -> Outage:
    """Returns what all links of this event loop to one place share, as those of a worker: one outage is one line.

    servers: more than one answers, so that an answer of one says little of the others.
    """
    of_loop = _known.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    found = of_loop.get(place)
    if found is None:
        found = of_loop[place] = Outage(place, servers=servers)
    return found


class RetriedCall:
    """One call of which an attempt failed, or that may meet that."""

    __slots__ = ("_outage", "_since")

    def __init__(self, outage: Outage) -> None:
        self._outage = outage
        self._since: float | None = None

    def __enter__(self) -> Self:
        return self

    def failed(self, error: Exception) -> None:
        """Notes that an attempt failed in a way that may pass."""
        telemetry.count_redis_retry(kind_of(error))
        first = self._since is None
        if first:
            self._since = time.monotonic()
            self._outage.begin_retries()
        if not (first and _is_lost_connection(error)):
            self._outage.failed(error, self._since or 0.0)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._since is not None:
            self._outage.end_retries()
        if kind is None:
            self._outage.answered()


def kind_of(error: Exception) -> str:
    """Returns the kind of an error: of what Redis answers its code, else the name of its type; never its words."""
    if isinstance(error, (exceptions.ResponseError, exceptions.BusyLoadingError)):
        told: str | None = getattr(error, "status_code", None)
        code = told or _CODES.get(type(error)) or str(error).partition(" ")[0]
        if code.isalpha() and code.isupper():
            return code
    return type(error).__name__


def refuses_writes_alone(error: Exception) -> bool:
    """Tells whether Redis refuses a write so, and serves reads all the time."""
    return kind_of(error) in _REFUSED_WRITES


def _is_lost_connection(error: Exception) -> bool:
    return isinstance(error, (OSError, exceptions.ConnectionError)) and not isinstance(
        error, (TimeoutError, exceptions.TimeoutError, exceptions.BusyLoadingError)
    )
