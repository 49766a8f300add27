"""While keys are rotated, a retry on a worker that has another step of the rotation is still the same operation."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from durable_memory import Memory, MemoryClient
from durable_memory.memory.errors import MemoryOperationConflict, MemoryUndecryptable
from durable_memory.memory.types import Message, ToolCall
from tests.integration.privacy.conftest import REGISTRY, forget_keys

OLD = "k1:" + base64.b64encode(b"1" * 32).decode()
NEW = "k2:" + base64.b64encode(b"2" * 32).decode()
OTHER = "k1:" + base64.b64encode(b"3" * 32).decode()
"""Of the same name as the old one."""
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
            await forget_keys(redis_url, key)
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


CALL = Message.assistant(tool_calls=[ToolCall("call-1", "track", "{}")])


async def left_waiting(memory: Memory) -> None:
    """Leaves nothing but messages that wait for their summary."""
    for number in range(30):
        await memory.append(f"Parcel {number} left the depot in Ghent for Lyon.")
    await memory.delete([message.id or "" for message in (await memory.read()).messages])
    assert (await memory.stats()).omitted.messages > 5


async def left_open(memory: Memory) -> None:
    """Leaves nothing but a call whose result is still to come."""
    await memory.append(CALL)


async def exported(client: MemoryClient, resource: str) -> list[str]:
    return [line async for line in client.export_messages(resource)]


@pytest.mark.parametrize("leave", [left_waiting, left_open])
async def test_an_export_with_the_new_key_alone_tells_that_the_old_one_is_needed_where_no_view_does(
    connect: Connect, leave: Callable[[Memory], Awaitable[None]]
) -> None:
    await leave((await connect(OLD)).memory("summed-up", "k"))
    new = await connect(NEW)
    assert (await new.memory("summed-up", "k").read()).messages == ()
    with pytest.raises(MemoryUndecryptable, match="encrypted with key 'k1'"):
        await exported(new, "summed-up")


async def test_what_is_exported_purged_and_imported_needs_the_old_key_no_more_and_has_all_that_was_said(
    connect: Connect,
) -> None:
    memory = (await connect(OLD)).memory("summed-up", "k")
    first = (await memory.append("Anna lives in Ghent.")).ids
    await memory.pin(first)
    await memory.append(CALL)
    for number in range(25):
        await memory.append(f"Parcel {number} left the depot in Ghent for Lyon.")
    assert (await memory.stats()).omitted.messages > 5
    both = await connect(f"{NEW},{OLD}")
    lines = await exported(both, "summed-up")
    await both.purge("summed-up", dry_run=False, confirm=True)
    assert (await both.import_messages(lines)).faults == 0

    new = await connect(NEW)
    assert said_in(await exported(new, "summed-up")) == said_in(lines)
    again = new.memory("summed-up", "k")
    assert [message.text for message in (await again.read()).messages if message.pinned] == ["Anna lives in Ghent."]
    assert (await again.append(Message.tool("in Lyon", "call-1"))).late == 0


async def test_to_write_what_was_read_would_lose_what_waits_and_what_is_open(connect: Connect) -> None:
    memory = (await connect(f"{NEW},{OLD}")).memory("summed-up", "k")
    await memory.append(CALL)
    for number in range(30):
        await memory.append(f"Parcel {number} left the depot in Ghent for Lyon.")
    view = await memory.read()
    written = await memory.write(view.messages, if_version=view.version)
    assert written.removed == len(view.messages) + view.omitted.messages + 1
    assert len(said_in(await exported(await connect(NEW), "summed-up"))) == len(view.messages)


@pytest.mark.parametrize("keys", [NEW, None, OTHER])
async def test_a_backup_that_this_process_cannot_read_replaces_nothing_and_comes_back_once_it_can(
    connect: Connect, keys: str | None
) -> None:
    backup_id = await kept_by((await connect(OLD)).memory("open", "k"))
    memory = (await connect(keys)).memory("open", "k")
    await memory.append(["new", "and newer"])
    before = await memory.read()
    with pytest.raises(MemoryUndecryptable, match=r"key 'k1'.*the memory stays as it is"):
        await memory.restore(backup_id, operation_id="undo")
    assert await memory.read() == before

    able = (await connect(f"{NEW},{OLD}")).memory("open", "k")
    assert not (await able.restore(backup_id, operation_id="undo")).already_applied
    assert [message.text for message in (await able.read()).messages] == ["old", "and older"]
    # An attempt that repeats it is no new restore, whatever keys its process has.
    assert (await memory.restore(backup_id, operation_id="undo")).already_applied


async def test_a_backup_of_which_only_some_messages_need_another_key_is_not_restored_either(connect: Connect) -> None:
    await (await connect(OLD)).memory("open", "k").append("old")
    backup_id = await kept_by((await connect(f"{NEW},{OLD}")).memory("open", "k"))
    memory = (await connect(NEW)).memory("open", "k")
    await memory.append("newer")
    with pytest.raises(MemoryUndecryptable):
        await memory.restore(backup_id)
    assert [message.text for message in (await memory.read()).messages] == ["newer"]


async def kept_by(memory: Memory) -> str:
    """Fills a memory and clears it; returns the id of the backup."""
    await memory.append(["old", "and older"])
    backup_id = (await memory.clear(confirm=True, backup=True)).backup_id
    assert backup_id is not None
    return backup_id


def said_in(lines: list[str]) -> list[str]:
    """The messages of an export, whatever the order in which parts of a memory come."""
    told = [json.loads(line)["message"] for line in lines[1:-1]]
    return sorted(json.dumps([one["content"], one.get("tool_calls"), one.get("pinned")]) for one in told)
