"""What the flush scripts answer, as results and typed errors."""

from __future__ import annotations

from typing import Final, cast

from durable_memory.memory.stores.redis import replies, reply_errors
from durable_memory.memory.stores.values import Batch, BatchPage, Begun, Stopped
from durable_memory.memory.types import FlushOutcome, FlushReason, FlushResult

_STOPPED: Final[tuple[Stopped, ...]] = ("gone", "stale")


@reply_errors.of_stored
def begun(resource: str, reply: bytes, flush_id: str) -> Begun:
    """Reads the answer to begin."""
    words = reply.decode().split(" ", 6)
    match words:
        case ["batch", incarnation, fence, messages, tokens, summary_max, batch_id]:
            return Batch(incarnation, int(fence), flush_id, batch_id, int(messages), int(tokens), int(summary_max))
        case ["done", *_]:
            return _committed(reply)
        case ["gone"]:
            return FlushResult("gone")
        case ["busy", milliseconds]:
            return FlushResult("busy", retry_after_ms=int(milliseconds))
        case ["nothing", reason, tokens, messages, due]:
            return FlushResult(
                "nothing",
                reason=cast("FlushReason", reason),
                tokens_before=int(tokens),
                tokens_after=int(tokens),
                messages_before=int(messages),
                messages_after=int(messages),
                flush_due=due == "1",
            )
        case _:
            raise reply_errors.refusal_of(resource, words)


@reply_errors.of_stored
def planned(resource: str, reply: bytes) -> FlushResult:
    """Reads the answer to plan."""
    words = reply.decode().split(" ")
    if words[0] != "plan":
        begun_nothing = begun(resource, reply, "")
        if isinstance(begun_nothing, FlushResult):
            return begun_nothing
        raise reply_errors.damaged(resource, "a script gave an unknown answer")
    _, due, incarnation, before, after, messages_before, messages_after, names = words
    return FlushResult(
        "planned",
        removed_ids=_ids(incarnation, names),
        tokens_before=int(before),
        tokens_after=int(after),
        messages_before=int(messages_before),
        messages_after=int(messages_after),
        flush_due=due == "1",
    )


def stopped(resource: str, reply: bytes) -> Stopped | None:
    """Reads the answer to draft and fail."""
    word = reply.decode()
    if word in _STOPPED:
        return word
    if word != "ok":
        raise reply_errors.refusal_of(resource, [word])
    return None


@reply_errors.of_stored
def batch_page(_resource: str, reply: bytes) -> BatchPage | Stopped:
    """Reads the answer to content."""
    head, _, rest = reply.partition(b"\n")
    words = head.decode().split(" ")
    if words[0] in _STOPPED:
        return words[0]
    _, following, incarnation, *seqs = words
    lengths, _, texts = rest.partition(b"\n")
    return BatchPage(
        replies.entries_of(incarnation, seqs, lengths, texts), None if following == "-1" else int(following)
    )


@reply_errors.of_stored
def committed(resource: str, reply: bytes) -> FlushResult:
    """Reads the answer to commit."""
    words = reply.decode().split(" ")
    if words[0] in replies.APPLIED:
        return _committed(reply)
    if words[0] in _STOPPED:
        return FlushResult(words[0])
    raise reply_errors.refusal_of(resource, words)


def _committed(reply: bytes) -> FlushResult:
    word, due, incarnation, summary, before, after, messages_before, messages_after, names = reply.decode().split(" ")
    return FlushResult(
        "committed",
        removed_ids=_ids(incarnation, names),
        summary_id=f"{incarnation}-{summary}",
        tokens_before=int(before),
        tokens_after=int(after),
        messages_before=int(messages_before),
        messages_after=int(messages_after),
        flush_due=due == "1",
        already_applied=word != "ok",
    )


@reply_errors.of_stored
def dropped(resource: str, reply: bytes) -> FlushResult:
    """Reads the answer to drop."""
    words = reply.decode().split(" ")
    if words[0] not in replies.APPLIED:
        raise reply_errors.refusal_of(resource, words)
    _, due, outcome, reason, before, after, messages_before, messages_after, incarnation, names = words
    return FlushResult(
        cast("FlushOutcome", outcome),
        reason=None if reason == "-" else cast("FlushReason", reason),
        removed_ids=_ids(incarnation, names),
        tokens_before=int(before),
        tokens_after=int(after),
        messages_before=int(messages_before),
        messages_after=int(messages_after),
        flush_due=due == "1",
        already_applied=words[0] == "again",
    )


def _ids(incarnation: str, names: str) -> tuple[str, ...]:
    return tuple(f"{incarnation}-{name}" for name in names.split(",") if name)
