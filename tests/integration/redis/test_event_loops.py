"""A client in another event loop than its own is refused, and breaks nothing for those who use it where it belongs."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import timedelta

import pytest
from temporalio import activity
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryClient, MemoryInvalid, MemoryPlugin, Registry, current_memory_client
from durable_memory.memory.stores.backend import Backend

BREAKER = {"enabled": True, "max_failures": 1}
REGISTRY = Registry.from_resources(
    [
        {"resource": "memory", "id": "plain", "max_tokens": 4000},
        {"resource": "memory", "id": "guarded", "max_tokens": 4000, "persistence": {"circuit_breaker": BREAKER}},
    ]
)
CALLS: dict[str, Callable[[MemoryClient, str], Awaitable[object]]] = {
    "append": lambda client, resource: client.memory(resource, "k").append("Hello."),
    "read": lambda client, resource: client.memory(resource, "k").read(),
    "health": lambda client, resource: client.memory(resource, "k").health(check_connectivity=True),
    "list": lambda client, resource: client.list_page(resource),
}
WHAT_TO_DO = "asyncio.run_coroutine_threadsafe"


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[MemoryClient]:
    project = f"loops-{uuid.uuid4().hex[:8]}"
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as opened:
        yield opened


async def elsewhere(call: Callable[[], Awaitable[object]]) -> object:
    """Runs a call in a thread with an event loop of its own."""

    async def run() -> object:
        return await call()

    return await asyncio.to_thread(lambda: asyncio.run(run()))


@pytest.mark.parametrize("resource", ["plain", "guarded"])
@pytest.mark.parametrize("call", CALLS)
async def test_a_call_from_another_loop_is_refused_with_what_to_do_instead(
    client: MemoryClient, resource: str, call: str
) -> None:
    with pytest.raises(MemoryInvalid, match=WHAT_TO_DO):
        await elsewhere(lambda: CALLS[call](client, resource))


@pytest.mark.parametrize("resource", ["plain", "guarded"])
async def test_calls_from_other_loops_break_nothing_in_the_own_one(client: MemoryClient, resource: str) -> None:
    own = client.memory(resource, "k")
    for _ in range(3):
        foreign = [elsewhere(lambda: CALLS["append"](client, resource)) for _ in range(4)]
        ended = await asyncio.gather(*foreign, *(own.append("Hello.") for _ in range(10)), return_exceptions=True)
        assert [type(one) for one in ended[:4]] == [MemoryInvalid] * 4
    assert len((await own.read()).messages) == 30


async def test_declarations_are_put_in_force_from_another_thread(client: MemoryClient) -> None:
    loop = asyncio.get_running_loop()
    loop.set_debug(True)  # it then refuses what other threads do to it unasked
    try:
        with client.parts.watched() as changed:
            await asyncio.to_thread(client.use, REGISTRY)
            async with asyncio.timeout(60):
                await changed.wait()
    finally:
        loop.set_debug(False)


async def test_a_client_is_refused_in_another_loop_also_while_its_own_stands_still(redis_url: str) -> None:
    def use() -> None:
        project = f"loops-{uuid.uuid4().hex[:8]}"
        with asyncio.Runner() as own, asyncio.Runner() as other:
            client = own.run(MemoryClient.connect(redis_url, memories=REGISTRY, project=project))
            try:
                other.run(_append(client))
            finally:
                own.run(client.close())

    with pytest.raises(MemoryInvalid, match="connect one here"):
        await asyncio.to_thread(use)


async def test_a_client_is_closed_in_its_own_loop_alone(client: MemoryClient) -> None:
    with pytest.raises(MemoryInvalid, match=WHAT_TO_DO):
        await elsewhere(client.close)
    assert (await client.memory("plain", "k").append("Hello.")).messages == 1


async def test_each_loop_may_have_a_client_of_its_own(client: MemoryClient, redis_url: str) -> None:
    async def append() -> int:
        async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=client.project) as own:
            return (await own.memory("plain", "k").append("Hello.")).messages

    await client.memory("plain", "k").append("Hello.")
    assert await elsewhere(append) == 2


async def test_a_stores_ports_are_refused_as_well(backend: Backend) -> None:
    with pytest.raises(MemoryInvalid, match=WHAT_TO_DO):
        await elsewhere(backend.store.ping)
    with pytest.raises(MemoryInvalid, match=WHAT_TO_DO):
        await elsewhere(backend.store.close)
    await backend.store.ping()


async def _append(client: MemoryClient) -> int:
    return (await client.memory("plain", "k").append("Hello.")).messages


@activity.defn
async def append_by_asyncio_run() -> str:
    """Lets a blocking framework in a thread call a tool, which runs a coroutine as best it can."""
    client = current_memory_client()
    try:
        return str(await asyncio.to_thread(lambda: asyncio.run(_append(client))))
    except MemoryInvalid as error:
        return error.message


@activity.defn
async def append_in_the_own_loop() -> str:
    """The same, and the tool hands its call to the loop of the activity."""
    client, loop = current_memory_client(), asyncio.get_running_loop()
    return str(await asyncio.to_thread(lambda: asyncio.run_coroutine_threadsafe(_append(client), loop).result(60)))


async def test_a_tool_in_a_thread_hands_its_call_to_the_loop_of_the_activity(
    temporal_address: str, redis_url: str
) -> None:
    name = f"loops-{uuid.uuid4().hex[:8]}"
    ours = MemoryPlugin(redis_url=redis_url, memories=REGISTRY, project=name, companion=False)
    client = await Client.connect(temporal_address, plugins=[ours])

    async def run(called: Callable[[], Awaitable[str]], number: int) -> str:
        handle = await client.start_activity(
            called,
            id=f"{name}-{called.__name__}-{number}",
            task_queue=name,
            start_to_close_timeout=timedelta(minutes=1),
        )
        return await handle.result()

    async with Worker(client, task_queue=name, activities=[append_by_asyncio_run, append_in_the_own_loop]):
        refused = await asyncio.gather(*(run(append_by_asyncio_run, number) for number in range(4)))
        taken = await asyncio.gather(*(run(append_in_the_own_loop, number) for number in range(10)))
    assert [WHAT_TO_DO in one for one in refused] == [True] * 4
    assert sorted(map(int, taken)) == list(range(1, 11))
