"""A worker of the project's queue that says when it summarises, and never finishes: to be killed."""

from __future__ import annotations

import asyncio
import sys

from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory.memory.flushing.summarizer import SummaryRequest
from tests.integration.temporal.rig import plugin


class Stuck:
    """See module."""

    max_input_tokens: int | None = None

    async def summarize(self, request: SummaryRequest) -> str:  # noqa: ARG002 - never answered
        """See Summarizer."""
        print("summarizing", flush=True)  # noqa: T201 - what the test waits for
        await asyncio.Event().wait()
        return ""


async def main(address: str, redis_url: str, project: str) -> None:
    """Runs until it is killed."""
    client = await Client.connect(address, plugins=[plugin(redis_url, project, summarizer=Stuck())])
    await Worker(client, task_queue=f"flushes-of-{project}").run()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
