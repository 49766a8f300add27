"""A workflow as a worker without the plugin sees it: what the sandbox loads for it."""

from __future__ import annotations

import sys

from temporalio import workflow

from durable_memory import AgentMemory


@workflow.defn
class IdentifyHandle:
    """Tells which AgentMemory it has: its own, or the one of the process."""

    @workflow.run
    async def run(self) -> int:
        """See class."""
        return id(AgentMemory)


@workflow.defn
class ListModules:
    """Returns the names of the modules that were loaded for this workflow alone."""

    @workflow.run
    async def run(self) -> list[str]:
        """See class."""
        AgentMemory("chat", key="user:1")
        return sorted(sys.modules)
