"""The desk: two workflow types that share the memory of one customer. They hold references and ids, never messages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory import AgentMemory, Message

TASK_QUEUE = "support-desk"


@dataclass
class Stretch:
    """The turns between two handovers, by id, and the agent that plays them."""

    agent: str
    turns: list[str]


@dataclass
class Case:
    """A customer's case: the house rules that begin it, and its stretches in order."""

    customer_id: str
    system: str
    stretches: list[Stretch]


async def play(memory: AgentMemory, turns: list[str]) -> None:
    """Has the model answer turn by turn. A turn by reference is one activity, whatever the memory holds."""
    for turn in turns:
        await workflow.execute_activity(
            "answer",
            args=[memory.ref, turn],
            start_to_close_timeout=timedelta(seconds=10),
            retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=200)),
        )


@workflow.defn
class BillingWorkflow:
    """The billing agent: plays one stretch with the memory that triage has filled."""

    @workflow.run
    async def run(self, customer_id: str, turns: list[str]) -> None:
        """Plays the turns."""
        await play(AgentMemory("customer-support", agent="billing", input={"customer_id": customer_id}), turns)


@workflow.defn
class TriageWorkflow:
    """The triage agent: opens the case, plays its turns, hands over to billing, stays until the case is closed."""

    def __init__(self) -> None:
        self._closed = False

    @workflow.signal
    def close_case(self) -> None:
        """Ends the case."""
        self._closed = True

    @workflow.run
    async def run(self, case: Case) -> None:
        """Plays the case."""
        memory = AgentMemory("customer-support", agent="triage", input={"customer_id": case.customer_id})
        await memory.append(Message.system(case.system))
        for number, stretch in enumerate(case.stretches):
            if stretch.agent == "billing":
                await workflow.execute_child_workflow(
                    BillingWorkflow.run,
                    args=[case.customer_id, stretch.turns],
                    id=f"{workflow.info().workflow_id}/billing-{number}",
                )
            else:
                await play(memory, stretch.turns)
        await workflow.wait_condition(lambda: self._closed)
