"""The slips that are made most often end a workflow at once, in words that say what to do, instead of hanging it."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from nexusrpc import HandlerError
from nexusrpc.handler import StartOperationContext, service_handler, sync_operation
from temporalio import activity
from temporalio.api.failure.v1 import Failure
from temporalio.api.nexus.v1 import EndpointSpec, EndpointTarget
from temporalio.api.operatorservice.v1 import CreateNexusEndpointRequest
from temporalio.client import (
    Client,
    WorkflowFailureError,
    WorkflowHandle,
    WorkflowQueryFailedError,
    WorkflowUpdateFailedError,
)
from temporalio.exceptions import ApplicationError, NexusOperationError
from temporalio.worker import Replayer, Worker

from durable_memory import Agent, AgentMemory, AgentRef, MemoryRef, current_memory_client
from durable_memory.memory.errors import MemoryInvalid
from tests.integration.temporal.flows.slips import (
    WHERE,
    AddToAReference,
    AnswerAHandle,
    AskForTheClient,
    CallAService,
    CallWithAnyType,
    OpenAnother,
    OpenWhatCame,
    PassAHandle,
    SayNothing,
)
from tests.integration.temporal.observing import eventually, fault_of
from tests.integration.temporal.rig import plugin, unique


@activity.defn
async def asks_for_the_client() -> None:
    """Asks for the client where there may be none."""
    current_memory_client()


@activity.defn
def asks_in_a_thread() -> None:
    """Asks for the client in a thread."""
    current_memory_client()


@activity.defn
def asks_in_a_loop_of_its_own() -> None:
    """Asks for the client in a thread that runs an event loop."""
    asyncio.run(asks_for_the_client())


@activity.defn
def names_no_memory() -> None:
    """Fails in a thread as a call of the core would."""
    raise MemoryInvalid("key: is missing")


SLIPS = (asks_for_the_client, asks_in_a_thread, asks_in_a_loop_of_its_own, names_no_memory)


@pytest.mark.parametrize(
    "what", ["memory", "agent", "local", "child", "signal", "signal to a child", "service", "continue-as-new", "result"]
)
async def test_a_handle_in_the_place_of_its_reference_fails_the_workflow(lone_client: Client, what: str) -> None:
    queue = unique("queue")
    async with Worker(lone_client, task_queue=queue, workflows=[PassAHandle, AddToAReference]):
        handle = await lone_client.start_workflow(PassAHandle.run, what, id=unique("run"), task_queue=queue)
        fault = await fault_of(handle.result())
    assert fault.type == "MemoryInvalid"
    assert "pass its `ref`" in fault.message


async def test_a_handler_that_answers_a_handle_fails_its_caller_and_not_the_workflow(lone_client: Client) -> None:
    queue = unique("queue")
    async with Worker(lone_client, task_queue=queue, workflows=[AnswerAHandle]):
        handle = await lone_client.start_workflow(AnswerAHandle.run, id=unique("run"), task_queue=queue)
        with pytest.raises(WorkflowQueryFailedError, match="pass its `ref`"):
            await handle.query(AnswerAHandle.query)
        with pytest.raises(WorkflowUpdateFailedError) as caught:
            await handle.execute_update(AnswerAHandle.update)
        assert "pass its `ref`" in str(caught.value.cause)
        assert await handle.result() == "went on"


@pytest.mark.parametrize(("what", "named"), [("memory", "key"), ("agent", "input")])
async def test_what_is_given_beside_a_reference_fails_the_workflow(lone_client: Client, what: str, named: str) -> None:
    queue = unique("queue")
    async with Worker(lone_client, task_queue=queue, workflows=[AddToAReference]):
        handle = await lone_client.start_workflow(AddToAReference.run, what, id=unique("run"), task_queue=queue)
        fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)
    assert fault.message.startswith(f"{named}: stands beside a reference")


@pytest.mark.parametrize(("what", "kind"), [("memory", "MemoryRef"), ("agent", "AgentRef")])
async def test_a_reference_that_came_as_json_fails_the_workflow_and_says_what_to_annotate(
    lone_client: Client, what: str, kind: str
) -> None:
    queue, sent = unique("queue"), AgentRef("clerk") if what == "agent" else MemoryRef("chat", key="anna")
    async with Worker(lone_client, task_queue=queue, workflows=[OpenWhatCame]):
        handle = await lone_client.start_workflow(
            OpenWhatCame.run, args=[what, sent], id=unique("run"), task_queue=queue
        )
        fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)
    assert f"is a dict, not a {kind}; annotate the parameter" in fault.message


@pytest.mark.parametrize(("what", "right"), [("memory", "Agent(ref)"), ("agent", "AgentMemory(ref)")])
async def test_a_reference_that_is_opened_as_what_it_is_not_fails_the_workflow(
    lone_client: Client, what: str, right: str
) -> None:
    queue = unique("queue")
    async with Worker(lone_client, task_queue=queue, workflows=[OpenAnother]):
        handle = await lone_client.start_workflow(OpenAnother.run, what, id=unique("run"), task_queue=queue)
        fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)
    assert right in fault.message


NEEDED = {
    **{name: {"messages": "hello"} for name in ("append", "record_turn", "write")},
    **{name: {"ids": ["a-1-b"]} for name in ("touch", "pin", "unpin", "delete")},
    "clear": {"confirm": True},
    "restore": {"backup_id": "x"},
    "recorded_turn": {"operation_id": "x"},
}
"""What a call has to have beside the argument that is wrong."""


async def test_an_argument_of_a_wrong_type_fails_the_call_by_its_name(lone_client: Client) -> None:
    queue = unique("queue")
    calls = [
        (method, argument, NEEDED.get(method, {}), "agent" if kind is Agent else "memory")
        for kind in (AgentMemory, Agent)
        for method, function in inspect.getmembers(kind, inspect.isfunction)
        if not method.startswith("_")
        for argument in list(inspect.signature(function).parameters)[1:]
        if argument != "local"  # chooses how to call, by its truth
    ]
    async with Worker(lone_client, task_queue=queue, workflows=[CallWithAnyType]):
        endings = await asyncio.gather(
            *(
                lone_client.execute_workflow(CallWithAnyType.run, args=call, id=unique("run"), task_queue=queue)
                for call in calls
            )
        )
    told = [
        (*call[:2], ending)
        for call, both in zip(calls, endings, strict=True)
        for ending in both
        if not ending.startswith("MemoryInvalid: ") or call[1] not in ending
    ]
    assert len(calls) > 30
    assert told == []


async def test_a_message_that_cannot_be_made_fails_the_workflow_and_not_its_task_for_ever(
    temporal_address: str, redis_url: str
) -> None:
    ours = plugin(redis_url, unique("project"), companion=False)
    client = await Client.connect(temporal_address, plugins=[ours])
    queue = unique("queue")
    async with Worker(client, task_queue=queue, workflows=[SayNothing]):
        handle = await client.start_workflow(SayNothing.run, "", id=unique("run"), task_queue=queue)
        fault = await asyncio.wait_for(fault_of(handle.result()), 120)
        history = await handle.fetch_history()
    assert fault.type == "InvalidValue"
    assert "content: is empty" in fault.message
    await Replayer(workflows=[SayNothing], plugins=[ours]).replay_workflow(history)


@pytest.mark.parametrize("where", WHERE)
async def test_a_client_that_is_asked_for_where_there_is_none_ends_the_caller(lone_client: Client, where: str) -> None:
    queue = unique("queue")
    with ThreadPoolExecutor(1) as threads:
        async with Worker(
            lone_client, task_queue=queue, workflows=[AskForTheClient], activities=SLIPS, activity_executor=threads
        ):
            handle = await lone_client.start_workflow(AskForTheClient.run, where, id=unique("run"), task_queue=queue)
            fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)
    assert "`async def` activity" in fault.message


async def test_a_worker_without_the_plugin_leaves_the_activity_to_one_that_has_it(
    temporal_address: str, redis_url: str
) -> None:
    queue = unique("queue")
    without = await Client.connect(temporal_address)
    ours = await Client.connect(temporal_address, plugins=[plugin(redis_url, unique("project"), companion=False)])
    async with Worker(without, task_queue=queue, workflows=[AskForTheClient], activities=[asks_for_the_client]):
        handle = await without.start_workflow(AskForTheClient.run, "in an activity", id=unique("run"), task_queue=queue)
        [said] = await eventually(lambda: last_failures(handle))
        assert said.application_failure_info.type == "MemoryWrongWorker"
        assert "this worker has no MemoryPlugin" in said.message
    async with Worker(ours, task_queue=queue, workflows=[AskForTheClient], activities=[asks_for_the_client]):
        await handle.result()


async def test_a_local_activity_without_the_plugin_ends_since_no_other_worker_can_take_it(
    temporal_address: str,
) -> None:
    client, queue = await Client.connect(temporal_address), unique("queue")
    async with Worker(client, task_queue=queue, workflows=[AskForTheClient], activities=[asks_for_the_client]):
        handle = await client.start_workflow(
            AskForTheClient.run, "in a local activity", id=unique("run"), task_queue=queue
        )
        fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)


async def last_failures(handle: WorkflowHandle[Any, Any]) -> list[Failure]:
    """Why the calls that a workflow waits for have failed."""
    pending = (await handle.describe()).raw_description.pending_activities
    return [call.last_failure for call in pending if call.HasField("last_failure")]


@service_handler(name="Clerk")
class Clerk:
    """A service that asks for the client in its operation."""

    def __init__(self) -> None:
        self.asked = 0

    @sync_operation
    async def ask(self, ctx: StartOperationContext, user: str) -> None:  # noqa: ARG002 - what operations are given
        """See class."""
        self.asked += 1
        current_memory_client()


async def test_a_client_that_is_asked_for_in_a_nexus_operation_ends_it(lone_client: Client) -> None:
    queue, endpoint, clerk = unique("queue"), unique("endpoint"), Clerk()
    target = EndpointTarget(worker=EndpointTarget.Worker(namespace=lone_client.namespace, task_queue=queue))
    await lone_client.operator_service.create_nexus_endpoint(
        CreateNexusEndpointRequest(spec=EndpointSpec(name=endpoint, target=target))
    )
    async with Worker(lone_client, task_queue=queue, workflows=[CallAService], nexus_service_handlers=[clerk]):
        with pytest.raises(WorkflowFailureError) as caught:
            await lone_client.execute_workflow(CallAService.run, endpoint, id=unique("run"), task_queue=queue)
    assert isinstance(caught.value.cause, NexusOperationError)
    assert isinstance(caught.value.cause.cause, HandlerError)
    assert "`async def` activity" in str(caught.value.cause.cause.__cause__)
    assert clerk.asked == 1


async def test_an_error_of_ours_in_a_thread_keeps_its_verdict_on_retries(lone_client: Client) -> None:
    queue = unique("queue")
    with ThreadPoolExecutor(1) as threads:
        async with Worker(
            lone_client, task_queue=queue, workflows=[AskForTheClient], activities=SLIPS, activity_executor=threads
        ):
            handle = await lone_client.start_workflow(
                AskForTheClient.run, "in a thread, by its own client", id=unique("run"), task_queue=queue
            )
            fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)


@pytest.mark.parametrize("make", [lambda: AgentMemory("desk", "k"), lambda: Agent("clerk", input={"user": "7"})])
def test_a_handle_of_workflows_made_elsewhere_names_those_of_activities_and_programs(
    make: Callable[[], object],
) -> None:
    with pytest.raises(ApplicationError, match="in an activity open it with current_memory_client") as refused:
        make()
    assert (refused.value.type, refused.value.non_retryable) == ("MemoryInvalid", True)


def test_outside_of_temporal_it_is_an_error_of_ours() -> None:
    with pytest.raises(MemoryInvalid, match="no memory client here"):
        current_memory_client()
