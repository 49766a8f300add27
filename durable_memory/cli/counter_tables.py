"""The tables of counters: what memories hold, of one in full and of many a row each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

from durable_memory.cli.absence import no_memory
from durable_memory.cli.table import LongTable, Table, facts, listing
from durable_memory.cli.wording import FLUSH_REASONS, clock_time, counted, from_now, size_of
from durable_memory.memory.types import ListedMemory, ListedPage, MemoryHealth, MemoryStats

_NUMBERS_OF_MEMORIES: Final = ("messages", "tokens", "budget", "waiting")
_OF_MEMORIES: Final = ("resource", "key", *_NUMBERS_OF_MEMORIES, "flush", "written", "expires")


def stats_table(title: str, stats: MemoryStats, project: str, memory_hash: str | None) -> Table:
    """The counters of a memory. memory_hash: what names it in logs, spans and audit."""
    return facts(title, [*_stats_rows(stats, project), ("hash", memory_hash or "")])


def health_table(title: str, health: MemoryHealth, project: str) -> Table:
    """Whether a memory can do its work."""
    absent = health.healthy and health.stats is not None and not health.stats.exists
    rows = [] if absent else [("healthy", "yes" if health.healthy else "no")]
    rows += [("problem", problem) for problem in health.problems]
    rows += [("warning", warning) for warning in health.warnings]
    if health.answer_us is not None:
        rows.append(("store answers in", f"{health.answer_us / 1000:.1f} ms"))
    if health.stats is not None:
        rows += _stats_rows(health.stats, project)
    return facts(title, rows)


def memories_table(title: str, page: ListedPage) -> Table:
    """Memories of a project."""
    return listing(
        f"{title}: {counted(len(page.memories), 'memory')}",
        _OF_MEMORIES,
        memory_rows(page.memories),
        numbers=_NUMBERS_OF_MEMORIES,
        whole=("resource", "key"),
        caption="" if page.cursor is None else f"more with --cursor {page.cursor}",
    )


def long_memories_table(title: str) -> LongTable:
    """More of them than are read at once; its rows are `memory_rows`."""
    return LongTable(title, _OF_MEMORIES, numbers=_NUMBERS_OF_MEMORIES)


def memory_rows(memories: Sequence[ListedMemory]) -> Iterator[tuple[str, ...]]:
    """A row for each memory of a list."""
    now = datetime.now(UTC)
    return ((memory.resource, memory.key, *_listed(memory, now)) for memory in memories)


def _stats_rows(stats: MemoryStats, project: str) -> list[tuple[str, str]]:
    kept = [
        ("backup", f"{one.id}: {counted(one.messages, 'message')}, until {clock_time(one.ends_at)}")
        for one in stats.backups
    ]
    if not stats.exists:
        return [no_memory(project), *kept]
    messages, tokens = sum(stats.messages.values()), sum(stats.tokens.values())
    limits = [
        counted(limit, unit) for limit, unit in ((stats.max_messages, "message"), (stats.max_tokens, "token")) if limit
    ]
    return [
        ("view", size_of(messages, tokens)),
        ("budget", f"{', '.join(limits)}{f'; {share} of the tokens used' if (share := _share(stats)) else ''}"),
        *((section, _section_size(stats, section)) for section in stats.messages),
        ("waiting", f"{size_of(stats.omitted.messages, stats.omitted.tokens)}" if stats.omitted.messages else ""),
        ("flush due", _due(stats)),
        ("flush blocked", "" if stats.flush_blocked is None else FLUSH_REASONS[stats.flush_blocked]),
        ("flushing now", stats.flushing_owner or ""),
        ("last flush", f"{clock_time(stats.last_flush_at)} {stats.last_flush_outcome or ''}".strip()),
        ("created", clock_time(stats.created_at)),
        ("written", clock_time(stats.updated_at)),
        ("expires", clock_time(stats.expires_at) or "never"),
        ("version", stats.version),
        *((f"of {group.name or 'nobody'}", size_of(group.messages, group.tokens)) for group in stats.groups),
        ("of more", "" if stats.groups_complete else "not all was looked at; these are the oldest"),
        *kept,
    ]


def _section_size(stats: MemoryStats, section: str) -> str:
    size = size_of(stats.messages[section], stats.tokens[section])
    return f"{size} of {stats.shares[section]:,}" if section in stats.shares else size


def _listed(listed: ListedMemory, now: datetime) -> tuple[str, ...]:
    stats = listed.stats
    if stats is None:
        return "", "", "", "", "", "", "of a newer version" if listed.newer else "damaged: clear it"
    return (
        f"{sum(stats.messages.values()):,}",
        f"{sum(stats.tokens.values()):,}",
        _share(stats),
        f"{stats.omitted.messages:,}",
        "due" if stats.flush_due else "",
        from_now(stats.updated_at, now),
        from_now(stats.expires_at, now) or "never",
    )


def _due(stats: MemoryStats) -> str:
    if not stats.flush_due:
        return "no"
    return f"yes, since {clock_time(stats.due_since)}" if stats.due_since else "yes"


def _share(stats: MemoryStats) -> str:
    return "" if stats.budget_ratio is None else f"{stats.budget_ratio:.0%}"
