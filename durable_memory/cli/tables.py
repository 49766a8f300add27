"""The tables that people see: results of commands, in words and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from durable_memory.cli.table import LongTable, Table, facts, listing
from durable_memory.memory.stores.values import ABSENT
from durable_memory.memory.types import (
    TOOK_OUT,
    AgentContext,
    AppendResult,
    ClearResult,
    DeleteResult,
    FlushOutcome,
    FlushReason,
    FlushResult,
    ImportResult,
    ListedMemory,
    ListedPage,
    MemoryHealth,
    MemoryStats,
    Message,
    PurgeResult,
    View,
)

_LISTED_IDS = 5
_REPEATED = "this operation id was applied before; nothing changed"

_REASONS: Final[Mapping[FlushOutcome | FlushReason, str]] = {
    "gone": "there is no such memory, or no longer",
    "stale": "the memory was cleared, expired or replaced meanwhile; nothing was written",
    "busy": "another flush is at work, or the last one failed a moment ago; for that --force does not wait",
    "below_threshold": "below the threshold; --force flushes anyway",
    "pinned": "system and pinned messages are all there is",
    "keep": "keep_first and keep_last keep all there is",
    "max_messages": "the next group alone has more messages than --max-messages",
}


def append_table(resource: str, key: str, result: AppendResult) -> Table:
    """The answer to an append."""
    rows = [
        ("appended", counted(len(result.ids), "message")),
        ("not kept", counted(result.dropped, "message") if result.dropped else ""),
        ("already", _REPEATED if result.already_applied else ""),
        ("id" if len(result.ids) == 1 else "ids", _ids(result.ids)),
        ("view now", _size(result.messages, result.tokens)),
        ("evicted", counted(result.evicted, "message") if result.evicted else ""),
        ("late results", counted(result.late, "message") if result.late else ""),
        ("flush due", "yes" if result.flush_due else ""),
    ]
    return facts(f"{resource}  {key}", _filled(rows))


def view_table(resource: str, key: str, view: View, project: str) -> Table:
    """What an agent reads."""
    if view.version == ABSENT:
        return facts(f"{resource}  {key}", [_no_memory(project)])
    waiting = f", {counted(view.omitted.messages, 'message')} waiting for a summary" if view.omitted.messages else ""
    rows = (
        (message.section or "", f"{_speaker(message)}{_rank(message)}", f"{message.tokens:,}", _said(message))
        for message in view.messages
    )
    return listing(
        f"{resource}  {key}",
        ("section", "role", "tokens", "message"),
        rows,
        numbers=("tokens",),
        caption=f"{_size(len(view.messages), view.tokens)}{waiting}, version {view.version}",
    )


def context_table(agent: str, context: AgentContext) -> Table:
    """What an agent's memories give to a model call."""
    rows = ((_speaker(message), f"{message.tokens or 0:,}", _said(message)) for message in context.messages)
    parts = "; ".join(f"{one.label}: {_size(one.messages, one.tokens)}" for one in context.memories)
    return listing(
        agent,
        ("role", "tokens", "message"),
        rows,
        numbers=("tokens",),
        caption=f"{context.tokens:,} tokens. {parts}",
    )


def stats_table(resource: str, key: str, stats: MemoryStats, project: str) -> Table:
    """The counters of a memory."""
    return facts(f"{resource}  {key}", _filled(_stats_rows(stats, project)))


def health_table(resource: str, key: str, health: MemoryHealth, project: str) -> Table:
    """Whether a memory can do its work."""
    absent = health.healthy and health.stats is not None and not health.stats.exists
    rows = [] if absent else [("healthy", "yes" if health.healthy else "no")]
    rows += [("problem", problem) for problem in health.problems]
    rows += [("warning", warning) for warning in health.warnings]
    if health.answer_us is not None:
        rows.append(("store answers in", f"{health.answer_us / 1000:.1f} ms"))
    if health.stats is not None:
        rows += _stats_rows(health.stats, project)
    return facts(f"{resource}  {key}", _filled(rows))


def delete_table(resource: str, key: str, result: DeleteResult) -> Table:
    """What a delete removed."""
    rows = [
        ("already", _REPEATED if result.already_applied else ""),
        ("removed", _ids(result.removed) if result.removed else "nothing"),
        ("not there", "\n".join(result.not_found)),
        *(("in a summary", f"{covered}: delete the summary {summary}") for covered, summary in result.covered.items()),
    ]
    return facts(f"{resource}  {key}", _filled(rows))


def flush_table(resource: str, key: str, result: FlushResult) -> Table:
    """What a flush did."""
    would = result.outcome == "planned"
    changed = would or result.outcome in TOOK_OUT
    rows = [
        ("outcome", result.outcome),
        ("reason", _REASONS.get(result.reason or result.outcome, result.reason or "")),
        ("would take out" if would else "taken out", counted(len(result.removed_ids), "message") if changed else ""),
        ("summary", result.summary_id or ""),
        ("view before", _size(result.messages_before, result.tokens_before) if changed else ""),
        (
            "view then, at most" if would else "view now",
            _size(result.messages_after, result.tokens_after) if changed else "",
        ),
        ("free in", f"{result.retry_after_ms:,} ms" if result.retry_after_ms else ""),
        ("flush due", "yes" if result.flush_due else ""),
    ]
    return facts(f"{resource}  {key}", _filled(rows))


def clear_table(resource: str, key: str, result: ClearResult) -> Table:
    """What a clear removed."""
    rows = [("removed", counted(result.cleared, "message")), ("backup", result.backup_id or "")]
    return facts(f"{resource}  {key}", _filled(rows))


def restore_table(resource: str, key: str, result: AppendResult) -> Table:
    """What a restore brought back."""
    rows = [
        ("already", _REPEATED if result.already_applied else ""),
        ("replaced", counted(result.removed, "message") if result.removed else ""),
        ("view now", _size(result.messages, result.tokens)),
        ("flush due", "yes" if result.flush_due else ""),
    ]
    return facts(f"{resource}  {key}", _filled(rows))


def pin_table(resource: str, key: str, word: str, live: Sequence[str], missing: Sequence[str]) -> Table:
    """Which messages a pin or an unpin found. word: `pinned` or `unpinned`."""
    rows = [(word, _ids(live) if live else "none"), ("not in the view", _ids(missing) if missing else "")]
    return facts(f"{resource}  {key}", _filled(rows))


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
    return ((each.resource, each.key, *_listed(each, now)) for each in memories)


_NUMBERS_OF_MEMORIES = ("messages", "tokens", "budget", "waiting")
_OF_MEMORIES = ("resource", "key", *_NUMBERS_OF_MEMORIES, "flush", "written", "expires")


def purge_table(title: str, result: PurgeResult) -> Table:
    """What a purge removed, or would remove."""
    verb = "would be removed" if result.dry_run else "removed"
    backups = f", {counted(result.backups, 'backup')}" if result.backups else ""
    removed = f"{counted(result.memories, 'memory')}, {counted(result.messages, 'message')}{backups}"
    return facts(title, [(verb, removed)])


def import_table(file: str, result: ImportResult) -> Table:
    """What an import did."""
    rows = [
        ("appended", counted(result.messages, "message")),
        ("before", f"{counted(result.already, 'message')} by an earlier run" if result.already else ""),
        ("summaries", f"{result.summaries:,} are ordinary messages now" if result.summaries else ""),
        ("evicted", counted(result.evicted, "message") if result.evicted else ""),
        *((f"line {one.line}", f"{one.type}: {one.problem}") for one in result.problems),
        ("more", counted(result.faults - len(result.problems), "line") if result.faults > len(result.problems) else ""),
    ]
    return facts(f"import of {file}", _filled(rows))


def counted(number: int, unit: str) -> str:
    """Returns a number with its unit, which is given in the singular."""
    if number == 1:
        return f"1 {unit}"
    return f"{number:,} {unit[:-1]}ies" if unit.endswith("ry") else f"{number:,} {unit}s"


def _no_memory(project: str) -> tuple[str, str]:
    # A memory that was written and is not found is most often in another project.
    return "memory", f"there is no memory under this key in project {project!r} (--project, DURABLE_MEMORY_PROJECT)"


def _stats_rows(stats: MemoryStats, project: str) -> list[tuple[str, str]]:
    kept = [
        ("backup", f"{one.id}: {counted(one.messages, 'message')}, until {_time(one.ends_at)}") for one in stats.backups
    ]
    if not stats.exists:
        return [_no_memory(project), *kept]
    messages, tokens = sum(stats.messages.values()), sum(stats.tokens.values())
    limits = [
        counted(limit, unit) for limit, unit in ((stats.max_messages, "message"), (stats.max_tokens, "token")) if limit
    ]
    return [
        ("view", _size(messages, tokens)),
        ("budget", f"{', '.join(limits)}{f'; {share} of the tokens used' if (share := _share(stats)) else ''}"),
        *((section, _section_size(stats, section)) for section in stats.messages),
        ("waiting", f"{_size(stats.omitted.messages, stats.omitted.tokens)}" if stats.omitted.messages else ""),
        ("flush due", _due(stats)),
        ("flush blocked", "" if stats.flush_blocked is None else _REASONS[stats.flush_blocked]),
        ("flushing now", stats.flushing_owner or ""),
        ("last flush", f"{_time(stats.last_flush_at)} {stats.last_flush_outcome or ''}".strip()),
        ("created", _time(stats.created_at)),
        ("written", _time(stats.updated_at)),
        ("expires", _time(stats.expires_at) or "never"),
        ("version", stats.version),
        *((f"of {group.name or 'nobody'}", _size(group.messages, group.tokens)) for group in stats.groups),
        ("of more", "" if stats.groups_complete else "not all was looked at; these are the oldest"),
        *kept,
    ]


def _section_size(stats: MemoryStats, section: str) -> str:
    size = _size(stats.messages[section], stats.tokens[section])
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
        _from_now(stats.updated_at, now),
        _from_now(stats.expires_at, now) or "never",
    )


def _filled(rows: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    return ((name, value) for name, value in rows if value)


def _ids(ids: Sequence[str]) -> str:
    return "\n".join(ids) if len(ids) <= _LISTED_IDS else f"{ids[0]} to {ids[-1]}"


def _size(messages: int, tokens: int) -> str:
    return f"{counted(messages, 'message')}, {counted(tokens, 'token')}"


def _due(stats: MemoryStats) -> str:
    if not stats.flush_due:
        return "no"
    return f"yes, since {_time(stats.due_since)}" if stats.due_since else "yes"


def _share(stats: MemoryStats) -> str:
    return "" if stats.budget_ratio is None else f"{stats.budget_ratio:.0%}"


def _time(moment: datetime | None) -> str:
    return "" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _from_now(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    seconds = abs((moment - now).total_seconds())
    size, unit = next(((size, unit) for size, smaller, unit in _UNITS if seconds >= size - smaller / 2), (1, "s"))
    distance = f"{round(seconds / size)}{unit}"
    return f"in {distance}" if moment > now else f"{distance} ago"


_UNITS = ((86_400, 3_600, "d"), (3_600, 60, "h"), (60, 1, "m"))
"""Seconds of a unit and of the next smaller one: what rounds to a whole unit is said in it."""


def _speaker(message: Message) -> str:
    names = dict.fromkeys(name for name in (message.agent, message.name) if name)
    return f"{message.role} ({', '.join(names)})" if names else message.role


def _rank(message: Message) -> str:
    pinned = ", pinned" if message.pinned else ""
    return pinned if message.priority == "normal" else f"{pinned}, {message.priority}"


def _said(message: Message) -> str:
    parts = [message.content] if isinstance(message.content, str) else [_part(part) for part in message.content or ()]
    if message.tool_call_id:
        parts.insert(0, f"[{message.tool_call_id}]")
    parts += [f"→ {call.name}({call.arguments}) [{call.id}]" for call in message.tool_calls]
    return "\n".join(part for part in parts if part)


def _part(part: Mapping[str, Any]) -> str:
    return str(part["text"]) if part.get("type") == "text" and "text" in part else f"[{part.get('type', 'part')}]"
