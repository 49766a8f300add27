"""Notices that files of declarations have changed, and reads them again: all of them, or what was read before stays."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from durable_memory.memory import telemetry
from durable_memory.memory.declarations.loader import Check, declaration_files, folders_of
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.validation import Resource

_Marks: TypeAlias = tuple[tuple[str, int, int, int, int], ...]
"""Name, inode, size and both times of change of each file. A new version may have the mtime of the old one, as from an
archive or an image; nobody can set the ctime."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What reading again has changed: ids of memory resources, and of agents behind the word `agent`."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


class Watch:
    """The declarations of some folders, in the form that was valid last."""

    def __init__(self, folders: Iterable[Path | str], *, check: Check | None = None) -> None:
        """Reads the folders. Raises as Registry.load does: there is nothing yet to fall back on.

        check: see Registry.load.
        """
        self._folders = folders_of(folders)
        self._check = check
        # Looked at before it is read: what changes in between is seen at the next look.
        self._read = self._marks()
        self.registry = Registry.load(self._folders, check=check)
        """The declarations in force."""
        # A program may change its working directory while it runs.
        self._folders = tuple(Path(folder).absolute() for folder in self._folders)

    def looking(self) -> Callable[[], bool]:
        """Returns a look: whether files differ from those read last, and have stood still since the look before.

        A file that is being written is read when it is whole; one that was found faulty, when it changes again. Whoever
        watches has looks of its own: those of two would follow each other at once.
        """
        seen = self._read

        def is_due() -> bool:
            nonlocal seen
            before, seen = seen, self._marks()
            return seen != self._read and seen == before

        return is_due

    async def reload(self, accept: Callable[[Registry], None]) -> Changes:
        """Reads the folders again and hands the declarations on; if that is refused, the old ones stay in force.

        Files are read in a thread, since a slow disk must not hold up this event loop. Raises InvalidDeclarations with
        every fault, and what `accept` raises.
        """
        outcome: Literal["ok", "failed"] = "failed"
        try:
            self._read = await asyncio.to_thread(self._marks)
            registry = await asyncio.to_thread(Registry.load, self._folders, check=self._check)
            accept(registry)
            outcome = "ok"
        finally:
            telemetry.count_reload(outcome)
        changes = _changes(self.registry, registry)
        self.registry = registry
        return changes

    def _marks(self) -> _Marks:
        marks: list[tuple[str, int, int, int, int]] = []
        # A folder that cannot be read has no files here; reading again says what is wrong with it.
        for file in declaration_files(self._folders, []):
            with contextlib.suppress(OSError):
                status = file.stat()
                times = status.st_mtime_ns, status.st_ctime_ns
                marks.append((str(file.absolute()), status.st_ino, status.st_size, *times))
        return tuple(marks)


def _changes(before: Registry, after: Registry) -> Changes:
    old, new = _by_name(before), _by_name(after)
    return Changes(
        added=tuple(sorted(new.keys() - old.keys())),
        changed=tuple(sorted(name for name in new.keys() & old.keys() if new[name] != old[name])),
        removed=tuple(sorted(old.keys() - new.keys())),
    )


def _by_name(registry: Registry) -> dict[str, Resource]:
    memories: dict[str, Resource] = {resource.id: resource for resource in registry.memories()}
    return memories | {f"agent {agent.id}": agent for agent in registry.agents()}
