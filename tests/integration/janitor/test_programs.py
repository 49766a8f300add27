"""The janitor as people run it: `durable-memory janitor`, and a worker that sweeps by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from prometheus_client.parser import text_string_to_metric_families
from temporalio.client import Client, WorkflowHandle

from durable_memory.running.janitor_schedule import schedule_id
from tests.integration.cli.programs import Ended, run_program
from tests.integration.janitor.sweeping import Counts, Sweeper, appended
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.flows.endings import WORDS, End
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import unique
from tests.integration.worker.workers import WorkerProcess, worker_process

MEMORIES = """
{resource: memory, id: scratch, max_tokens: 4000, scope: temp}
---
{resource: memory, id: small, max_tokens: 400, scope: user, flushing: {summary_tokens: 80, target_ratio: 0.4}}
"""

Janitor: TypeAlias = Callable[..., Awaitable[Ended]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(MEMORIES)
    return tmp_path


@pytest.fixture
def environment(by_hand: Sweeper, redis_url: str, temporal_address: str) -> dict[str, str]:
    return {
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": temporal_address,
        "DURABLE_MEMORY_PROJECT": by_hand.client.project,
        "DURABLE_MEMORY_TASK_QUEUE": by_hand.rig.flush_queue,
    }


@pytest.fixture
def once(folder: Path, environment: dict[str, str]) -> Janitor:
    """Runs `durable-memory janitor` with these arguments."""

    async def run(*arguments: str, **given: str) -> Ended:
        return await run_program("janitor", *arguments, cwd=folder, **{**environment, **given})

    return run


async def ended_and_due(by_hand: Sweeper) -> WorkflowHandle[Any, Any]:
    """Leaves what a sweep has to finish: a terminated workflow and a memory that nobody woke."""
    dead = await by_hand.rig.start(End.run, "scratch", "dead", "wait")
    await appended(by_hand.rig, "scratch", "dead")
    await by_hand.rig.memory("small", "due").append(texts(4))
    await dead.terminate()
    return dead


async def test_once_sweeps_as_the_schedule_does_and_prints_what_it_did(by_hand: Sweeper, once: Janitor) -> None:
    dead = await ended_and_due(by_hand)
    await by_hand.rig.start(End.run, "scratch", "living", "wait")
    await appended(by_hand.rig, "scratch", "living")
    ended = await once("--once", "--output", "json")
    assert (ended.code, ended.err) == (0, "")
    done = {"owners": 2, "living": 1, "released": 1, "cleared": 1, "memories": 3, "forgotten": 1, "woken": 1}
    assert +Counter(ended.json()) == Counts(done)
    assert ended.json()["failed"] == 0
    await by_hand.nothing_is_left("scratch", "dead", dead.id)
    await flusher_ended(by_hand.rig, by_hand.rig.memory("small", "due"))
    assert await by_hand.rig.texts("scratch", "living") == [WORDS]
    table = await once()
    assert table.code == 0
    assert "workflows looked at" in table.out


async def test_once_needs_temporal_and_says_so_in_one_sentence(once: Janitor) -> None:
    for address, reason in (("", "TEMPORAL_ADDRESS is not set"), ("127.0.0.1:1", "cannot be reached")):
        ended = await once("--once", TEMPORAL_ADDRESS=address)
        assert (ended.code, ended.out, len(ended.err.splitlines())) == (1, "", 1)
        assert reason in ended.err


async def test_a_worker_sweeps_by_itself_and_counts_what_it_did(
    by_hand: Sweeper, folder: Path, environment: dict[str, str], temporal_client: Client
) -> None:
    schedule = temporal_client.get_schedule_handle(schedule_id(by_hand.client.project))
    dead = await ended_and_due(by_hand)
    given = {"DURABLE_MEMORY_JANITOR_INTERVAL": "1s", "DURABLE_MEMORY_TASK_QUEUE": unique("queue-of-its-own")}
    async with worker_process(cwd=folder, **{**environment, **given}) as worker:
        await by_hand.nothing_is_left("scratch", "dead", dead.id)

        async def counted() -> bool:
            return await actions(worker) >= Counts({"released": 1, "cleared": 1, "woken": 1, "forgotten": 1})

        await eventually(counted)
        assert (await actions(worker))["failed"] == 0
    await schedule.delete()


async def actions(worker: WorkerProcess) -> Counts:
    """What its metrics say of the janitor."""
    families = text_string_to_metric_families((await worker.get("/metrics"))[1])
    return Counts(
        {
            sample.labels["action"]: int(sample.value)
            for family in families
            for sample in family.samples
            if sample.name == "memory_janitor_actions_total"
        }
    )
