"""Declarations that were refused: they are tried again as long as they are not in force, and told once."""

from __future__ import annotations

import asyncio
import logging
from datetime import timedelta
from pathlib import Path

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.watching import Watch
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.running import reloading
from durable_memory.running.reloading import Reloading
from tests.integration.worker.workers import eventually

NOTES = "resource: memory\nid: notes\nmax_tokens: {budget}\n"


async def test_they_are_tried_until_they_hold_and_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reloading, "_AGAIN_SECONDS", 0.02)
    caplog.set_level(logging.INFO, logger=reloading.__name__)
    refused, held = list[int](), list[int]()

    def accept(registry: Registry) -> None:
        budget = registry.memory("notes").token_budget
        assert budget is not None
        if len(refused) < 4:
            refused.append(budget)
            raise MemoryInvalid("not now")
        held.append(budget)

    file = tmp_path / "notes.yaml"
    file.write_text(NOTES.format(budget=900))
    watched = Reloading(Watch([tmp_path]), accept, timedelta(milliseconds=20))
    async with watched.watched():
        file.write_text(NOTES.format(budget=1000))

        async def is_so() -> bool:
            return bool(held)

        await eventually(is_so)
    assert (refused, held, watched.notes) == ([1000] * 4, [1000], ())
    assert [record.getMessage() for record in caplog.records if record.name == reloading.__name__] == [
        "the last good declarations stay in force: not now",
        "the declarations were read again; changed: notes",
    ]


async def test_another_unexpected_error_is_told_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reloading, "_AGAIN_SECONDS", 0.02)
    errors = [RuntimeError("first"), RuntimeError("first"), RuntimeError("second"), RuntimeError("second")]
    held = asyncio.Event()

    def accept(_: Registry) -> None:
        if errors:
            raise errors.pop(0)
        held.set()

    file = tmp_path / "notes.yaml"
    file.write_text(NOTES.format(budget=900))
    async with Reloading(Watch([tmp_path]), accept, timedelta(milliseconds=20)).watched():
        file.write_text(NOTES.format(budget=1000))
        await held.wait()
    told = [record.exc_info for record in caplog.records if record.name == reloading.__name__]
    assert [str(info[1]) for info in told if info is not None] == ["first", "second"]
