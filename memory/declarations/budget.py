"""From a declaration to numbers: the rules between the fields of a budget, and the limits that follow from them."""

from __future__ import annotations

import math
from typing import Final

from durable_memory.memory.declarations.allocation import allocated_tokens, allocation_problems
from durable_memory.memory.declarations.declaration import Problem
from durable_memory.memory.declarations.durations import to_ms
from durable_memory.memory.declarations.eviction import policy_problems
from durable_memory.memory.declarations.memory_fields import Flushing, MemoryFields
from durable_memory.memory.declarations.shares import written
from durable_memory.memory.limits import RESULT_RESERVE, Limits, Share
from durable_memory.memory.types import LONG_TERM, SHORT_TERM, SYSTEM, Section

DEFAULT_SUMMARY_TOKENS: Final = 350
"""Room for a summary where there is no token budget to take a tenth of."""
MIN_SUMMARY_TOKENS: Final = 16
"""Below it, the line that marks a summary leaves no room for a word, and no flush could ever end. In tokens of an
encoding: where they are estimated, the line has as many more as the factor says."""
DEFAULT_OVERFLOW_FACTOR: Final = 4
MIN_OVERFLOW_FACTOR: Final = 2
"""R15 of docs/protocol.md: a full view and the one message that makes its group too large must fit."""


def problems_between_fields(resource: MemoryFields) -> list[Problem]:
    """Returns every problem that no field has alone."""
    if problems := _model_problems(resource):
        return problems
    if not _has_its_budget(resource):
        return [_missing_budget(resource)]
    flushing, allocation = resource.flushing, resource.token_allocation
    if allocation is not None:
        problems = list(allocation_problems(allocation, resource.token_budget, flushing.type))
        if problems:
            return problems
    problems = [
        *_summary_problems(resource),
        *_overflow_problems(resource),
        *policy_problems(resource.eviction_policy, flushing.type),
    ]
    target, threshold = flushing.target_ratio, flushing.summarize_threshold
    if target >= threshold:
        text = f"must be less than summarize_threshold: {target} is not below {threshold}"
        problems.append(("flushing.target_ratio", text))
    # What keep_first and keep_last must leave room for is only known once the summary's room is right.
    return problems or _keep_problems(resource)


def _model_problems(resource: MemoryFields) -> list[Problem]:
    provider = resource.token_provider
    if provider is None:
        if resource.max_context_ratio is None:
            return []
        return [("max_context_ratio", "needs token_provider with the model whose context window it is a share of")]
    problems = [(f"token_provider.{path}", problem) for path, problem in provider.problems()]
    window = provider.context_window
    if window and resource.max_tokens is not None and resource.max_tokens > window:
        problems.append(
            ("max_tokens", f"is more than the context window of the model: {resource.max_tokens} of {window}")
        )
    if window and resource.max_context_ratio is not None and not resource.token_budget:
        problems.append(("max_context_ratio", f"leaves no token: it is a share of {window}"))
    return problems


def _has_its_budget(resource: MemoryFields) -> bool:
    if resource.type == "token_based":
        return resource.token_budget is not None
    if resource.type == "message_count_based":
        return resource.max_messages is not None
    return resource.token_budget is not None or resource.max_messages is not None


def _missing_budget(resource: MemoryFields) -> Problem:
    if resource.type == "token_based":
        return "max_tokens", "is missing; a token_based memory needs it, or max_context_ratio"
    if resource.type == "message_count_based":
        return "max_messages", "is missing; a message_count_based memory needs it"
    return "max_tokens", "is missing; a buffer needs max_tokens (or max_context_ratio), max_messages, or both"


def _summary_problems(resource: MemoryFields) -> list[Problem]:
    if not _summarizes(resource):
        if resource.flushing.summary_tokens is None:
            return []
        return [
            ("flushing.summary_tokens", f"has no effect where flushing.type is {resource.flushing.type}; remove it")
        ]
    problems: list[Problem] = []
    room = summary_tokens_of(resource)
    if resource.token_budget is not None and room >= resource.token_budget:
        text = f"leaves no room for messages: {room} of {resource.token_budget} tokens are for summaries"
        problems.append((_path_of_room(resource), text))
    elif (share := _allocated(resource).get(LONG_TERM)) is not None and room >= share:
        text = f"must be less than the share of summaries: {room} is not below the {share} tokens of long_term"
        problems.append((_path_of_room(resource), text))
    elif room < (least := _least_summary_tokens(resource)):
        text = f"leaves {room} tokens for summaries; they need {least} at least"
        if resource.flushing.summary_tokens is None:
            part = "a tenth of it is" if share is None else "half of it at most is"
            text = f"{text}: raise it ({part} for summaries), or write flushing.summary_tokens"
        problems.append((_path_of_room(resource), text))
    if resource.max_messages == 1:
        text = "must be at least 2 where flushing.type is hybrid_summary: one is the summary"
        problems.append(("max_messages", text))
    return problems


def _least_summary_tokens(resource: MemoryFields) -> int:
    factor = None if resource.token_provider is None else resource.token_provider.counting.factor
    return max(MIN_SUMMARY_TOKENS, math.ceil(written(factor or 1.0) * MIN_SUMMARY_TOKENS))


def _path_of_room(resource: MemoryFields) -> str:
    """Returns the field that decides how many tokens summaries have."""
    if resource.flushing.summary_tokens is not None:
        return "flushing.summary_tokens"
    return _path_of_budget(resource) if resource.token_allocation is None else "token_allocation.long_term"


def _path_of_budget(resource: MemoryFields) -> str:
    """Returns the field that decides how many tokens the memory has."""
    return "max_tokens" if resource.token_budget == resource.max_tokens else "max_context_ratio"


def _overflow_problems(resource: MemoryFields) -> list[Problem]:
    problems: list[Problem] = []
    for name, limit, applies, other in (
        ("max_tokens", resource.token_budget, resource.token_budget is not None, "max_messages"),
        ("max_messages", resource.max_messages, resource.token_budget is None, "max_tokens"),
    ):
        given = getattr(resource.overflow, name)
        path = f"overflow.{name}"
        if given is None:
            continue
        if not _summarizes(resource):
            problems.append(
                (path, f"has no effect where flushing.type is {resource.flushing.type}: nothing waits there; remove it")
            )
        elif not applies:
            why = "the memory has no max_tokens" if name == "max_tokens" else "the memory has max_tokens"
            problems.append((path, f"has no effect, since {why}; write overflow.{other}"))
        elif limit is not None and given < MIN_OVERFLOW_FACTOR * limit:
            problems.append((path, f"must be at least twice {name}: {given} is less than 2 * {limit}"))
    return problems


def _keep_problems(resource: MemoryFields) -> list[Problem]:
    flushing = resource.flushing
    kept = flushing.keep_first + flushing.keep_last
    limits = compute_limits(resource)
    path = "flushing.keep_last" if flushing.keep_last >= flushing.keep_first else "flushing.keep_first"
    tokens = limits.room_tokens if not limits.shares else limits.share_of(SHORT_TERM)
    for room, unit in ((limits.room_messages, "messages"), (tokens, "tokens")):
        # A group has at least one message and one token, so what is kept must be fewer than fit.
        if room is not None and kept >= room:
            holder = "section short_term" if limits.shares and unit == "tokens" else "the memory"
            text = (
                f"does not fit: keep_first and keep_last keep {kept} groups from being flushed, and {holder} holds "
                f"{room} {unit}{' beside its summary' if _summarizes(resource) else ''}"
            )
            if path.removeprefix("flushing.") not in flushing.model_fields_set:
                text = f"{text}; keep_last is {flushing.keep_last} where nothing is written"
            return [(path, text)]
    return []


def _summarizes(resource: MemoryFields) -> bool:
    return resource.flushing.strategy == "hybrid_summary"


def summary_tokens_of(resource: MemoryFields) -> int:
    """Returns the tokens that are kept free for summaries where there are any, whether or not other fields fit them."""
    if resource.flushing.summary_tokens is not None:
        return resource.flushing.summary_tokens
    if resource.token_budget is None:
        return DEFAULT_SUMMARY_TOKENS
    tenth = max(1, resource.token_budget // 10)
    share = _allocated(resource).get(LONG_TERM)
    return tenth if share is None else min(tenth, share // 2)


def _allocated(resource: MemoryFields) -> dict[Section, int]:
    return allocated_tokens(resource.token_allocation, resource.token_budget)


def _overflow(given: int | None, limit: int | None) -> int | None:
    if given is not None:
        return given
    return None if limit is None else DEFAULT_OVERFLOW_FACTOR * limit


def _due(flushing: Flushing, room: int | None) -> int | None:
    return None if room is None else max(1, math.ceil(written(flushing.summarize_threshold) * room))


def _target(flushing: Flushing, room: int | None) -> int | None:
    return None if room is None else math.floor(written(flushing.target_ratio) * room)


def _share_of(resource: MemoryFields, section: Section, tokens: int) -> Share:
    if resource.type == "message_count_based" or section in {SYSTEM, LONG_TERM}:
        return Share(section, tokens)
    flushing = resource.flushing
    return Share(section, tokens, due_tokens=_due(flushing, tokens), target_tokens=_target(flushing, tokens))


def compute_limits(resource: MemoryFields) -> Limits:
    """Returns the absolute numbers of a resource whose fields fit each other.

    Thresholds and targets are shares of what messages may fill, which is the budget less the summary's room, or what
    each section of a divided budget may fill. They exist for the fill that the memory's type watches.
    """
    summarize = _summarizes(resource)
    summary_tokens = summary_tokens_of(resource) if summarize else 0
    flushing = resource.flushing
    room_tokens = None if resource.token_budget is None else resource.token_budget - summary_tokens
    room_messages = None if resource.max_messages is None else resource.max_messages - summarize
    watched_tokens = None if resource.type == "message_count_based" or resource.token_allocation else room_tokens
    watched_messages = None if resource.type == "token_based" else room_messages

    by_messages = summarize and resource.token_budget is None
    return Limits(
        max_tokens=resource.token_budget,
        max_messages=resource.max_messages,
        summarize=summarize,
        summary_tokens=summary_tokens,
        overflow_tokens=_overflow(resource.overflow.max_tokens, resource.token_budget) if summarize else None,
        overflow_messages=_overflow(resource.overflow.max_messages, resource.max_messages) if by_messages else None,
        due_tokens=_due(flushing, watched_tokens),
        due_messages=_due(flushing, watched_messages),
        target_tokens=_target(flushing, watched_tokens),
        target_messages=_target(flushing, watched_messages),
        oldest_share=flushing.summarize_oldest_percent,
        keep_first=flushing.keep_first,
        keep_last=flushing.keep_last,
        policy=resource.policy,
        open_group_ms=to_ms(resource.open_group_ttl),
        ttl_ms=None if resource.ttl is None else to_ms(resource.ttl),
        lease_ms=to_ms(resource.locking.flush_ttl),
        refresh_on_read=resource.persistence.refresh_on_read,
        shares=tuple(_share_of(resource, section, tokens) for section, tokens in _allocated(resource).items()),
        result_reserve=RESULT_RESERVE if resource.oversize == "truncate" else 0,
    )
