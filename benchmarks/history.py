"""Rows about what a turn leaves in the workflow's history: by reference, read in the workflow, and as a transcript."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from bench_activities import ACTIVITIES
from bench_flows import FLOWS, TurnsByReference, TurnsThatRead, TurnsWithTranscript
from events import Cost, costs_of
from table import Row
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryPlugin, MemoryRef, Registry
from durable_memory.dev import start_temporal

QUEUE = "bench-turns"
BESIDE = 60
"""Turns of what it is compared with, whose history would not hold many more."""
TALK = {"resource": "memory", "id": "talk", "max_tokens": 4_000, "scope": "user"}


async def rows(redis_url: str, *, turns: int, turns_of_a_run: int) -> AsyncIterator[Row]:
    """Measures row by row."""
    plugin = MemoryPlugin(redis_url=redis_url, memories=Registry.from_resources([TALK]))
    with tempfile.TemporaryDirectory(prefix="durable-memory-bench-") as folder:
        temporal = await start_temporal(Path(folder), ui=False, keep=False)
        try:
            client = await Client.connect(temporal.address, plugins=[plugin])
            async with Worker(client, task_queue=QUEUE, workflows=FLOWS, activities=ACTIVITIES):
                async for row in _rows(client, turns, turns_of_a_run):
                    yield row
        finally:
            temporal.server.kill()


async def _rows(client: Client, turns: int, turns_of_a_run: int) -> AsyncIterator[Row]:
    runs = await _run(client, TurnsByReference.run, [_new_memory(), 0, turns, turns_of_a_run])
    yield Row("history: events of a turn", max(run.events for run in runs), 6, f"{turns:,} turns in {len(runs)} runs")
    overhead = max(run.bytes - run.texts for run in runs)
    yield Row("… bytes beside the new texts", overhead, 2_048, f"the texts themselves are {runs[0].texts:.0f} B")
    yield Row("… the last run against the first", runs[-1].bytes / runs[0].bytes, 1.05, "in bytes of a turn")

    [reading] = await _run(client, TurnsThatRead.run, [_new_memory(), BESIDE])
    [passing] = await _run(client, TurnsWithTranscript.run, [BESIDE])
    for name, cost in (("when the workflow reads", reading), ("with the transcript", passing)):
        detail = f"{cost.events:.0f} events a turn, over {BESIDE} turns; the last one {cost.last_bytes:,} B"
        yield Row(f"… all bytes {name}", cost.bytes, None, f"against {runs[-1].bytes:,.0f}; {detail}")


def _new_memory() -> MemoryRef:
    return MemoryRef("talk", key=secrets.token_hex(8))


async def _run(client: Client, workflow: Any, args: list[Any]) -> list[Cost]:
    """Runs a workflow to the end of its chain; returns what the turns of each run left."""
    handle = await client.start_workflow(workflow, args=args, id=f"turns-{secrets.token_hex(8)}", task_queue=QUEUE)
    await handle.result()
    return await costs_of(client, handle.id, handle.first_execution_run_id)
