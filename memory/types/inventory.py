"""What listing, purging and importing memories of a project answer."""

from __future__ import annotations

from dataclasses import dataclass

from durable_memory.memory.types.results import MemoryStats


@dataclass(frozen=True, slots=True)
class ListedMemory:
    """A memory that exists, with its counters as they were when it was listed.

    stats: None if it is damaged, or `newer`: written by a newer version than that of this process.
    """

    resource: str
    key: str
    stats: MemoryStats | None
    newer: bool = False


@dataclass(frozen=True, slots=True)
class ListedPage:
    """Some memories, and where the next page begins; cursor is None on the last one. A page may be empty."""

    memories: tuple[ListedMemory, ...]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class PurgeResult:
    """How many memories a purge removed, with how many messages; after a dry run, how many it would have removed.

    backups: of these memories, and of those that had ended before.
    """

    memories: int
    messages: int
    dry_run: bool
    backups: int = 0


@dataclass(frozen=True, slots=True)
class ImportProblem:
    """A line of an import that was not appended: its number, the type of the error (or `BadLine`), and why."""

    line: int
    type: str
    problem: str


@dataclass(frozen=True, slots=True)
class ImportResult:
    """What an import did.

    messages: appended now. already: appended by an earlier run of the same import. evicted: left the view meanwhile, as
    by any append. summaries: of `messages`, were summaries and are ordinary messages now. faults: groups and lines that
    were not appended; problems: the first hundred of them. complete: the file has its last line, and as many messages
    as that says; lines that cannot be read may be some of them.
    """

    messages: int
    already: int
    evicted: int
    summaries: int
    faults: int
    problems: tuple[ImportProblem, ...]
    complete: bool
