"""Appends the messages of an export again, group by group, each checked as in any other append.

Each group is an operation named after the file's content and its line: an import that ended half-way is simply started
again, and what was appended is not appended twice.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from typing import Final

from durable_memory.memory.errors import (
    MemoryBackpressure,
    MemoryDamaged,
    MemoryFault,
    MemoryInvalid,
    MemoryOrphanResult,
)
from durable_memory.memory.memory import Memory
from durable_memory.memory.operations.admission import MAX_BYTES
from durable_memory.memory.transfer.lines import BadLine, Header, MessageLine, RawLine, read_header, read_line
from durable_memory.memory.types import AppendResult, ImportProblem, ImportResult

_MAX_PROBLEMS: Final = 100
"""How many faults the result names; it counts the others."""

_MAX_APPEND_LINES: Final = 500
"""Of one append. The results behind them follow in appends of their own, as they may have come in the first place."""

_MAX_APPEND_BYTES: Final = MAX_BYTES // 2
"""The same, of all lines of an append. Half of what it takes: what redaction puts in their place may be longer."""

_ATTEMPTS: Final = 50
_PAUSE_SECONDS: Final = 0.1


@dataclass(slots=True)
class _Group:
    """Lines that are appended together: calls and their results, or one message.

    first: number of its first line. waiting: calls without a result so far, by their id, which may come again.
    """

    key: str
    first: int
    lines: list[MessageLine]
    raw: list[bytes]
    waiting: Counter[str]

    def takes(self, line: MessageLine, raw: bytes) -> bool:
        """Tells whether a line is a result of this group, and may be appended with it. raw: the line as it was read."""
        if line.key != self.key or self.waiting[line.answers or ""] <= 0:
            return False
        return len(self.lines) < _MAX_APPEND_LINES and sum(map(len, self.raw)) + len(raw) <= _MAX_APPEND_BYTES


class Import:
    """One import into the memories of a resource.

    open_memory: opens the memory of a key. key: of the one memory that all lines go into; None is each line's own.
    merge: lines of several memories may go into it.
    """

    def __init__(self, open_memory: Callable[[str], Memory], key: str | None, *, merge: bool) -> None:
        self._open_memory = open_memory
        self._key = key
        self._merge = merge
        self._header = Header("", "")
        self._group: _Group | None = None
        self._appended = self._already = self._evicted = self._summaries = 0
        self._faults = 0
        self._problems: list[ImportProblem] = []

    async def run(self, header: Header, lines: AsyncIterator[RawLine]) -> ImportResult:
        """Appends what the lines behind the header hold.

        Raises MemoryInvalid at a second memory under one key; MemoryUnavailable, MemoryDamaged, and MemoryBackpressure
        where flushes do not help: started again, it goes on. All else that is wrong with a line is in the result.
        """
        self._header = header
        read, unread, promised, number = 0, 0, None, 1
        async for raw in lines:
            number += 1
            if not raw.strip():
                continue
            try:
                line = read_line(raw)
            except BadLine as bad:
                unread += 1
                self._problem(number, "BadLine", bad.problem)
                continue
            if isinstance(line, int):
                promised = line
                continue
            read += 1
            await self._take(number, line, _bytes(raw) if isinstance(raw, str) else raw)
        await self._finish()
        return ImportResult(
            messages=self._appended,
            already=self._already,
            evicted=self._evicted,
            summaries=self._summaries,
            faults=self._faults,
            problems=tuple(self._problems),
            # A line that cannot be read may be one of those that were promised: it is there, the file is not cut.
            complete=promised is not None and read <= promised <= read + unread,
        )

    async def _take(self, number: int, line: MessageLine, raw: bytes) -> None:
        if self._group is None or not self._group.takes(line, raw):
            before = None if self._group is None else self._group.key
            await self._finish()
            if before not in (None, line.key) and self._key is not None and not self._merge:
                raise MemoryInvalid(
                    f"line {number}: the import ends here: it is of another memory than the lines before it, which "
                    "were taken and stay; under one key all would be one conversation: pass merge=True (--merge) if "
                    "they shall, or no key"
                )
            self._group = _Group(line.key, number, [], [], Counter())
        self._group.lines.append(line)
        self._group.raw.append(raw)
        self._group.waiting.update(line.opens)
        self._group.waiting[line.answers or ""] -= 1

    async def _finish(self) -> None:
        """Appends the group that was gathered; one that is refused is named by its first line, and others go on."""
        group, self._group = self._group, None
        if group is None:
            return
        try:
            result = await self._append(group)
        except (MemoryBackpressure, MemoryDamaged):
            raise
        except MemoryFault as fault:
            if fault.retryable:
                raise
            self._problem(group.first, fault.type, fault.message)
            return
        if result.already_applied:
            self._already += len(group.lines)
        else:
            self._appended += len(group.lines) - result.dropped
            self._evicted += result.evicted
            self._summaries += sum(line.summary for line in group.lines)

    async def _append(self, group: _Group) -> AppendResult:
        memory, name = self._open_memory(group.key if self._key is None else self._key), self._operation(group)
        result = await self._admitted(memory, group, name)
        while result.already_applied and (ended := _ended_incarnation(result)) is not None:
            # The memory was cleared or purged since an import appended this: the next one is to bring it back.
            result = await self._admitted(memory, group, f"{name}/after/{ended}")
        return result

    def _operation(self, group: _Group) -> str:
        name = hashlib.sha256(_bytes(f"{self._header.export_id} {self._header.resource} {group.first}\n"))
        for raw in group.raw:
            # How a line ends depends on who read or copied the file; it is the same line.
            name.update(raw.strip())
        return f"import/{name.hexdigest()}"

    async def _admitted(self, memory: Memory, group: _Group, operation_id: str) -> AppendResult:
        messages = [line.message for line in group.lines]
        for _ in range(_ATTEMPTS):
            try:
                return await memory.append(messages, operation_id=operation_id)
            except MemoryOrphanResult:
                if len(group.lines) > 1 or messages[0] != group.lines[0].message:
                    raise
                # It came so late that its call was summarised: what it says stays, as an ordinary message.
                messages, operation_id = [group.lines[0].as_said()], f"{operation_id}/said"
            except MemoryBackpressure as held_back:
                if not held_back.awaits_flush:
                    raise
                # Too much waits for its summary, and perhaps no worker runs: summarise here.
                flushed = await memory.flush()
                await asyncio.sleep(max(_PAUSE_SECONDS, flushed.retry_after_ms / 1000))
        raise MemoryBackpressure(f"import: line {group.first} gave up waiting for older messages to be summarised")

    def _problem(self, line: int, kind: str, text: str) -> None:
        self._faults += 1
        if len(self._problems) < _MAX_PROBLEMS:
            self._problems.append(ImportProblem(line, kind, text))


def _bytes(text: str) -> bytes:
    """Halves of surrogate pairs are repaired where they are appended; until then they are bytes as any other."""
    return text.encode("utf-8", "surrogatepass")


def _ended_incarnation(result: AppendResult) -> str | None:
    """Returns the incarnation of the memory that these messages were appended to, or None if it is the present one."""
    if not result.ids:
        return None
    incarnation, _, _ = result.ids[0].partition("-")
    return None if result.version.startswith(f"{incarnation}:") else incarnation


async def first_line(lines: AsyncIterator[RawLine]) -> Header:
    """Reads the header. Raises MemoryInvalid."""
    async for raw in lines:
        return read_header(raw)
    raise MemoryInvalid("line 1: there is none; the file is empty")


async def checked_lines(
    lines: Iterable[RawLine] | AsyncIterable[RawLine], on_line: Callable[[int], None] | None
) -> AsyncIterator[RawLine]:
    """Yields the lines of an import, whatever gives them. on_line: is told the length of each.

    Raises MemoryInvalid for what is no line.
    """
    number = 0
    async for line in lines if isinstance(lines, AsyncIterable) else _one_by_one(lines):
        number += 1
        if not isinstance(line, (str, bytes)):
            raise MemoryInvalid(f"lines: line {number} must be text or bytes, not {type(line).__name__}")
        if on_line is not None:
            on_line(len(line))
        yield line


async def _one_by_one(lines: Iterable[RawLine]) -> AsyncIterator[RawLine]:
    if isinstance(lines, (str, bytes)):
        raise MemoryInvalid(f"lines: must come one by one, as of an open file, not as one {type(lines).__name__}")
    if not isinstance(lines, Iterable):
        raise MemoryInvalid(f"lines: must be the lines of an export, as of an open file, not {type(lines).__name__}")
    for line in lines:
        yield line
