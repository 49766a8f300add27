"""The plugin: where it is registered, what it shares, what it leaves alone."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import AsyncIterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest
from temporalio import activity
from temporalio.api.common.v1 import Payload
from temporalio.client import Client
from temporalio.common import HeaderCodecBehavior, WorkerDeploymentVersion
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter, PayloadCodec
from temporalio.plugin import SimplePlugin
from temporalio.worker import UnsandboxedWorkflowRunner, Worker, WorkerConfig, WorkerDeploymentConfig

from durable_memory import AgentMemory, MemoryClient, MemoryPlugin, Registry
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.tokens.encodings import Encodings
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.flows.activity_ids import TalkHere
from tests.integration.temporal.flows.bare import IdentifyHandle, ListModules
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.flows.talks import Talk, UseEveryMethod
from tests.integration.temporal.observing import eventually
from tests.integration.temporal.rig import IN_MEMORY, REGISTRY, Rig, plugin, running, unique, worker
from tests.integration.temporal.user_activities import USER_ACTIVITIES


async def test_registered_twice_it_says_so_in_one_sentence(temporal_address: str, redis_url: str) -> None:
    both = [plugin(redis_url, "twice"), plugin(redis_url, "twice")]
    client = await Client.connect(temporal_address, plugins=both)
    with pytest.raises(ValueError, match=r"^MemoryPlugin is registered twice: pass it to Client\.connect once[^.]*$"):
        worker(client, unique("queue"))


async def test_registered_on_the_client_and_the_worker_it_says_so_in_one_sentence(
    client: Client, redis_url: str
) -> None:
    with (
        pytest.warns(UserWarning, match="present from both client and worker"),
        pytest.raises(ValueError, match="MemoryPlugin is registered twice"),
    ):
        worker(client, unique("queue"), plugins=[plugin(redis_url, "twice")])


async def test_registered_on_the_worker_only_it_says_where_it_belongs(temporal_client: Client, redis_url: str) -> None:
    with pytest.raises(ValueError, match=r"^MemoryPlugin belongs on the client[^.]*: pass it to Client\.connect$"):
        worker(temporal_client, unique("queue"), plugins=[plugin(redis_url, "worker-only")])


async def test_its_telemetry_key_is_the_secret_behind_the_hashes_of_its_memories(
    temporal_address: str, redis_url: str
) -> None:
    hashes = []
    for secret in ("a secret of the plugin", "another secret of the plugin", "a secret of the plugin"):
        ours = plugin(redis_url, unique("project"), telemetry_key=secret)
        client, queue = await Client.connect(temporal_address, plugins=[ours]), unique("queue")
        async with worker(client, queue):
            await client.execute_workflow(AppendMany.run, args=["ring", ["k"], ["Hello"]], id=queue, task_queue=queue)
            hashes.append(memory_hash(MemoryId("project", "ring", "k")))
    assert hashes[0] == hashes[2] != hashes[1]


async def test_without_a_companion_flushes_wait_for_a_worker_of_the_projects_queue(
    temporal_address: str, redis_url: str
) -> None:
    project, queue = unique("project"), unique("queue")
    given = plugin(redis_url, project, companion=False)
    client = await Client.connect(temporal_address, plugins=[given])
    async with (
        await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories,
        worker(client, queue),
    ):
        rig = Rig(client, memories, queue, f"flushes-of-{project}")
        memory = rig.memory("small", "key")
        await rig.run(AppendMany.run, "small", ["key"], texts(4))
        assert await rig.flusher_status(memory) == "RUNNING"
        described = await rig.flusher(memory).fetch_history()
        assert not any(event.HasField("workflow_task_started_event_attributes") for event in described.events)
        async with Worker(client, task_queue=rig.flush_queue):
            await flusher_ended(rig, memory)
        assert not (await memory.stats()).flush_due


async def test_projects_side_by_side_flush_each_on_a_queue_of_its_own(temporal_address: str, redis_url: str) -> None:
    async with AsyncExitStack() as stack:
        rigs = []
        for project in (unique("project"), unique("project")):
            client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project, task_queue=None)])
            memories = await MemoryClient.connect(redis_url, memories=REGISTRY, project=project)
            rig = Rig(client, await stack.enter_async_context(memories), unique("queue"), f"durable-memory-{project}")
            await stack.enter_async_context(worker(client, rig.queue))
            rigs.append(rig)
        for rig in rigs:
            await rig.run(AppendMany.run, "small", ["key"], texts(4))
        for rig in rigs:
            memory = rig.memory("small", "key")
            assert (await rig.flusher(memory).describe()).task_queue == rig.flush_queue
            await flusher_ended(rig, memory)
            assert (await memory.stats()).messages["long_term"] == 1


async def test_a_worker_on_the_projects_own_queue_flushes_too(temporal_address: str, redis_url: str) -> None:
    project = unique("project")
    queue = f"flushes-of-{project}"
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project)])
    async with (
        await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories,
        worker(client, queue),
    ):
        rig = Rig(client, memories, queue, queue)
        memory = rig.memory("small", "key")
        await rig.run(AppendMany.run, "small", ["key"], texts(4))
        await flusher_ended(rig, memory)
        assert not (await memory.stats()).flush_due


COUNTED = """
resource: memory
id: notes
max_tokens: 1000
token_provider: {provider: openai, model: MODEL}
"""


async def test_a_users_worker_loads_tokenizers_before_an_append_needs_them(
    temporal_address: str, redis_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    begun = set[str]()
    begin = Encodings.begin

    def noted(encodings: Encodings, name: str) -> None:
        begun.add(name)
        begin(encodings, name)

    async def any_begun() -> bool:
        return bool(begun)

    monkeypatch.setattr(Encodings, "begin", noted)
    registries = list[Registry]()
    for model in ("gpt-4o", "gpt-4"):
        (tmp_path / "notes.yaml").write_text(COUNTED.replace("MODEL", model))
        registries.append(Registry.load([tmp_path]))
    given = plugin(redis_url, unique("project"), memories=registries[0])
    client = await Client.connect(temporal_address, plugins=[given])
    assert begun == set()
    async with worker(client, unique("queue")):
        await eventually(any_begun)
        assert begun == {"o200k_base"}
        given.use(registries[1])
        assert begun == {"o200k_base", "cl100k_base"}


async def test_a_workflow_outside_the_sandbox_has_its_memory_as_well(temporal_address: str, redis_url: str) -> None:
    runner = UnsandboxedWorkflowRunner()
    async with running(temporal_address, redis_url, workflow_runner=runner) as rig:
        assert await rig.run(Talk.run, "key", "Hello.") == "Attempt 1 knew 0 messages."


class Scrambler(PayloadCodec):
    """Makes payloads unreadable."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See base class."""
        return [
            Payload(metadata={"encoding": b"binary/scrambled"}, data=bytes(b ^ 0x5A for b in p.SerializeToString()))
            for p in payloads
        ]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See base class."""
        return [Payload.FromString(bytes(b ^ 0x5A for b in payload.data)) for payload in payloads]


@pytest.fixture
async def scrambled(temporal_address: str, redis_url: str) -> AsyncIterator[Rig]:
    """A worker of a user with a data converter and a codec of their own."""
    converter: DataConverter = dataclasses.replace(pydantic_data_converter, payload_codec=Scrambler())
    async with running(temporal_address, redis_url, data_converter=converter) as rig:
        yield rig


async def test_the_users_converter_and_codec_stay_in_force(scrambled: Rig) -> None:
    key = unique("key")
    memory = scrambled.memory("small", key)
    assert (await scrambled.run(UseEveryMethod.run, key))["appended"] == [1, 1, 1, 3]
    await scrambled.run(AppendMany.run, "small", [key], texts(4))
    await flusher_ended(scrambled, memory)
    assert (await memory.stats()).messages["long_term"] == 1
    flusher = await scrambled.flusher(memory).fetch_history()
    assert key not in flusher.to_json()
    encodings = {
        payload.metadata["encoding"]
        for event in flusher.events
        if event.HasField("activity_task_scheduled_event_attributes")
        for payload in event.activity_task_scheduled_event_attributes.input.payloads
    }
    assert encodings == {b"binary/scrambled"}


async def test_local_activities_are_told_apart_where_only_workflows_encode_headers(
    temporal_address: str, redis_url: str
) -> None:
    client = await Client.connect(
        temporal_address,
        plugins=[plugin(redis_url, unique("project"))],
        data_converter=dataclasses.replace(DataConverter.default, payload_codec=Scrambler()),
        header_codec_behavior=HeaderCodecBehavior.WORKFLOW_ONLY_CODEC,
    )
    queue = unique("queue")
    async with worker(client, queue, workflows=[TalkHere]):
        answers = await client.execute_workflow(
            TalkHere.run,
            args=["key", ["Hello.", "Bye."]],
            id=unique("run"),
            task_queue=queue,
            execution_timeout=timedelta(minutes=1),
        )
    assert answers == ["Attempt 1 knew 0 messages.", "Attempt 1 knew 2 messages."]


@activity.defn
def of_another_plugin() -> str:
    """An activity that needs an executor."""
    return "done"


@pytest.mark.parametrize("order", [1, -1])
async def test_another_plugin_may_add_a_def_activity_to_all_workers(
    temporal_address: str, redis_url: str, order: int
) -> None:
    project, queue = unique("project"), unique("queue")
    plugins = [plugin(redis_url, project), SimplePlugin("tests.Adds", activities=[of_another_plugin])]
    client = await Client.connect(temporal_address, plugins=plugins[::order])
    with ThreadPoolExecutor(100) as executor:
        async with worker(client, queue, activity_executor=executor):
            answer = await client.execute_workflow(Talk.run, args=["key", "Hello."], id=unique("run"), task_queue=queue)
    assert answer == "Attempt 1 knew 0 messages."


class Versions(SimplePlugin):
    """Makes all workers of its client ones of a version that nothing is sent to, as it is not current."""

    def configure_worker(self, config: WorkerConfig) -> WorkerConfig:
        """See base class."""
        version = WorkerDeploymentVersion(unique("deployment"), "1")
        config["deployment_config"] = WorkerDeploymentConfig(version, use_worker_versioning=True)
        return super().configure_worker(config)


async def test_a_plugin_before_it_may_version_all_workers_and_flushes_go_on(
    temporal_address: str, redis_url: str
) -> None:
    project = unique("project")
    plugins = [Versions("tests.Versions"), plugin(redis_url, project)]
    client = await Client.connect(temporal_address, plugins=plugins)
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories:
        rig = Rig(client, memories, unique("queue"), f"flushes-of-{project}")
        memory = rig.memory("small", "key")
        await memory.append(texts(4))
        async with worker(client, rig.queue, workflows=[], activities=USER_ACTIVITIES):
            await TemporalWaker(client, rig.flush_queue).wake(memory.id)
            await flusher_ended(rig, memory)
        assert (await memory.stats()).messages["long_term"] == 1


async def test_a_worker_on_the_projects_own_queue_that_comes_after_the_companion_is_told_why_it_cannot(
    temporal_address: str, redis_url: str
) -> None:
    project, queue = unique("project"), unique("queue")
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project)])
    async with worker(client, queue):
        await client.execute_workflow(Talk.run, args=["key", "Hello."], id=unique("run"), task_queue=queue)
        with pytest.raises(MemoryInvalid, match=r"companion of this client polls .*before the first one runs"):
            worker(client, f"flushes-of-{project}")
    worker(client, f"flushes-of-{project}")


async def test_without_the_plugin_a_workflow_loads_none_of_the_heavy_modules(temporal_client: Client) -> None:
    queue = unique("queue")
    async with Worker(temporal_client, task_queue=queue, workflows=[ListModules]):
        loaded = set(await temporal_client.execute_workflow(ListModules.run, id=unique("run"), task_queue=queue))
    assert "durable_memory.workflows.agent_memory" in loaded
    assert loaded & {"redis", "tiktoken", "pydantic_settings", "yaml", "jinja2", "durable_memory.plugin"} == set()


async def test_with_the_plugin_workflows_share_our_modules_instead_of_importing_them_each(client: Client) -> None:
    queue = unique("queue")
    async with worker(client, queue, workflows=[IdentifyHandle]):
        handle = await client.execute_workflow(IdentifyHandle.run, id=unique("run"), task_queue=queue)
    assert handle == id(AgentMemory)


async def test_redis_that_cannot_be_reached_stops_the_worker_with_one_sentence(temporal_address: str) -> None:
    given = plugin("redis://:s3cret@127.0.0.1:1/0", unique("project"))
    client = await Client.connect(temporal_address, plugins=[given])
    with pytest.raises(MemoryUnavailable) as caught:
        async with worker(client, unique("queue")):
            await asyncio.sleep(30)
    assert "127.0.0.1:1" in caught.value.message
    assert "s3cret" not in str(caught.value)
    assert "\n" not in caught.value.message


async def test_what_was_started_while_redis_was_away_goes_on_with_the_next_worker(
    temporal_address: str, redis_url: str
) -> None:
    project, queue, run = unique("project"), unique("queue"), unique("run")
    client = await Client.connect(temporal_address, plugins=[plugin("redis://127.0.0.1:1/0", project)])
    with pytest.raises(MemoryUnavailable):
        async with worker(client, queue):
            await client.execute_workflow(Talk.run, args=["key", "Hello."], id=run, task_queue=queue)
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project)])
    handle = client.get_workflow_handle(run)
    assert not [
        one async for one in handle.fetch_history_events() if one.HasField("workflow_task_failed_event_attributes")
    ]
    async with worker(client, queue):
        assert await handle.result() == "Attempt 1 knew 0 messages."


def test_memories_of_one_process_are_refused_where_they_would_be_lost() -> None:
    with pytest.raises(MemoryInvalid, match=r"chat: persistence\.type in_memory .*allow_in_memory=True"):
        MemoryPlugin(memories=IN_MEMORY)


async def test_memories_of_one_process_work_where_a_test_allows_them(temporal_address: str) -> None:
    client = await Client.connect(temporal_address, plugins=[MemoryPlugin(memories=IN_MEMORY, allow_in_memory=True)])
    queue = unique("queue")
    async with worker(client, queue):
        answer = await client.execute_workflow(UseEveryMethod.run, "key", id=unique("run"), task_queue=queue)
    assert answer["flushed"] == "committed"
    assert answer["after_clear"] == ["absent", 0]
