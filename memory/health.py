"""What is wrong with a memory, in words, judged from its counters."""

from __future__ import annotations

from durable_memory.memory.limits import Limits
from durable_memory.memory.types import MemoryHealth, MemoryStats

_BLOCKED = {
    "pinned": "a flush is due, but system and pinned messages fill the budget: delete some, or raise the budget",
    "keep": "a flush is due, but keep_first and keep_last keep all there is: lower them, or raise the budget",
}
_FAILED = {
    "failed: MemoryBudgetSpent": "the daily_token_budget of its summariser is spent, so messages wait until midnight "
    "UTC: raise it, or let fallback: rule_based write",
    "failed: MemoryModelRefused": "the model of its summariser refuses the key, its name or the request: the log of "
    "the worker says which",
    "failed: MemoryModelUnavailable": "the model of its summariser does not answer",
}
"""What can be said of a failed flush beyond the type of its error."""

_FULL = 0.9
"""Share of the overflow from which appends are about to be refused."""


def judge(stats: MemoryStats, limits: Limits) -> MemoryHealth:
    """Returns healthy, or every problem.

    A flush that is due is normal work, and named only if something keeps it from running.
    """
    problems = []
    if stats.flush_blocked in _BLOCKED:
        problems.append(_BLOCKED[stats.flush_blocked])
    if stats.last_flush_outcome not in (None, "committed", "dropped"):
        why = _FAILED.get(stats.last_flush_outcome, "it is tried again")
        problems.append(f"the last flush failed ({stats.last_flush_outcome}); {why}")
    for unit, waiting, capacity in (
        ("tokens", stats.omitted.tokens, limits.overflow_tokens),
        ("messages", stats.omitted.messages, limits.overflow_messages),
    ):
        if capacity and waiting > _FULL * capacity:
            problems.append(
                f"{waiting:,} of at most {capacity:,} {unit} wait for their summary; when full, appends are refused"
            )
    return MemoryHealth(healthy=not problems, problems=tuple(problems), stats=stats)
