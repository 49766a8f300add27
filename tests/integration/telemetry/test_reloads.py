"""How often declarations were read again and refused: an alert on the count lasts as long as they are not in force."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.watching import Watch
from durable_memory.running import reloading
from durable_memory.running.reloading import Reloading
from durable_memory.worker.metrics import WorkerMetrics
from tests.integration.telemetry.story import samples
from tests.integration.worker.workers import eventually

NOTES = "resource: memory\nid: notes\nmax_tokens: 900\n"


def failed(metrics: WorkerMetrics) -> float:
    """How many reloads have failed in this process."""
    wanted = "memory_reloads_total", {"outcome": "failed"}
    return sum(one.value for one in samples(metrics) if (one.name, one.labels) == wanted)


def refuse(_: Registry) -> None:
    raise AssertionError("faulty files are not handed on")


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Watch:
    """A watch of files that have become faulty since it read them; what is refused is soon tried again."""
    monkeypatch.setattr(reloading, "_AGAIN_SECONDS", 0.02)
    file = tmp_path / "notes.yaml"
    file.write_text(NOTES)
    watch = Watch([tmp_path])
    file.write_text(f"{NOTES}typo: 1\n")
    return watch


async def test_a_failed_reload_is_tried_and_counted_again(faulty: Watch, metrics: WorkerMetrics) -> None:
    before = failed(metrics)

    async def counted() -> bool:
        return failed(metrics) >= before + 3

    async with Reloading(faulty, refuse, timedelta(milliseconds=20)).watched():
        await eventually(counted)


async def test_without_an_interval_a_failed_reload_that_was_asked_for_is_counted_once(
    faulty: Watch, metrics: WorkerMetrics
) -> None:
    before, asked = failed(metrics), asyncio.Event()
    reloads = Reloading(faulty, refuse, None)

    async def refused() -> bool:
        return bool(reloads.notes)

    async with reloads.watched(asked):
        asked.set()
        await eventually(refused)
        await asyncio.sleep(0.5)  # many times as long as it takes to try again
        assert failed(metrics) == before + 1
