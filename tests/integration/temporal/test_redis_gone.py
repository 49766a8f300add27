"""Redis that goes away and comes back, and its password that stays where it is."""

from __future__ import annotations

import base64
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis.asyncio
from temporalio.client import WorkflowHandle
from temporalio.testing import WorkflowEnvironment
from temporalio.worker import Worker

from durable_memory.dev import start_valkey
from durable_memory.dev.valkey import Valkey
from tests.integration.temporal.background import flusher_ended, messages_accounted_for, texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.flows.endings import ENDINGS, End
from tests.integration.temporal.holding import HoldsAnswers
from tests.integration.temporal.observing import attempts_of, eventually
from tests.integration.temporal.rig import plugin, running, unique
from tests.integration.temporal.user_activities import USER_ACTIVITIES
from tests.ports import quiet_ports

PASSWORD = "s3cret-and-long"
TEST_SERVER = Path(sys.executable).with_name("temporal-test-server")


@dataclass
class Mortal:
    """A Valkey with a password that a test can stop and start again on its port, with its data."""

    folder: Path
    valkey: Valkey

    @property
    def url(self) -> str:
        """The address with the password."""
        return self.valkey.url.replace("redis://", f"redis://:{PASSWORD}@")

    async def protect(self) -> None:
        """Sets the password."""
        async with redis.asyncio.from_url(self.valkey.url) as connection:
            await connection.config_set("requirepass", PASSWORD)

    def die(self) -> None:
        """Ends it at once."""
        self.valkey.server.kill()

    async def rise(self) -> None:
        """Starts it again."""
        self.valkey = await start_valkey(self.folder, port=self.valkey.server.ports[0], fsync="always")
        await self.protect()


@pytest.fixture
async def mortal(tmp_path: Path) -> AsyncIterator[Mortal]:
    """A Valkey of one test."""
    (port,) = quiet_ports(1)
    server = Mortal(tmp_path, await start_valkey(tmp_path, port=port, fsync="always"))
    await server.protect()
    yield server
    server.die()


async def test_appends_wait_for_a_redis_that_died_and_each_is_applied_once(
    temporal_address: str, mortal: Mortal
) -> None:
    holds = HoldsAnswers("memory.append", call=3)
    async with running(temporal_address, mortal.url, interceptors=[holds]) as rig:
        memory = rig.memory("small", "key")
        handle = await rig.start(AppendMany.run, "small", ["key"], texts(12))
        await holds.held()
        assert await messages_accounted_for(memory) == 3
        mortal.die()
        holds.gate.set()

        async def refused() -> bool:
            pending = (await handle.describe()).raw_description.pending_activities
            return any(call.last_failure.application_failure_info.type == "MemoryUnavailable" for call in pending)

        await eventually(refused)
        await mortal.rise()
        await handle.result()
        await flusher_ended(rig, memory)
        assert await messages_accounted_for(memory) == 12
        for run in (handle, rig.flusher(memory)):
            assert PASSWORD not in await everything_in(run)


async def everything_in(handle: WorkflowHandle[Any, Any]) -> str:
    """Returns a history and what is pending as text, payloads decoded."""
    history = (await handle.fetch_history()).to_json_dict()
    return str(_decoded(history)) + str((await handle.describe()).raw_description)


def _decoded(node: Any) -> Any:
    if isinstance(node, dict):
        return {
            name: base64.b64decode(value) if name == "data" and isinstance(value, str) else _decoded(value)
            for name, value in node.items()
        }
    return [_decoded(item) for item in node] if isinstance(node, list) else node


async def test_a_cleanup_that_finds_no_redis_does_not_fail_a_good_workflow(mortal: Mortal) -> None:
    # The time-skipping server: the cleanup waits before it gives up.
    async with await WorkflowEnvironment.start_time_skipping(
        test_server_existing_path=str(TEST_SERVER), plugins=[plugin(mortal.url, unique("project"))]
    ) as server:
        queue = unique("queue")
        async with Worker(server.client, task_queue=queue, workflows=ENDINGS, activities=USER_ACTIVITIES):
            handle = await server.client.start_workflow(
                End.run, args=["scratch", "key", "wait"], id=unique("run"), task_queue=queue
            )

            async def written() -> bool:
                return await attempts_of(handle, "memory.append") == [1]

            await eventually(written)
            mortal.die()
            await handle.signal(End.release)
            assert await handle.result() == "wait"
            assert (await attempts_of(handle, "memory.cleanup"))[0] > 1
