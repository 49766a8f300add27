"""How long Redis is asked: the attempts of one call, the waits between them, and what is said when all have failed."""

from __future__ import annotations

import asyncio
import os
import re
import socket
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, TypeVar

from redis import exceptions
from redis.asyncio.sentinel import MasterNotFoundError

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.patience import current_wait
from durable_memory.memory.stores.redis.outage import kind_of, outage_of, refuses_writes_alone
from durable_memory.memory.stores.time_limit import TimeLimit

_T = TypeVar("_T")

EXCHANGE_SECONDS: Final = 5.0
"""How long one exchange may take."""

CALL_SECONDS: Final = 8.0
"""How long all attempts of a call may take together while nobody is answered. An activity has ten seconds: its caller
is to be told what is wrong before Temporal ends it, which could only say that time ran out."""

PROBE_SECONDS: Final = 2.0
"""How long a probe may take: who asks has little patience."""

_PAUSES_SECONDS: Final = (0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6)
"""Waits between the attempts of a call; together longer than a Sentinel failover takes (1.6 s were measured)."""

_PROBE_PAUSE_SECONDS: Final = 0.02
"""That of a probe, which asks how it is now. One more attempt, since a connection may have been lost long ago."""

_PASSING: Final = (
    OSError,
    TimeoutError,
    exceptions.ConnectionError,
    exceptions.TimeoutError,
    exceptions.ReadOnlyError,
    exceptions.ClusterDownError,
    exceptions.TryAgainError,
    exceptions.AskError,
    exceptions.ClusterError,
    exceptions.RedisClusterException,
)
"""What may pass by itself: lost connections, a failover, a server that loads, a cluster that moves slots."""

_PASSING_WORDS: Final = ("LOADING", "BUSY", "MASTERDOWN", "UNBLOCKED", "NOREPLICAS", "MISCONF")
"""MISCONF: the disk is full, or a snapshot failed; writes are refused and nothing is damaged."""

_ANSWER: Final = re.compile(r" - (?:\w+:)?(\w+)")
_NOBODY_THERE: Final = re.compile(r"Error (?:Multiple exceptions: \[Errno )?(-?\d+)\]?.* connecting to ")
_UNTRUSTED: Final = re.compile(r"certificate verify failed: (.{1,200}?)\.? \(_ssl")
_NAME_CA: Final = "?ssl_ca_certs= names the file of its CA"
_CURES: Final = (
    ("issuer", _NAME_CA),
    ("self", _NAME_CA),
    ("mismatch", "?ssl_check_hostname=false takes any name, if the CA is your own"),
)
"""What helps against a certificate that is not trusted, by a word of the reason."""
_REFUSED_COMMAND: Final = re.compile(r"run the '([\w|.-]{1,40})' command")


def _refuses_user(error: Exception) -> bool:
    if isinstance(error, (exceptions.AuthenticationError, exceptions.NoPermissionError)):
        return True
    return str(error).startswith("ACL failure in script")


def _is_moving(error: Exception) -> bool:
    """Whether a slot moves to another node: no node runs a script of which some keys are here, or not yet there.

    redis-py asks again by itself, and makes a ClusterError of it in the end, whose subclasses say something else.
    """
    return isinstance(error, (exceptions.TryAgainError, exceptions.AskError)) or type(error) is exceptions.ClusterError


def _passes(error: Exception) -> bool:
    return isinstance(error, _PASSING) or str(error).startswith(_PASSING_WORDS)


class Attempts:
    """Makes the attempts of calls to one place. Belongs to one event loop."""

    def __init__(
        self,
        place: str,
        must_wait: Callable[[], bool] = lambda: False,
        answered_at: Callable[[], float] | None = None,
        *,
        connections: int = 0,
        servers: bool = False,
    ) -> None:
        """must_wait: whether a call has to stand in line before it is sent.

        answered_at: when any call was answered last; one that is slow, or stands in line behind many, goes on.
        connections: for how many of them it stands in line. servers: whether more than one answers.
        """
        self._place = place
        self._must_wait = must_wait
        self._answered_at = answered_at
        self._connections = connections
        self._outage = outage_of(place, servers=servers)
        self._whole = TimeLimit(CALL_SECONDS, answered_at)
        self._rest = TimeLimit(CALL_SECONDS - EXCHANGE_SECONDS, answered_at)
        self._probes = TimeLimit(PROBE_SECONDS)
        self.failures = 0
        """How many attempts failed so far in a way that may pass."""

    async def until_answered(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Makes attempts until one is answered, or raises MemoryUnavailable."""
        if self._must_wait():
            with self._outage.call() as call:
                return await self._within(self._whole, (0, *_PAUSES_SECONDS), attempt, call.failed)
        # The first attempt is an exchange, which has its own limit: another one would be work for each call.
        try:
            answer = await attempt()
        except Exception as error:  # noqa: BLE001 - raised again unless it may pass
            last = self._passing(error)
        else:
            if self._outage.away:
                self._outage.answered_at_once()
            return answer
        with self._outage.call() as call:
            call.failed(last)
            return await self._within(self._rest, _PAUSES_SECONDS, attempt, call.failed, last)

    async def soon(self, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """The same of a probe, which waits for nothing to pass. Its failure begins no outage: who probes is told."""
        answer = await self._within(self._probes, (0, _PROBE_PAUSE_SECONDS), attempt, lambda _: None)
        if self._outage.away:
            self._outage.answered()
        return answer

    async def _within(
        self,
        limit: TimeLimit,
        pauses: Sequence[float],
        attempt: Callable[[], Awaitable[_T]],
        failed: Callable[[Exception], None],
        last: Exception | None = None,
    ) -> _T:
        """Makes an attempt after each of the pauses.

        failed: is told what may pass. last: the error of the attempt before them.
        """
        wait = current_wait()
        try:
            with limit():
                for pause in pauses:
                    if pause:
                        await asyncio.sleep(pause)
                    if wait is not None:
                        wait.asks()
                    try:
                        return await attempt()
                    except Exception as error:  # noqa: BLE001 - raised again unless it may pass
                        last = self._passing(error)
                        failed(last)
        except TimeoutError:
            pass  # that of the call: after one of an exchange another attempt was made
        if limit is self._probes and last is None and self._must_wait():
            raise MemoryUnavailable(self._crowded())
        seconds = PROBE_SECONDS if limit is self._probes else CALL_SECONDS
        raise self._unavailable(last or TimeoutError(), seconds) from last

    def _unavailable(self, error: Exception, seconds: float | None = None) -> MemoryUnavailable:
        """Returns what to say of an error that did not pass in so many seconds; None leaves them to who adds others."""
        what = f"Redis at {self._place} {_lasting(error, seconds)}"
        return MemoryUnavailable(what, answered=refuses_writes_alone(error))

    def _crowded(self) -> str:
        """Returns what to say of a probe that had no turn. Calls wait longer, so of them it is the server's silence."""
        silent = "" if self._answered_at is None else _seconds_since(self._answered_at())
        return (
            f"Redis at {self._place} could not be asked within {PROBE_SECONDS:.0f} s: slow calls of this process hold "
            f"all {self._connections} connections{silent}"
        )

    def _passing(self, error: Exception) -> Exception:
        """Returns an error that another attempt may not meet again. Raises MemoryUnavailable, or the error itself."""
        refused = self._refused(error)
        if refused is not None:
            raise refused from error
        if not _passes(error):
            raise error
        self.failures += 1
        wait = current_wait()
        if wait is not None:
            wait.tell(self._unavailable(error))
        return error

    def _refused(self, error: Exception) -> MemoryUnavailable | None:
        """Returns what to say of an error that another attempt would meet again."""
        if isinstance(error, exceptions.RedisClusterException) and isinstance(error.__cause__, Exception):
            error = error.__cause__  # what the node said that was asked last for the cluster's slots
        if isinstance(error, exceptions.OutOfMemoryError):
            full = f"Redis at {self._place} is out of memory (maxmemory) and refuses writes"
            return MemoryUnavailable(full, answered=True)
        if isinstance(error, exceptions.InvalidResponse):
            return MemoryUnavailable(f"what listens at {self._place} does not speak Redis's protocol")
        if untrusted := _UNTRUSTED.search(str(error)):
            why = f"Redis at {self._place} shows a certificate that is not trusted: {untrusted[1]}"
            cure = next((cure for word, cure in _CURES if word in untrusted[1].lower()), None)
            return MemoryUnavailable(why if cure is None else f"{why}; {cure}")
        if _refuses_user(error):
            served = not isinstance(error, exceptions.AuthenticationError)  # in what this user may do
            return MemoryUnavailable(f"Redis at {self._place} {_refusal(error)}", answered=served)
        return None


def _seconds_since(answered_at: float) -> str:
    return f"; the last answer came {asyncio.get_running_loop().time() - answered_at:.1f} s ago"


def _refusal(error: Exception) -> str:
    """Names the right that a user lacks, and never the user."""
    if isinstance(error, exceptions.AuthenticationError):
        return f"refuses this user or password: {type(error).__name__}"
    command = _REFUSED_COMMAND.search(str(error))
    right = f"the command '{command[1]}'" if command else "a key: not all that begin with our prefix are allowed"
    return f"refuses this user {right}; its ACL has to allow what docs/security.md lists"


def _lasting(error: Exception, seconds: float | None) -> str:
    if isinstance(error, exceptions.ReadOnlyError):
        return "is a read-only replica and refuses writes: name its primary"
    if _is_moving(error):
        did_not_end = "" if seconds is None else f", and did not end within {seconds:.0f} s"
        return f"moves the part of its cluster where this is kept{did_not_end}"
    if isinstance(error, MasterNotFoundError):
        return f"cannot be reached: {_unnamed(error)}"
    if isinstance(error, (exceptions.ResponseError, exceptions.BusyLoadingError)):
        return f"refuses calls for now: {_answer(error)}"
    return f"cannot be reached: {_describe(error, seconds)}"


def _answer(error: Exception) -> str:
    """Returns what a server answered, which redis-py gives without its code where it knows that."""
    words = str(error).partition(" script:")[0]  # where in a script it was told
    code = kind_of(error)
    return (words if words.startswith(code) else f"{code} {words}")[:200]


def _unnamed(error: MasterNotFoundError) -> str:
    """Returns what Sentinels said that name no primary: redis-py tells it behind all the options of each connection."""
    what, _, answers = str(error).partition(" : ")
    kinds = sorted(set(_ANSWER.findall(answers)))
    told = f" ({', '.join(kinds)})" if kinds else ""
    asks = any(kind.startswith("Authentication") for kind in kinds)
    return f"{what}{told}" + ("; to Sentinels a password of their own is given as ?sentinel_password=" if asks else "")


def _describe(error: Exception, seconds: float | None) -> str:
    """Names the kind of an error and its first words, which for our clients hold addresses and codes only."""
    text = str(error)
    if not text and isinstance(error, TimeoutError):
        return "no answer" if seconds is None else f"no answer within {seconds:.0f} s"
    if nobody := _NOBODY_THERE.search(text):
        number = int(nobody[1])
        # Those of names are negative on Linux, and others elsewhere.
        unknown = number < 0 or number == socket.EAI_NONAME
        reason = "unknown host" if unknown else os.strerror(number).lower()
        return f"{reason}; check this address and whether the server runs"
    return f"{type(error).__name__}: {text[:200]}" if text else type(error).__name__
