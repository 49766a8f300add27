"""What is wrong with a memory, in words, judged from its counters and by whether its view can be read."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from durable_memory.memory.codec import view_of
from durable_memory.memory.errors import (
    MemoryBudgetSpent,
    MemoryContractTooNew,
    MemoryDamaged,
    MemoryModelRefused,
    MemoryModelUnavailable,
    MemorySummaryRejected,
    MemoryUnavailable,
    MemoryUndecryptable,
    MemoryWrongWorker,
)
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations.services import Services
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import ReadQuery
from durable_memory.memory.types import TOOK_OUT, FlushReason, MemoryHealth, MemoryStats
from durable_memory.memory.waking import FlushReporter, QueueReporter, RetriedFlush

_BLOCKED: Final[Mapping[FlushReason, str]] = {
    "pinned": "a flush is due, but system and pinned messages fill the budget: delete some, or raise the budget",
    "keep": "a flush is due, but keep_first and keep_last keep all there is: lower them, or raise the budget",
}
FAILED: Final[Mapping[str, str]] = {
    MemoryBudgetSpent.type: "what is left of the daily_token_budget of its summariser does not pay for a request, so "
    "messages wait until midnight UTC: raise it, or let fallback: rule_based write",
    MemoryModelRefused.type: "the model of its summariser refuses the key, its name or the request: the log of "
    "the worker says which",
    MemoryModelUnavailable.type: "the model of its summariser does not answer; it is tried again",
    MemoryWrongWorker.type: "a worker took it that serves another project, or does not declare this memory: give each "
    "project a queue of its own with DURABLE_MEMORY_TASK_QUEUE, and its workers the same declarations",
    MemoryUndecryptable.type: "the worker that tried it lacks a key under which messages were encrypted, or has "
    "another one: give all processes the same DURABLE_MEMORY_ENCRYPTION_KEYS",
    MemorySummaryRejected.type: "the text of its summariser was empty, cut, refused, about something else, too short "
    "or longer than its room; it is tried again, and the log of the worker says which it was: if too long, let it keep "
    "to max_tokens, or raise summary_tokens; if too short or about something else, use another model or prompt, or let "
    "fallback: rule_based write",
}
"""What can be said of a failed flush beyond the type of its error, by that type."""

_FULL = 0.9
"""Share of the overflow from which appends are about to be refused."""

OVERDUE = timedelta(minutes=5)
"""How long a flush may be due before that is a problem: the janitor has looked at least once by then."""

_UNTAKEN = timedelta(minutes=1)
"""How long it may be due where no worker polls for it: nothing will take it up then."""

_FAILURES: Final = 3
"""From how many failures on a step that is being retried is a problem: what passes by itself mostly has by then."""


async def examine(services: Services, memory: MemoryId, limits: Limits, *, check_connectivity: bool) -> MemoryHealth:
    """Asks the store, and judges what it says. A store that does not answer is unhealthy, and no error."""
    stats: MemoryStats | None = None
    answer_us: int | None = None
    problems: list[str] = []
    warnings: list[str] = []
    try:
        stats = await services.store.stats(memory, limits)
    except MemoryUnavailable as error:
        return MemoryHealth(healthy=False, problems=(error.message,), stats=None)
    except (MemoryDamaged, MemoryContractTooNew) as error:
        problems.append(error.message)
    try:
        started = time.perf_counter()
        await services.store.ping()
        if check_connectivity:
            answer_us = round((time.perf_counter() - started) * 1_000_000)
        await services.store.check_rights(memory)
    except MemoryUnavailable as error:  # counters are read where writes are refused
        problems.append(error.message)
    if stats is not None:
        now = datetime.fromtimestamp(services.clock.now_ms() / 1000, UTC)
        problems += [*await _read_problems(services.store, memory, limits), *judge(stats, limits, now)]
        problems += await _untaken(services, memory.project, stats, now)
        retried = await _retried(services, memory, stats)
        if retried is not None:
            (problems if lasts(stats, retried, now) else warnings).append(retrying(stats, retried))
    return MemoryHealth(
        healthy=not problems,
        problems=tuple(problems),
        stats=stats,
        answer_us=answer_us,
        warnings=tuple(warnings),
    )


async def _read_problems(store: Store, memory: MemoryId, limits: Limits) -> tuple[str, ...]:
    """Returns why this process cannot read the view, which no counter tells; nothing where it can."""
    try:
        view_of(await store.read(memory, ReadQuery(), replace(limits, refresh_on_read=False)))
    except (MemoryUnavailable, MemoryDamaged, MemoryUndecryptable, MemoryContractTooNew) as error:
        return (f"a read fails: {error.message}",)
    return ()


async def _untaken(services: Services, project: str, stats: MemoryStats, now: datetime) -> tuple[str, ...]:
    """Returns what is said of a flush that is due while no worker polls for it, which no counter tells."""
    if not _due_for(_UNTAKEN, stats, now) or stats.flushing_owner is not None:
        return ()
    if not isinstance(services.waker, QueueReporter):
        return ()
    queue = await services.waker.unpolled(project)
    return () if queue is None else (untaken(stats, queue, now),)


def untaken(stats: MemoryStats, queue: str, now: datetime) -> str:
    """Returns what to say of a flush that is due while no worker polls its queue."""
    minutes = (now - (stats.due_since or now)) // timedelta(minutes=1)
    due = f"{minutes} {'minute' if minutes == 1 else 'minutes'}"
    return f"no worker polls the queue {queue!r}, and a flush has been due for {due}: start a worker of this project"


async def _retried(services: Services, memory: MemoryId, stats: MemoryStats) -> RetriedFlush | None:
    """Returns the flush in the background that is being retried, of which no counter tells."""
    under_way = stats.flush_due or stats.flushing_owner is not None
    if not under_way or not isinstance(services.waker, FlushReporter):
        return None
    return await services.waker.retried(memory)


def lasts(stats: MemoryStats, flush: RetriedFlush, now: datetime) -> bool:
    """Tells whether a flush is retried for so long, or has failed so often, that somebody should look."""
    return flush.failures >= _FAILURES or now - (stats.due_since or flush.since) > OVERDUE


def retrying(stats: MemoryStats, flush: RetriedFlush) -> str:
    """Returns what to say of a flush that is being retried: since when, and the type of its last error alone.

    The text of an error may repeat what was said.
    """
    since = f"due since {_utc(stats.due_since)}" if stats.due_since else f"at work since {_utc(flush.since)}"
    times = "once" if flush.failures == 1 else f"{flush.failures} times"
    at = "" if flush.failed_at is None else f", at {_utc(flush.failed_at)}"
    return (
        f"a flush is being retried, {since}: its step {flush.step} failed {times}{at} with "
        f"{flush.error_type}; {FAILED.get(flush.error_type, 'it is tried again')}"
    )


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")


def overdue(stats: MemoryStats, now: datetime) -> bool:
    """Tells whether a flush has been due for too long, though there is something that it could take."""
    return _due_for(OVERDUE, stats, now)


def _due_for(long: timedelta, stats: MemoryStats, now: datetime) -> bool:
    return stats.due_since is not None and stats.flush_blocked is None and now - stats.due_since > long


def judge(stats: MemoryStats, limits: Limits, now: datetime) -> tuple[str, ...]:
    """Returns every problem that the counters tell.

    A flush that is due is normal work, and named only if something keeps it from running, or has for minutes.
    """
    problems = []
    if overdue(stats, now):
        holder = f"{stats.flushing_owner} holds the lease" if stats.flushing_owner else "nobody holds the lease"
        minutes = (now - (stats.due_since or now)) // timedelta(minutes=1)
        problems.append(
            f"a flush is overdue: due for {minutes} minutes, and {holder}; does a worker of this project run?"
        )
    if stats.flush_blocked is not None and stats.flush_blocked in _BLOCKED:
        problems.append(_BLOCKED[stats.flush_blocked])
    if stats.last_flush_outcome is not None and stats.last_flush_outcome not in TOOK_OUT:
        why = FAILED.get(stats.last_flush_outcome.removeprefix("failed: "), "it is tried again")
        problems.append(f"the last flush {stats.last_flush_outcome}; {why}")
    for unit, waiting, capacity in (
        ("tokens", stats.omitted.tokens, limits.overflow_tokens),
        ("messages", stats.omitted.messages, limits.overflow_messages),
    ):
        if capacity and waiting > _FULL * capacity:
            problems.append(
                f"{waiting:,} of at most {capacity:,} {unit} wait for their summary; appends that would add more than "
                "the rest are refused until a flush has made room"
            )
    return tuple(problems)
