"""Parents that lend their memory to a child that may outlive them, and a workflow whose activity names its memory."""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.workflow import ParentClosePolicy

from durable_memory import AgentMemory, MemoryRef


class _Told:
    def __init__(self) -> None:
        self.words = 0
        self.written = 0
        self.ends = False

    @workflow.signal
    def write(self) -> None:
        """Lets it write once more."""
        self.words += 1

    @workflow.signal
    def end(self) -> None:
        """Lets it end."""
        self.ends = True


@workflow.defn
class LendingParent(_Told):
    """Writes, lends its memory to a child that goes on as its policy says, and ends when it is told."""

    @workflow.run
    async def run(self, key: str, policy: int) -> None:
        """See class."""
        memory = AgentMemory("scratch", key=key)
        await memory.append("From the parent.")
        await workflow.start_child_workflow(
            BorrowingChild.run,
            memory.ref,
            id=child_of(workflow.info().workflow_id),
            parent_close_policy=ParentClosePolicy(policy),
        )
        await workflow.wait_condition(lambda: self.ends)


@workflow.defn
class BorrowingChild(_Told):
    """Writes each time it is told, and ends when it is told."""

    @workflow.run
    async def run(self, lent: MemoryRef) -> None:
        """See class."""
        memory = AgentMemory(lent)
        while True:
            await workflow.wait_condition(lambda: self.ends or self.words > self.written)
            if self.words == self.written:
                return
            self.written += 1
            await memory.append(f"From the child, {self.written}.")


@workflow.defn
class NamesNoMemory:
    """Makes no handle and passes no reference: its activity knows the memory."""

    @workflow.run
    async def run(self, key: str) -> None:
        """See class."""
        await workflow.execute_activity("write_by_name", key, start_to_close_timeout=timedelta(seconds=20))


def child_of(parent_id: str) -> str:
    """The id of the child of a parent."""
    return f"{parent_id}/child"


FAMILIES: tuple[type, ...] = (LendingParent, BorrowingChild, NamesNoMemory)
