"""The errors that scripts stand for: what they refuse, what they find damaged, and what fails inside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Concatenate, Final, ParamSpec, TypeVar

from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged, MemoryFault, MemoryUnavailable
from durable_memory.memory.limits import Room
from durable_memory.memory.stores import refusals
from durable_memory.memory.stores.redis.keys import KeySet
from durable_memory.memory.stores.values import ABSENT, MOST_OPEN

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")

_UNREADABLE: Final = "a stored value has an unexpected form"

_BY_DATA: Final = ("DAMAGED", "WRONGTYPE")
_IN_SCRIPT: Final = "user_script:"
"""Names the line of a script that failed: it met data that no script of ours leaves behind."""
_STOPPED: Final = "Script killed"
_LACKING: Final = ("Unknown Redis command", "Invalid command passed to redis.acl_check_cmd")
"""What a script meets on a server where a command was renamed, or that never had it."""


def refusal_of(  # noqa: C901, PLR0911, PLR0912 - a table
    resource: str, words: Sequence[str], wanted: str | None = None
) -> MemoryFault:
    """Returns the error that a script's refusal stands for."""
    match words:
        case ["denied"]:
            return refusals.access_denied(resource)
        case ["expired"]:
            return refusals.operation_expired(resource)
        case ["reused"]:
            return refusals.operation_id_reused(resource)
        case ["operations"]:
            return refusals.too_many_operations(resource, MOST_OPEN)
        case ["conflict", version]:
            return refusals.version_conflict(resource, version, wanted or ABSENT)
        case ["message", position, tokens, limit, for_summaries, *section]:
            return refusals.message_too_large(
                resource, int(position), int(tokens), Room(int(limit), *section), for_summaries=int(for_summaries)
            )
        case ["group", position, "tokens", actual, limit, waiting, *section]:
            return refusals.group_too_large(
                resource, int(position), "tokens", int(actual), Room(int(limit), *section), waiting=int(waiting)
            )
        case ["group", position, unit, actual, limit]:
            return refusals.group_too_large(resource, int(position), unit, int(actual), Room(int(limit)))
        case ["pinned", unit, actual, limit, *section]:
            return refusals.pinned_too_large(resource, unit, int(actual), Room(int(limit), *section))
        case ["parts", unit, actual, limit]:
            return refusals.append_too_large(resource, unit, int(actual), int(limit))
        case ["full", unit, waiting, arriving, limit]:
            return refusals.overflow_full(resource, unit, int(waiting), int(arriving), int(limit))
        case ["unseen", position]:
            return refusals.call_never_seen(resource, int(position))
        case ["answered", position]:
            return refusals.call_already_answered(resource, int(position))
        case ["backup"]:
            return refusals.backup_unknown(resource)
        case ["lost"]:
            return refusals.backup_damaged(resource)
        case ["empty"]:
            return refusals.summary_missing(resource)
        case ["large", tokens, limit]:
            return refusals.summary_too_large(resource, int(tokens), int(limit))
        case _:
            return damaged(resource, "a script gave an unknown answer")


def damaged(resource: str, what: str) -> MemoryDamaged:
    """What stands in Redis is not what the scripts left there."""
    return MemoryDamaged(
        f"{resource}: {what}; something evicted or changed keys of this memory (check maxmemory-policy); clear it"
    )


def of_stored(
    read: Callable[Concatenate[str, _Given], _Result],
) -> Callable[Concatenate[str, _Given], _Result]:
    """Lets a reader of answers say which resource is damaged, where a stored value has no form that it knows."""

    @wraps(read)
    def reading(resource: str, /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Result:
        try:
            return read(resource, *args, **kwargs)
        except (ValueError, LookupError, OverflowError):
            # Without the cause: its text may repeat the content.
            raise damaged(resource, _UNREADABLE) from None

    return reading


def index_damaged(keys: KeySet) -> MemoryDamaged:
    """What stands where a project keeps what is of all its memories is not what the scripts left there.

    keys: those that the script was given, which name the project and a resource, and no memory.
    """
    names = ", ".join(name.decode() for name in keys.names)
    return MemoryDamaged(
        f"something evicted or changed a key of this project (check maxmemory-policy); look at {names}: remove a key "
        f"of the wrong type; of any other key remove only the entry that is wrong; an owner that goes with it is noted "
        f"again only when it writes"
    )


def failure_of(resource: str, error: Exception) -> MemoryFault:
    """Returns what it means that a script of ours failed on the data of a memory, or was not run to its end."""
    kind, _, text = str(error).partition(" ")
    if kind == "NEWER":
        return MemoryContractTooNew(
            f"{resource}: this memory was written by a newer version of the product; a newer worker will answer"
        )
    # The server adds where in the script it happened.
    what = text.partition(" script:")[0] if kind == "DAMAGED" else _UNREADABLE
    return _not_run(error) or damaged(resource, what)


def index_failure_of(error: Exception, keys: KeySet) -> MemoryFault:
    """Returns the same of a script on keys of a project."""
    return _not_run(error) or index_damaged(keys)


def _not_run(error: Exception) -> MemoryUnavailable | None:
    """Returns the error of a script that met no data of a strange form: it was stopped, or not even started."""
    text = str(error)
    if _STOPPED in text:
        return MemoryUnavailable("Redis was told to stop a script (SCRIPT KILL), which has changed nothing")
    if any(lacking in text for lacking in _LACKING):
        return MemoryUnavailable("Redis lacks a command that scripts need: none of its commands may be renamed")
    if text.startswith(_BY_DATA) or _IN_SCRIPT in text:
        return None
    # What follows repeats arguments.
    return MemoryUnavailable(f"Redis refuses to run a script: {text.partition(', with args')[0][:200]}")
