"""A reference without key means the memories of the workflow that gave it out, to whoever opens it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from temporalio import activity
from temporalio.client import WorkflowHandle

from durable_memory import AgentRef, MemoryRef, Registry, current_memory_client
from durable_memory.activities import wire
from durable_memory.memory.identity import WorkflowId
from tests.integration.temporal.flows.by_name import CallByName
from tests.integration.temporal.flows.calls import Append
from tests.integration.temporal.flows.lent import LENT, Lend, OpenOwn, PassBack, Wait
from tests.integration.temporal.rig import Rig, running, unique
from tests.integration.temporal.user_activities import USER_ACTIVITIES

OWN = "{{ workflow.type }}:{{ workflow.id }}"
REGISTRY = Registry.from_resources(
    [
        {"resource": "memory", "id": "own", "max_tokens": 4000, "scope": "session", "default_key_template": OWN},
        {"resource": "memory", "id": "passing", "max_tokens": 4000, "scope": "temp", "default_key_template": OWN},
        {"resource": "agent", "id": "runner", "memory": "own"},
    ]
)
BORROWED = [
    "The child was here.",
    "By the reference of the parent.",
    "Attempt 1 knew {} messages.",
    "By that of the child.",
    "Attempt 1 knew {} messages.",
]
FIRST = "The parent was here."
BY_AGENT = "By the agent of the parent."


@activity.defn
async def pass_back(lent: AgentRef | None) -> AgentRef:
    """Returns the reference of an agent that is opened in an activity, by its id or by a reference."""
    return current_memory_client().agent(lent or "runner").ref


@pytest.fixture(scope="module", params=[1000, 0], ids=["cache-1000", "cache-0"])
async def own(temporal_address: str, redis_url: str, request: pytest.FixtureRequest) -> AsyncIterator[Rig]:
    """A worker whose memories belong to workflows by their keys."""
    workflows = (*LENT, Append, CallByName)
    activities = (*USER_ACTIVITIES, pass_back)
    async with running(
        temporal_address,
        redis_url,
        registry=REGISTRY,
        workflows=workflows,
        activities=activities,
        max_cached_workflows=request.param,
    ) as rig:
        yield rig


def borrowed(*knew: int) -> list[str]:
    counts = iter(knew)
    return [text.format(next(counts)) if "{}" in text else text for text in BORROWED]


async def requests_of(handle: WorkflowHandle[Any, Any], name: str) -> list[dict[str, Any]]:
    """What a run sent to the activities of a name."""
    return [
        json.loads(event.activity_task_scheduled_event_attributes.input.payloads[0].data)
        async for event in handle.fetch_history_events()
        if event.activity_task_scheduled_event_attributes.activity_type.name == name
    ]


async def test_a_child_uses_the_memory_of_its_parent_by_its_reference(own: Rig) -> None:
    parent = await own.start(Lend.run, "own", FIRST)
    answer = await parent.result()
    expected = [FIRST, *borrowed(2, 4), BY_AGENT]
    assert answer["texts"] == expected
    assert await own.texts("own", f"Lend:{parent.id}") == expected


async def test_no_memory_comes_to_be_under_the_key_of_the_child(own: Rig) -> None:
    parent = await own.start(Lend.run, "own", FIRST)
    await parent.result()
    keys = [listed.key async for listed in own.memories.list_memories("own")]
    assert f"Lend:{parent.id}" in keys
    assert [key for key in keys if key.startswith("Borrow:")] == []


async def test_what_a_borrower_gives_out_still_means_the_memories_of_the_lender(own: Rig) -> None:
    parent = await own.start(Lend.run, "own", FIRST)
    answer = await parent.result()
    workflow = {"workflow_id": parent.id, "workflow_type": "Lend", "run_id": parent.result_run_id}
    memory = {"resource": "own", "key": None, "input": None, "agent": None, **workflow}
    assert answer["refs"] == answer["own"] == [memory, {"id": "runner", "input": None, **workflow}]


async def test_a_process_without_temporal_opens_what_a_workflow_gave_out(own: Rig) -> None:
    parent = await own.start(Lend.run, "own", FIRST)
    memory, agent = (await parent.result())["own"]
    opened = own.memories.memory(MemoryRef(**memory))
    assert opened.id.key == f"Lend:{parent.id}"
    agents = own.memories.agent(AgentRef(**agent))
    assert [one.id for one in agents.memories] == [opened.id]
    assert agents.ref == AgentRef(**agent)


async def test_an_agent_in_an_activity_gives_out_the_workflow_of_the_activity_or_the_one_that_it_was_lent(
    own: Rig,
) -> None:
    handle = await own.start(PassBack.run)
    made, kept = await handle.result()
    assert made == AgentRef("runner", workflow_id=handle.id, workflow_type="PassBack", run_id=handle.result_run_id)
    assert kept == AgentRef("runner", workflow_id="order-7", workflow_type="Order")


async def test_calls_in_the_own_workflow_carry_nothing_of_it(own: Rig) -> None:
    parent = await own.start(Lend.run, "own", FIRST)
    await parent.result()
    assert [request["memory"] for request in await requests_of(parent, wire.APPEND)] == [{"resource": "own"}]
    again = await own.start(OpenOwn.run, None, "OpenOwn", id=unique("run"))
    await own.client.get_workflow_handle(again.id).result()
    latest = own.client.get_workflow_handle(again.id)
    assert [request["memory"] for request in await requests_of(latest, wire.APPEND)] == [{"resource": "own"}]
    assert await own.texts("own", f"OpenOwn:{again.id}") == ["A run of OpenOwn."] * 2


async def test_a_run_of_another_type_uses_the_memory_that_the_run_before_gave_it(own: Rig) -> None:
    chain = await own.start(OpenOwn.run, None, "OpenOwnAsAnother", id=unique("run"))
    ref = await own.client.get_workflow_handle(chain.id).result()
    given = MemoryRef("own", workflow_id=chain.id, workflow_type="OpenOwn", run_id=chain.result_run_id)
    assert MemoryRef(**ref) == given
    assert await own.texts("own", f"OpenOwn:{chain.id}") == ["A run of OpenOwn.", "A run of OpenOwnAsAnother."]


async def test_a_reference_made_by_hand_means_the_workflow_that_opens_it(own: Rig) -> None:
    handle = await own.start(Append.run, MemoryRef("own"), "Hello.")
    await handle.result()
    assert await own.texts("own", f"Append:{handle.id}") == ["Hello."]


async def test_a_request_by_name_may_name_the_workflow_whose_memory_is_meant(own: Rig) -> None:
    meant: dict[str, Any] = {"workflow_id": unique("order"), "workflow_type": "Order"}
    message: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello."}]}
    for name, request in (
        (wire.APPEND, {"memory": {"resource": "own", **meant}, **message}),
        (wire.EXECUTE, {"operation": "append", "resource": "own", **meant, "payload": message}),
        (wire.RECORD_AGENT_TURN, {"agent": "runner", **meant, **message}),
        (wire.EXECUTE, {"operation": "record_agent_turn", "agent": "runner", **meant, "payload": message}),
    ):
        await own.run(CallByName.run, name, request)
    assert await own.texts("own", f"Order:{meant['workflow_id']}") == ["Hello."] * 4


async def test_a_lender_that_wrote_keeps_its_memory_through_the_end_of_the_borrower(own: Rig) -> None:
    parent = await own.start(Lend.run, "passing", FIRST)
    answer = await parent.result()
    assert answer["texts"] == [FIRST, *borrowed(2, 4)]
    assert await own.texts("passing", f"Lend:{parent.id}") == []


async def test_what_a_borrower_alone_wrote_stays_until_the_lender_ends(own: Rig) -> None:
    parent = await own.start(Lend.run, "passing", None)
    assert (await parent.result())["texts"] == borrowed(1, 3)
    assert await own.texts("passing", f"Lend:{parent.id}") == []


async def test_the_same_holds_for_a_reference_with_a_key(own: Rig) -> None:
    lender, key = await own.start(Wait.run), unique("key")
    lent = MemoryRef("passing", key=key, workflow_id=lender.id, run_id=lender.result_run_id)
    await own.run(Append.run, lent, "By a reference.")
    assert await own.texts("passing", key) == ["By a reference."]
    await lender.signal(Wait.go_on)
    await lender.result()
    assert await own.texts("passing", key) == []


async def test_a_request_by_name_may_name_the_run_to_which_it_belongs_as_well(own: Rig) -> None:
    lender = {"workflow_id": unique("order"), "run_id": unique("run")}
    message: dict[str, Any] = {"messages": [{"role": "user", "content": "Hello."}]}
    for name, request in (
        (wire.APPEND, {"memory": {"resource": "own", "key": unique("key"), **lender}, **message}),
        (wire.EXECUTE, {"operation": "append", "resource": "own", "key": unique("key"), **lender, "payload": message}),
        (wire.RECORD_AGENT_TURN, {"agent": "runner", "workflow_type": "Order", **lender, **message}),
    ):
        await own.run(CallByName.run, name, request)
    index = own.memories.parts.backends["redis"].index
    bound = await index.bindings(own.memories.project, WorkflowId(own.client.namespace, lender["workflow_id"]))
    assert [binding.owner.run_id for binding in bound] == [lender["run_id"]] * 3
