"""While keys are rotated, a retry on a worker that has another step of the rotation is still the same operation."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from durable_memory import Memory, MemoryClient
from durable_memory.memory.errors import MemoryOperationConflict
from durable_memory.memory.types import Message
from tests.integration.privacy.conftest import REGISTRY

OLD = "k1:" + base64.b64encode(b"1" * 32).decode()
NEW = "k2:" + base64.b64encode(b"2" * 32).decode()
STEPS = {
    "keys are given": (None, OLD),
    "the new key reads": (OLD, f"{OLD},{NEW}"),
    "the new key writes": (f"{OLD},{NEW}", f"{NEW},{OLD}"),
    "the old key goes": (f"{NEW},{OLD}", NEW),
}

Connect = Callable[[str | None], Awaitable[MemoryClient]]


@pytest.fixture
async def connect(redis_url: str, key: str) -> AsyncIterator[Connect]:
    """Connects as a worker with these keys."""
    async with AsyncExitStack() as stack:

        async def connected(keys: str | None) -> MemoryClient:
            client = await MemoryClient.connect(redis_url, memories=REGISTRY, project=key, encryption_keys=keys)
            return await stack.enter_async_context(client)

        yield connected


async def append(memory: Memory, said: str) -> object:
    return (await memory.append(said, operation_id="act-7")).already_applied


async def write(memory: Memory, said: str) -> object:
    return (await memory.write([Message.user(said)], operation_id="act-7")).already_applied


@pytest.mark.parametrize("change", [append, write])
@pytest.mark.parametrize("step", STEPS)
async def test_what_the_step_before_applied_is_not_applied_again(
    connect: Connect, step: str, change: Callable[[Memory, str], Awaitable[object]]
) -> None:
    before, after = [(await connect(keys)).memory("open", "k") for keys in STEPS[step]]
    assert await change(before, "hello") is False
    assert await change(after, "hello") is True
    with pytest.raises(MemoryOperationConflict):
        await change(after, "good-bye")
    assert (await after.stats()).messages["short_term"] == 1


@pytest.mark.parametrize("step", [step for step, (before, _) in STEPS.items() if before is not None])
async def test_what_the_step_after_applied_is_not_applied_again_by_a_worker_of_the_one_before(
    connect: Connect, step: str
) -> None:
    before, after = [(await connect(keys)).memory("open", "k") for keys in STEPS[step]]
    assert await append(after, "hello") is False
    assert await append(before, "hello") is True
    with pytest.raises(MemoryOperationConflict):
        await append(before, "good-bye")


async def test_an_operation_of_each_other_kind_is_the_same_one_under_the_next_keys(connect: Connect) -> None:
    one, other = [(await connect(keys)).memory("open", "k") for keys in STEPS["the new key writes"]]
    first, second = (await one.append(["first", "second"])).ids
    assert await one.pin([first], operation_id="pin") == await other.pin([first], operation_id="pin") == (first,)
    assert await one.unpin([first], operation_id="unpin") == await other.unpin([first], operation_id="unpin")
    assert await one.delete([second], operation_id="delete") == await other.delete([second], operation_id="delete")
    kept = await one.clear(confirm=True, backup=True, operation_id="clear")
    assert await other.clear(confirm=True, backup=True, operation_id="clear") == kept
    assert kept.backup_id is not None
    assert not (await one.restore(kept.backup_id, operation_id="restore")).already_applied
    assert (await other.restore(kept.backup_id, operation_id="restore")).already_applied
    turn = await one.record_turn("said", operation_id="turn")
    assert (await other.record_turn("said", operation_id="turn")).result.ids == turn.result.ids
    assert [message.text for message in (await other.read()).messages] == ["first", "said"]
    for clash in (other.pin([], operation_id="delete"), other.clear(confirm=True, operation_id="clear")):
        with pytest.raises(MemoryOperationConflict):
            await clash
