"""The TypeScript example, installed and built in a copy, with its own servers, our worker and its worker."""

from __future__ import annotations

import asyncio
import shutil
from asyncio.subprocess import Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil
from temporalio.client import Client, WorkflowHandle

from durable_memory import MemoryClient
from durable_memory.dev import start_temporal, start_valkey
from durable_memory.memory.memory import Memory
from tests.integration.cli.programs import Ended, environment, run_command
from tests.integration.worker.workers import worker_process

CHECKOUT: Final = Path(__file__).parents[3]
EXAMPLE: Final = CHECKOUT / "examples" / "typescript"
MEMORIES: Final = CHECKOUT / "memories"


@dataclass(frozen=True)
class Desk:
    """The running example; memories and temporal see it from Python, valkey is the process of the store."""

    folder: Path
    worker: Process
    address: str
    temporal: Client
    memories: MemoryClient
    valkey: psutil.Process

    async def run_case(self, user: str, case: str, question: str) -> Ended:
        """Runs the client to its end, unless the worker in TypeScript ends before it."""
        arguments = ("node", "dist/client.js", user, case, question)
        client = asyncio.create_task(run_command(*arguments, cwd=self.folder, TEMPORAL_ADDRESS=self.address))
        gone = asyncio.create_task(self.worker.wait())
        await asyncio.wait([client, gone], return_when=asyncio.FIRST_COMPLETED)
        assert not gone.done(), (self.folder / "typescript-worker.log").read_text()
        gone.cancel()
        return await client

    def thread(self, user: str) -> Memory:
        """The memory of a customer, as Python sees it."""
        return self.memories.memory("customer-support", input={"user_id": user}, agent="triage")

    async def texts(self, user: str) -> list[str]:
        """What a customer's memory shows to Python."""
        return [message.text for message in (await self.thread(user).read()).messages]

    def case(self, case: str) -> WorkflowHandle[object, object]:
        """The workflow of a case."""
        return self.temporal.get_workflow_handle(case)


async def installed(folder: Path) -> None:
    """Installs the example from its lockfile and builds it; nothing is kept outside `folder`."""
    ignore = shutil.ignore_patterns("node_modules", "dist")
    await asyncio.to_thread(shutil.copytree, EXAMPLE, folder, dirs_exist_ok=True, ignore=ignore)
    given = {"npm_config_cache": str(folder / ".npm-cache"), "npm_config_update_notifier": "false"}
    for command in (("npm", "ci"), ("npm", "run", "build")):
        ended = await run_command(*command, cwd=folder, **given)
        assert ended.code == 0, f"{' '.join(command)}\n{ended.out}{ended.err}"


@asynccontextmanager
async def open_desk(folder: Path, data: Path) -> AsyncIterator[Desk]:
    """Starts servers and workers. folder: where the example was installed. data: where the servers keep their data."""
    valkey = await start_valkey(data / "redis", fsync="always")
    temporal = await start_temporal(data / "temporal", ui=False, keep=False)
    given = {"REDIS_URL": valkey.url, "TEMPORAL_ADDRESS": temporal.address}
    try:
        async with (
            worker_process("--memories", str(MEMORIES), cwd=folder, **given) as ours,
            _typescript_worker(folder, temporal.address) as theirs,
            await MemoryClient.connect(valkey.url, memories=[MEMORIES]) as memories,
        ):
            await ours.ready()
            client = await Client.connect(temporal.address)
            yield Desk(folder, theirs, temporal.address, client, memories, psutil.Process(valkey.server.pid))
    finally:
        temporal.server.kill()
        valkey.server.kill()


@asynccontextmanager
async def _typescript_worker(folder: Path, address: str) -> AsyncIterator[Process]:
    with (folder / "typescript-worker.log").open("wb") as log:
        worker = await asyncio.create_subprocess_exec(
            "node",
            "dist/worker.js",
            cwd=folder,
            env=environment(TEMPORAL_ADDRESS=address),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=log,
            stderr=log,
        )
    try:
        yield worker
    finally:
        if worker.returncode is None:
            worker.kill()
            await worker.wait()
