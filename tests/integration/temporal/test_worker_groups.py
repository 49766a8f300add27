"""Groups of workers: who shares connections, for how long, and with which Temporal client."""

from __future__ import annotations

import asyncio

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryClient, Registry
from durable_memory.activities.waker import TemporalWaker
from durable_memory.memory.errors import MemoryInvalid
from tests.integration.temporal.background import flusher_ended, texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.flows.talks import Talk
from tests.integration.temporal.observing import eventually, fault_of
from tests.integration.temporal.relay import open_relay
from tests.integration.temporal.rig import CHAT_IN_MEMORY, IN_MEMORY, REGISTRY, Rig, plugin, unique, worker
from tests.logs import said_by


async def test_the_first_of_two_workers_to_stop_does_not_close_the_connections_of_the_other(client: Client) -> None:
    first, second = unique("queue"), unique("queue")
    async with worker(client, second):
        async with worker(client, first):
            await client.execute_workflow(Talk.run, args=["key", "One."], id=unique("run"), task_queue=first)
        answer = await client.execute_workflow(Talk.run, args=["key", "Two."], id=unique("run"), task_queue=second)
        assert answer == "Attempt 1 knew 2 messages."


async def test_workers_that_start_and_stop_at_the_same_time_do_not_disturb_each_other(client: Client) -> None:
    async def serve_one(number: int) -> str:
        queue = unique("queue")
        async with worker(client, queue):
            answer: str = await client.execute_workflow(
                Talk.run, args=[f"key-{number}", "Hi."], id=unique("run"), task_queue=queue
            )
            return answer

    assert await asyncio.gather(*map(serve_one, range(4))) == ["Attempt 1 knew 0 messages."] * 4


async def test_a_plugin_whose_workers_have_all_stopped_opens_connections_again(client: Client) -> None:
    for knew in (0, 2):
        queue = unique("queue")
        async with worker(client, queue):
            answer = await client.execute_workflow(Talk.run, args=["key", "Hi."], id=unique("run"), task_queue=queue)
        assert answer == f"Attempt 1 knew {knew} messages."


async def test_a_worker_whose_client_is_exchanged_goes_on(
    client: Client, temporal_address: str, redis_url: str
) -> None:
    queue, project = unique("queue"), unique("project")
    given = plugin(redis_url, project)
    old, new = [await Client.connect(temporal_address, plugins=[given]) for _ in range(2)]
    async with worker(old, queue) as running_worker:
        await old.execute_workflow(Talk.run, args=["key", "Hi."], id=unique("run"), task_queue=queue)
        running_worker.client = new
        await client.execute_workflow(
            AppendMany.run, args=["small", ["key"], texts(4)], id=unique("run"), task_queue=queue
        )
        async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories:
            memory = memories.memory("small", "key")
            await flusher_ended(Rig(new, memories, queue, ""), memory)
            assert (await memory.stats()).messages["long_term"] == 1


async def test_a_worker_whose_client_is_exchanged_for_one_of_another_address_goes_on_and_so_do_its_flushes(
    temporal_address: str, redis_url: str
) -> None:
    queue, project = unique("queue"), unique("project")
    given = plugin(redis_url, project)
    new = await Client.connect(temporal_address, plugins=[given])
    async with open_relay(temporal_address) as relay:
        old = await Client.connect(relay.address, plugins=[given])
        async with (
            await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as memories,
            worker(old, queue) as running_worker,
        ):
            await old.execute_workflow(Talk.run, args=["key", "Hi."], id=unique("run"), task_queue=queue)
            running_worker.client = new
            answer = await new.execute_workflow(Talk.run, args=["key", "Hi."], id=unique("run"), task_queue=queue)
            assert answer == "Attempt 1 knew 2 messages."
            relay.cut()
            await new.execute_workflow(
                AppendMany.run, args=["small", ["key"], texts(4)], id=unique("run"), task_queue=queue
            )
            memory = memories.memory("small", "key")
            await flusher_ended(Rig(new, memories, queue, ""), memory)
            assert (await memory.stats()).messages["long_term"] == 1


async def test_flushes_follow_a_client_that_is_exchanged_while_no_activity_runs(
    temporal_address: str, redis_url: str
) -> None:
    queue, project = unique("queue"), unique("project")
    given = plugin(redis_url, project)
    new = await Client.connect(temporal_address, plugins=[given])
    async with open_relay(temporal_address) as relay:
        old = await Client.connect(relay.address, plugins=[given])
        waker = TemporalWaker(new, f"flushes-of-{project}")
        async with (
            await MemoryClient.connect(redis_url, memories=REGISTRY, project=project, waker=waker) as memories,
            worker(old, queue) as running_worker,
        ):
            await old.execute_workflow(Talk.run, args=["key", "Hi."], id=unique("run"), task_queue=queue)
            running_worker.client = new
            relay.cut()
            memory = memories.memory("small", "key")
            await memory.append(texts(4))
            await flusher_ended(Rig(new, memories, "", ""), memory)
            assert (await memory.stats()).messages["long_term"] == 1


async def test_a_client_that_the_plugins_own_workers_cannot_take_is_said_at_once(
    temporal_address: str, redis_url: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = plugin(redis_url, unique("project"))
    old, new = [await Client.connect(temporal_address, plugins=[given]) for _ in range(2)]
    exchange = vars(Worker)["client"]

    def refuse_companions(one: Worker, client: Client) -> None:
        if one.task_queue.startswith("flushes-of-"):
            raise ValueError("another runtime")
        exchange.fset(one, client)

    async def said() -> object:
        return said_by(caplog, "durable_memory.running.membership")

    monkeypatch.setattr(Worker, "client", property(exchange.fget, refuse_companions))
    queue = unique("queue")
    async with worker(old, queue) as running_worker:
        await old.execute_workflow(Talk.run, args=["key", "Hi."], id=unique("run"), task_queue=queue)
        running_worker.client = new
        await eventually(said)
    (record,) = said_by(caplog, "durable_memory.running.membership")
    assert (record.levelname, "another Temporal client" in record.message) == ("ERROR", True)


async def test_a_worker_that_has_stopped_refuses_no_later_declarations(temporal_address: str, redis_url: str) -> None:
    memories = plugin(redis_url, unique("project"), memories=IN_MEMORY, allow_in_memory=True)
    client = await Client.connect(temporal_address, plugins=[memories])
    async with worker(client, unique("queue")):
        pass
    memories.use(REGISTRY)
    queue = unique("queue")
    async with worker(client, queue):
        await client.execute_workflow(
            AppendMany.run, args=["chat", ["key"], ["kept in Redis"]], id=unique("run"), task_queue=queue
        )


async def test_declarations_that_one_of_two_groups_of_workers_cannot_serve_change_neither(
    temporal_address: str, redis_url: str
) -> None:
    both = Registry.from_resources(
        [{"resource": "memory", "id": "lasting", "max_tokens": 4000, "scope": "user"}, CHAT_IN_MEMORY]
    )
    memories = plugin(redis_url, unique("project"), memories=both, allow_in_memory=True)
    first, second = [
        await Client.connect(f"{host}:{temporal_address.rpartition(':')[2]}", plugins=[memories])
        for host in ("127.0.0.1", "localhost")  # workers of each address share connections
    ]
    queues = unique("queue"), unique("queue")

    async def append(client: Client, queue: str, resource: str) -> None:
        call = [resource, ["key"], ["a text"]]
        await client.execute_workflow(AppendMany.run, args=call, id=unique("run"), task_queue=queue)

    async with worker(first, queues[0]):
        await append(first, queues[0], "lasting")
        memories.use(IN_MEMORY)
        async with worker(second, queues[1]):
            await append(second, queues[1], "chat")
            with pytest.raises(MemoryInvalid, match="needs a store that was not opened at the start"):
                memories.use(both)
            assert (await fault_of(append(first, queues[0], "lasting"))).type == "MemoryUnknownResource"
