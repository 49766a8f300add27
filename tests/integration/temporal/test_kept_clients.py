"""A memory client that activities keep from an earlier attempt: its calls would pass for more of that attempt's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

import pytest
from temporalio import activity
from temporalio.exceptions import ApplicationError

from durable_memory import MemoryClient, MemoryRef, current_memory_client
from durable_memory.memory.memory import Memory
from tests.integration.temporal.flows.talks import Talk
from tests.integration.temporal.observing import fault_of
from tests.integration.temporal.rig import running, unique
from tests.integration.temporal.user_activities import FAILS_ONCE

Opening: TypeAlias = Callable[[MemoryClient, MemoryRef, list[Memory]], Memory]


class Keeper:
    """Asks for the client once, for all of its activities."""

    def __init__(self, opened: Opening) -> None:
        """opened: how it opens a memory; the list is its own to keep what it has opened."""
        self._opened = opened
        self._client: MemoryClient | None = None
        self._memories: list[Memory] = []

    @activity.defn(name="model_turn")
    async def turn(self, ref: MemoryRef, text: str) -> str:
        """Appends."""
        self._client = self._client or current_memory_client()
        await self._opened(self._client, ref, self._memories).append(text)
        if text == FAILS_ONCE and activity.info().attempt == 1:
            raise RuntimeError("the worker lost the answer")
        return "noted"


def opened_each_time(client: MemoryClient, ref: MemoryRef, _kept: list[Memory]) -> Memory:
    """Keeps the client alone."""
    return client.memory(ref)


def opened_once(client: MemoryClient, ref: MemoryRef, kept: list[Memory]) -> Memory:
    """Keeps the handle as well."""
    kept[:] = kept or [client.memory(ref)]
    return kept[0]


HOWEVER_OPENED = pytest.mark.parametrize("opened", [opened_each_time, opened_once])


@HOWEVER_OPENED
async def test_in_an_activity_of_another_workflow_it_is_refused(
    temporal_address: str, redis_url: str, opened: Opening
) -> None:
    key, other = unique("key"), unique("key")
    async with running(temporal_address, redis_url, activities=[Keeper(opened).turn]) as rig:
        assert await rig.run(Talk.run, key, "Hello.") == "noted"
        refused(await fault_of(rig.run(Talk.run, other, "Hello.")))
        assert [await rig.texts("chat", one) for one in (key, other)] == [["Hello."], []]


@HOWEVER_OPENED
async def test_in_the_next_attempt_it_is_refused_and_writes_nothing_twice(
    temporal_address: str, redis_url: str, opened: Opening
) -> None:
    key = unique("key")
    async with running(temporal_address, redis_url, activities=[Keeper(opened).turn]) as rig:
        refused(await fault_of(rig.run(Talk.run, key, FAILS_ONCE)))
        assert await rig.texts("chat", key) == [FAILS_ONCE]


class Switchboard:
    """Writes what all of its activities hand over in one task, which the first one makes."""

    def __init__(self) -> None:
        self._calls: asyncio.Queue[tuple[Memory, str, asyncio.Future[None]]] = asyncio.Queue()
        self.writing: asyncio.Task[None] | None = None

    @activity.defn(name="model_turn")
    async def turn(self, ref: MemoryRef, text: str) -> str:
        """Hands over, and waits until it is written."""
        self.writing = self.writing or asyncio.create_task(self._write())
        written = asyncio.get_running_loop().create_future()
        await self._calls.put((current_memory_client().memory(ref), text, written))
        await written
        return "noted"

    async def _write(self) -> None:
        while True:
            memory, text, written = await self._calls.get()
            try:
                await memory.append(text)
            except BaseException as error:
                written.set_exception(error)
                raise
            written.set_result(None)


async def test_a_task_that_has_outlived_its_attempt_may_write_for_another(
    temporal_address: str, redis_url: str
) -> None:
    first, second = unique("key"), unique("key")
    board = Switchboard()
    async with running(temporal_address, redis_url, activities=[board.turn]) as rig:
        assert await rig.run(Talk.run, first, "Hello.") == "noted"
        assert await rig.run(Talk.run, second, "Hello.") == "noted"
        assert [await rig.texts("chat", one) for one in (first, second)] == [["Hello."], ["Hello."]]
    assert board.writing is not None
    board.writing.cancel()


def refused(fault: ApplicationError) -> None:
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)
    assert "call current_memory_client() in each" in fault.message
