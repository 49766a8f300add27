"""Refuses a process whose encryption keys are not those of its project, before it writes what nobody else can read.

A process without any is let be, since the processes of a project get their first keys one after the other, and told.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final

from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.privacy.keyring import Keyring
from durable_memory.memory.stores.key_checks_port import KeyChecks

_log: Final = logging.getLogger(__name__)


async def check_keys(known: KeyChecks, project: str, keyring: Keyring) -> None:
    """Compares the keys of this process with those of the project, and notes those that are new.

    Raises as `compare`.
    """
    if not await compare(known, project, keyring):
        return
    try:
        _refuse_others(keyring.checks, await known.note(project, keyring.checks), project)
    except MemoryUnavailable as fault:
        # Of a Redis that only refuses writes: reads go on.
        _log.warning("the keys of this process could not be compared with those of others: %s", fault.message)


async def warn_without_keys(known: KeyChecks, project: str) -> None:
    """Warns, in a process without keys, if the project has some."""
    try:
        missing = await missing_keys(known, project)
    except MemoryUnavailable as fault:
        _log.warning("whether project %r has encryption keys could not be found out: %s", project, fault.message)
        return
    if missing is not None:
        _log.warning("%s", missing)


async def missing_keys(known: KeyChecks, project: str) -> str | None:
    """Returns what to say of a process without keys; None if the project has none either. Raises MemoryUnavailable."""
    noted = await known.noted(project)
    if not noted:
        return None
    return (
        f"project {project!r} is encrypted with {_named(noted)}, and this process has no keys: it writes plain text, "
        "and cannot read what the others write; set DURABLE_MEMORY_ENCRYPTION_KEYS"
    )


async def compare(known: KeyChecks, project: str, keyring: Keyring) -> Mapping[str, str]:
    """Returns the checks of the keys that are new to the project.

    Raises MemoryInvalid for a key that is another one than the project's of this id, and where none of the keys is one
    of the project's; MemoryDamaged, MemoryUnavailable.
    """
    noted = await known.noted(project)
    _refuse_others(keyring.checks, noted, project)
    return {key_id: check for key_id, check in keyring.checks.items() if key_id not in noted}


def _refuse_others(mine: Mapping[str, str], noted: Mapping[str, str], project: str) -> None:
    others = [repr(key_id) for key_id, check in mine.items() if noted.get(key_id, check) != check]
    if others:
        raise MemoryInvalid(
            f"encryption_keys: the key {' and '.join(others)} of this process is another one than that of project "
            f"{project!r}, whose messages it could not read, and no other process its own: take the keys of the others"
        )
    if noted and noted.keys().isdisjoint(mine):
        raise MemoryInvalid(
            f"encryption_keys: project {project!r} is encrypted with {_named(noted)}, and this process has none of "
            "these keys: give it one of them, too; a new key comes behind the old one first"
        )


def _named(noted: Mapping[str, str]) -> str:
    return ", ".join(map(repr, sorted(noted)))
