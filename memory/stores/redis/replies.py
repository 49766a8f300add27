"""What the scripts answer, as results: the one place that reads them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, cast

from durable_memory.memory.errors import MemoryDamaged
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.redis.arguments import LETTERS, PINNED_MARKS
from durable_memory.memory.stores.redis.forms import STATS, StatsReply
from durable_memory.memory.stores.redis.link import Reply
from durable_memory.memory.stores.redis.reply_errors import of_stored, refusal_of
from durable_memory.memory.stores.values import (
    ABSENT_VIEW,
    Erased,
    ScanPage,
    StoredEntry,
    StoredView,
    absent_stats,
)
from durable_memory.memory.types import (
    AppendResult,
    Backup,
    ClearResult,
    DeleteResult,
    FlushReason,
    MemoryStats,
    Omitted,
    Section,
)

APPLIED: Final = ("ok", "again")
"""How the answer of an operation begins that was applied now, or before by another attempt."""

_SECTIONS: Final[dict[str, Section]] = {letter: section for section, letter in LETTERS.items()}
_PINNED: Final = frozenset(PINNED_MARKS)


@of_stored
def appended(resource: str, reply: bytes, tag: str, count: int, wanted: str | None = None) -> AppendResult:
    """Reads the answer to append and write of `count` messages, or to restore."""
    words = reply.decode().split(" ")
    if words[0] == "ok":
        _, incarnation, first, version, tokens, messages, due, evicted, *unusual = words
        late, created, removed = unusual or ("0", "0", "0")
        return AppendResult(
            ids=_new_ids(incarnation, int(first), count, tag),
            version=f"{incarnation}:{version}:{tag}",
            tokens=int(tokens),
            messages=int(messages),
            evicted=int(evicted),
            late=int(late),
            flush_due=due == "1",
            removed=int(removed),
            created=created == "1",
        )
    if words[0] == "again":
        _, incarnation, first, applied, version, tokens, messages, due = words
        return AppendResult(
            ids=_new_ids(incarnation, int(first), int(applied), tag),
            version=version,
            tokens=int(tokens),
            messages=int(messages),
            flush_due=due == "1",
            already_applied=True,
        )
    raise refusal_of(resource, words, wanted)


def tried(resource: str, reply: bytes) -> None:
    """Raises the refusal that an append would meet; `fits` is none."""
    if reply != b"fits":
        raise refusal_of(resource, reply.decode().split(" "))


def _new_ids(incarnation: str, first: int, count: int, tag: str) -> tuple[str, ...]:
    return tuple([f"{incarnation}-{seq}-{tag}" for seq in range(first, first + count)])


def _records(lengths: bytes, texts: bytes) -> Iterator[str]:
    """Cuts what travelled as one text. Bytes of ASCII are decoded at once, others can only be cut as bytes."""
    text = texts.decode() if texts.isascii() else None
    start = 0
    for length in map(int, lengths.split()):
        end = start + length
        yield texts[start:end].decode() if text is None else text[start:end]
        start = end


def entries_of(origin: str, seqs: Sequence[str], lengths: bytes, texts: bytes) -> tuple[StoredEntry, ...]:
    """Reads records: `<section><mark><tag><tokens> <link> <payload>` each.

    origin: the incarnation and, behind commas, what the letters of user-defined sections stand for.
    """
    incarnation, *names = origin.split(",")
    sections = {**_SECTIONS, **{name[0]: name[2:] for name in names}} if names else _SECTIONS
    entries = []
    for seq, record in zip(seqs, _records(lengths, texts), strict=True):
        head, _, payload = record.split(" ", 2)
        entries.append(
            StoredEntry(
                f"{incarnation}-{seq}-{head[2:6]}", payload, sections[head[0]], int(head[6:]), head[1] in _PINNED
            )
        )
    return tuple(entries)


@of_stored
def view(resource: str, reply: bytes, max_tokens: int | None) -> StoredView:
    """Reads the answer to read."""
    head, _, rest = reply.partition(b"\n")
    words = head.decode().split(" ")
    if words[0] == "absent":
        return ABSENT_VIEW
    if words[0] == "before":
        raise refusals.before_unknown(resource)
    if words[0] == "small":
        raise refusals.budget_too_small(resource, int(words[1]), max_tokens or 0)
    _, incarnation, version, omitted_messages, omitted_tokens, due, order, *seqs = words
    lengths, _, texts = rest.partition(b"\n")
    entries = entries_of(incarnation, seqs, lengths, texts)
    if order == "back":
        entries = entries[::-1]
    return StoredView(
        entries,
        sum([one.tokens for one in entries]),
        version,
        int(omitted_messages),
        int(omitted_tokens),
        flush_due=due == "1",
    )


@of_stored
def pinned(resource: str, reply: bytes, ids: Sequence[str]) -> tuple[str, ...]:
    """Reads the answer to pin."""
    words = reply.decode().split(" ")
    if words[0] != "ok":
        raise refusal_of(resource, words)
    return tuple(ids[int(position)] for position in words[1:] if position)


@of_stored
def deleted(resource: str, reply: bytes, ids: Sequence[str]) -> DeleteResult:
    """Reads the answer to delete."""
    word, _, rest = reply.decode().partition(" ")
    if word not in APPLIED:
        raise refusal_of(resource, [word])
    incarnation, removed, missing, covered = rest.split("|")
    return DeleteResult(
        removed=tuple(f"{incarnation}-{name}" for name in removed.split()),
        not_found=tuple(ids[int(position)] for position in missing.split()),
        covered={
            ids[int(position)]: f"{incarnation}-{name}"
            for position, _, name in (one.partition("=") for one in covered.split())
        },
        already_applied=word == "again",
    )


@of_stored
def cleared(resource: str, reply: bytes, wanted: str | None) -> ClearResult:
    """Reads the answer to clear."""
    words = reply.decode().split(" ")
    if words[0] not in APPLIED:
        raise refusal_of(resource, words, wanted)
    word, cleared, backup = words
    return ClearResult(int(cleared), None if backup == "-" else backup, already_applied=word == "again")


@of_stored
def erased(resource: str, reply: bytes) -> Erased:
    """Reads the answer to erase."""
    words = reply.decode().split(" ")
    if words[0] != "ok":
        raise refusal_of(resource, words)
    _, version, messages, backups, kept = words
    existed = version != "-"
    return Erased(existed, version if existed else None, int(messages), int(backups), kept == "1")


@of_stored
def found(_resource: str, reply: bytes) -> tuple[StoredEntry, ...]:
    """Reads the answer to find."""
    if not reply:
        return ()
    head, _, rest = reply.partition(b"\n")
    incarnation, *seqs = head.decode().split(" ")
    lengths, _, texts = rest.partition(b"\n")
    return entries_of(incarnation, seqs, lengths, texts)


def of_backup(resource: str, reply: bytes) -> tuple[StoredEntry, ...]:
    """Reads the messages of a backup that restore has looked at."""
    try:
        return found(resource, reply)
    except MemoryDamaged:
        raise refusals.backup_damaged(resource) from None


@of_stored
def scanned(_resource: str, reply: bytes, stage: str) -> ScanPage:
    """Reads the answer to scan. stage: `s` for summaries, which come first, `r` for the rest."""
    if not reply:
        return ScanPage((), "", None)
    head, _, rest = reply.partition(b"\n")
    origin, last, *seqs = head.decode().split(" ")
    lengths, _, texts = rest.partition(b"\n")
    found = entries_of(origin, [seq.removesuffix("w") for seq in seqs], lengths, texts)
    entries = tuple((entry, seq.endswith("w")) for entry, seq in zip(found, seqs, strict=True))
    following = "r:0" if stage == "s" else None
    return ScanPage(entries, origin.partition(",")[0], following if last == "-" else f"{stage}:{last}")


@of_stored
def stats(_resource: str, reply: Reply, limits: Limits) -> MemoryStats:
    """Reads the answer to stats."""
    kept, values = _backups(reply[0]), reply[1:]
    if not values:
        return replace(absent_stats(limits), backups=kept)
    answered, sums = StatsReply(*values[: len(STATS)]), values[len(STATS) :]
    return MemoryStats(
        exists=True,
        version=answered.version.decode(),
        tokens=dict(zip(limits.sections, sums[::2], strict=True)),
        messages=dict(zip(limits.sections, sums[1::2], strict=True)),
        omitted=Omitted(answered.waiting_messages, answered.waiting_tokens),
        max_tokens=limits.max_tokens,
        max_messages=limits.max_messages,
        flush_due=answered.flush_due == 1,
        flush_blocked=cast("FlushReason | None", answered.blocked.decode() or None),
        flushing_owner=answered.flushing_owner.decode() or None,
        last_flush_at=_instant(answered.flush_at),
        last_flush_outcome=answered.flush_outcome.decode() or None,
        created_at=_instant(answered.created_at),
        updated_at=_instant(answered.updated_at),
        expires_at=_instant(answered.expires_at),
        due_since=_instant(answered.due_at) if answered.flush_due == 1 else None,
        shares=limits.share_tokens,
        backups=kept,
    )


def _backups(listed: Sequence[bytes]) -> tuple[Backup, ...]:
    found = []
    for backup_id, words in zip(listed[::2], listed[1::2], strict=True):
        created, ends, messages = map(int, words.split())
        found.append((created, Backup(backup_id.decode(), messages, _time(created), _time(ends))))
    return tuple(backup for _, backup in sorted(found, key=lambda one: one[0]))


def _time(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def _instant(milliseconds: int) -> datetime | None:
    return _time(milliseconds) if milliseconds else None
