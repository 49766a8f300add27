"""Conformance: a caller's mode holds in the store itself, before anything else is looked at."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final, TypeAlias

import pytest

from durable_memory.memory.access import Mode
from durable_memory.memory.errors import MemoryAccessDenied
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Batch
from durable_memory.testing.contracts.builders import dropping, summarising, user
from durable_memory.testing.contracts.case import OpenMemory, StoreCase
from durable_memory.testing.contracts.driven import Driven

Call: TypeAlias = Callable[[Driven, str], Awaitable[object]]

_CHANGES: Final[dict[str, Call]] = {
    "write": lambda memory, _: memory.write(user("new")),
    "delete": lambda memory, first: memory.delete(first),
    "pin": lambda memory, first: memory.pin(first),
    "clear": lambda memory, _: memory.clear(),
    "restore": lambda memory, _: memory.restore("0" * 16),
    "erase": lambda memory, _: memory.erase(),
    "begin": lambda memory, _: memory.begin(force=True),
    "commit": lambda memory, _: memory.commit(Batch("0" * 16, 1, "flusher/1", "b", 1, 1, 1)),
    "drop": lambda memory, _: memory.drop(force=True),
}
"""What changes or removes what is stored; the argument is the id of a stored message."""

_OPEN_TO_ALL: Final = frozenset(
    {
        *("append", "try_append", "read", "find", "touch", "plan", "recorded", "scan", "stats"),
        *("ping", "check_rights", "close"),
        *("content", "draft", "renew", "fail"),  # they need a batch, which only a begin gives
    }
)
"""What is refused to nobody, or, for append, to read-only alone."""


def _in_mode(memory: Driven, mode: Mode) -> Driven:
    return memory.under(replace(memory.limits, mode=mode))


class AccessContract(StoreCase):
    """The modes read-write, append-only and read-only."""

    def test_every_call_of_the_port_has_its_place_here(self) -> None:
        calls = {name for name, method in vars(Store).items() if inspect.iscoroutinefunction(method)}
        assert set(_CHANGES) | _OPEN_TO_ALL == calls

    @pytest.mark.parametrize("name", _CHANGES)
    @pytest.mark.parametrize("mode", ["append-only", "read-only"])
    @pytest.mark.parametrize("limits", [summarising(), dropping()], ids=["summarising", "dropping"])
    async def test_only_read_write_changes_what_is_stored(
        self, open_memory: OpenMemory, limits: Limits, mode: Mode, name: str
    ) -> None:
        memory = open_memory(limits)
        first, *_ = await memory.append_each(*(user(text) for text in "abcdefgh"))
        before = await memory.state()
        with pytest.raises(MemoryAccessDenied):
            await _CHANGES[name](_in_mode(memory, mode), first)
        assert await memory.state() == before

    async def test_append_only_appends_and_reads(self, memory: Driven) -> None:
        writer = _in_mode(memory, "append-only")
        added = await writer.append(user("a"))
        again = await writer.append(user("b"), user("c"))
        assert (added.created, len(again.ids)) == (True, 2)
        assert await writer.texts() == ["a", "b", "c"]
        assert await writer.touch(*added.ids) == added.ids
        assert (await writer.stats()).messages["short_term"] == 3

    async def test_read_only_reads_and_appends_nothing(self, memory: Driven) -> None:
        added = await memory.append(user("a"))
        reader = _in_mode(memory, "read-only")
        before = await memory.state()
        for entries in ((user("b"),), (user("b", pinned=True), user("c"))):
            with pytest.raises(MemoryAccessDenied):
                await reader.append(*entries)
        assert await memory.state() == before
        assert await reader.texts() == ["a"]
        assert (await reader.touch(*added.ids), await reader.found(*added.ids)) == (added.ids, ["a"])

    async def test_a_denied_call_is_not_remembered(self, memory: Driven) -> None:
        with pytest.raises(MemoryAccessDenied):
            await _in_mode(memory, "read-only").append(user("a"), op="once")
        assert (await memory.append(user("a"), op="once")).already_applied is False

    async def test_the_mode_comes_before_the_record_of_operations(self, memory: Driven) -> None:
        await memory.append(user("a"), op="once")
        with pytest.raises(MemoryAccessDenied):
            await _in_mode(memory, "read-only").append(user("a"), op="once")

    async def test_the_mode_comes_before_what_is_wrong_with_the_call(self, memory: Driven) -> None:
        await memory.append(user("a"), op="once")
        reader, writer, misplaced = (
            _in_mode(memory, "read-only"),
            _in_mode(memory, "append-only"),
            user("a", section="undeclared"),
        )
        for op in (None, "once"):
            for denied in (
                reader.append(misplaced, op=op),
                reader.try_append(misplaced, op=op),
                writer.write(misplaced, op=op),
                writer.restore("nonsense", op=op),
            ):
                with pytest.raises(MemoryAccessDenied):
                    await denied
