"""A workflow that writes, waits, and is reset meanwhile."""

from __future__ import annotations

from temporalio import workflow

from durable_memory import AgentMemory


@workflow.defn
class Steps:
    """Appends without a name, by a name of its step, and by one under which each run says something else."""

    def __init__(self) -> None:
        self._told = False

    @workflow.signal
    def go_on(self) -> None:
        """Ends this run."""
        self._told = True

    @workflow.run
    async def run(self, key: str) -> list[str]:
        """Returns what the memory shows at its end."""
        memory, step = AgentMemory("scratch", key=key), f"{workflow.info().workflow_id}/step"
        await memory.append("plain")
        await memory.append("named", operation_id=f"{step}-1")
        turn = await memory.record_turn(f"in the words of {workflow.info().run_id}", operation_id=f"{step}-2")
        await workflow.wait_condition(lambda: self._told)
        return [*(message.text for message in (await memory.read()).messages), turn.messages[0].text]
