"""With keys, Redis holds nothing of what was said; without the right ones nobody reads it."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from durable_memory import MemoryClient, Message
from durable_memory.memory.codec import decode
from durable_memory.memory.errors import MemoryOperationConflict, MemoryUndecryptable
from durable_memory.memory.stores import sealed
from durable_memory.memory.stores.values import Entry, Operation
from durable_memory.memory.types import ToolCall
from tests.integration.privacy.conftest import REGISTRY, Repeats, forget_keys
from tests.integration.privacy.redis_files import Kept
from tests.logs import said_by

MARKER = "marley4711"
OLD = "k1:" + base64.b64encode(b"1" * 32).decode()
NEW = "k2:" + base64.b64encode(b"2" * 32).decode()
WRONG = "k1:" + base64.b64encode(b"3" * 32).decode()

Connect = Callable[..., Awaitable[MemoryClient]]


@pytest.fixture
async def connect(kept: Kept, summarizer: Repeats) -> AsyncIterator[Connect]:
    """Connects as a process with these keys."""
    async with AsyncExitStack() as stack:

        async def connected(keys: str | None) -> MemoryClient:
            await forget_keys(kept.url, "default")
            client = await MemoryClient.connect(
                kept.url, memories=REGISTRY, summarizer=summarizer, encryption_keys=keys
            )
            return await stack.enter_async_context(client)

        yield connected


async def texts(client: MemoryClient, resource: str, key: str) -> list[str]:
    return [message.text for message in (await client.memory(resource, key).read()).messages]


async def test_nothing_of_what_was_said_is_in_redis(
    connect: Connect, kept: Kept, summarizer: Repeats, key: str
) -> None:
    client = await connect(OLD)
    summarizer.says = f"A summary of {MARKER}."
    memory = client.memory("summed-up", key)
    call = ToolCall("call-1", "look_up", json.dumps({"who": MARKER}))
    await memory.append([f"I am {MARKER}", Message.assistant(tool_calls=[call]), Message.tool(MARKER, "call-1")])
    for number in range(30):
        await memory.append(Message.user(f"{MARKER} has parcel {number}", name=MARKER, metadata={MARKER: MARKER}))
    assert (await memory.flush()).outcome == "committed"
    await client.memory("open", key).write(f"written by {MARKER}")
    turn = await client.memory("open", key).record_turn(f"said by {MARKER}", operation_id="turn")
    again = await client.memory("open", key).record_turn("other words", operation_id="turn")
    assert again.messages[0].text == turn.messages[0].text == f"said by {MARKER}"
    shown = await texts(client, "summed-up", key)
    assert f"A summary of {MARKER}." in shown[0]
    assert f"{MARKER} has parcel 29" in shown[-1]
    everything = await kept.all()
    assert "enc:1:k1:" in everything
    assert MARKER not in everything
    assert base64.b64encode(MARKER.encode()).decode()[:10] not in everything


async def test_a_new_key_writes_while_the_old_one_still_reads(connect: Connect, kept: Kept, key: str) -> None:
    await (await connect(None)).memory("open", key).append("first in plain text")
    await (await connect(OLD)).memory("open", key).append("then with the old key", operation_id="retried")
    rotated = await connect(f"{NEW},{OLD}")
    assert (await rotated.memory("open", key).append("then with the old key", operation_id="retried")).already_applied
    await rotated.memory("open", key).append("then with the new key")
    said = ["first in plain text", "then with the old key", "then with the new key"]
    assert await texts(rotated, "open", key) == said
    assert "enc:1:k2:" in await kept.values()
    await rotated.memory("open", key).write(said)  # written anew, all of it under the new key
    assert await texts(await connect(NEW), "open", key) == said


async def test_without_the_right_key_an_error_says_which_one_is_needed(connect: Connect, key: str) -> None:
    await (await connect(OLD)).memory("open", key).append(f"I am {MARKER}")
    for keys, words in (
        (None, "is encrypted with key 'k1', which this process does not have"),
        (NEW, "is encrypted with key 'k1', which this process does not have"),
        (WRONG, "does not open with key 'k1': the key is not the one that wrote it"),
    ):
        memory = (await connect(keys)).memory("open", key)
        with pytest.raises(MemoryUndecryptable, match=words) as refused:
            await memory.read()
        assert (refused.value.retryable, MARKER in str(refused.value)) == (False, False)
        assert (await memory.stats()).exists
        with pytest.raises(MemoryUndecryptable, match=words):
            await memory.stats(group_by="role")


LOGGER = sealed.__name__
WARNING = (
    "a message was stored in plain text after others had been encrypted: a process that writes to these memories lacks "
    "DURABLE_MEMORY_ENCRYPTION_KEYS"
)


async def test_a_process_with_keys_tells_once_of_one_that_writes_without(
    connect: Connect, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    client = await connect(OLD)
    memory = client.memory("open", key)
    await memory.append("Hello")
    await memory.read()
    assert said_by(caplog, LOGGER) == []
    await (await connect(None)).memory("open", key).append(f"I am {MARKER}")
    for _ in range(2):
        assert (await memory.read()).messages[1].text == f"I am {MARKER}"
    assert [(record.levelname, record.message, record.__dict__["resource"]) for record in said_by(caplog, LOGGER)] == [
        ("WARNING", WARNING, "open")
    ]


async def test_what_was_stored_before_there_were_keys_is_no_reason_for_a_warning(
    connect: Connect, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    call = Message.assistant(tool_calls=[ToolCall("call-1", "look_up", "{}")])
    await (await connect(None)).memory("open", key).append([call, "Are you there?"])
    memory = (await connect(OLD)).memory("open", key)
    await memory.append([Message.tool("In Lyon.", "call-1"), "Hello?"])  # the result stands before the older question
    assert [message.text for message in (await memory.read()).messages] == ["", "In Lyon.", "Are you there?", "Hello?"]
    assert said_by(caplog, LOGGER) == []


async def test_a_record_that_is_moved_to_another_memory_does_not_open_there(
    connect: Connect, kept: Kept, key: str
) -> None:
    client = await connect(OLD)
    await client.memory("open", f"{key}-a").append(f"I am {MARKER}")
    await client.memory("open", f"{key}-b").append("Hello")
    (source,) = await kept.redis.keys(f"*{key}-a*:msg")
    (target,) = await kept.redis.keys(f"*{key}-b*:msg")
    stolen = next(iter((await kept.redis.hgetall(source)).values()))
    await kept.redis.hset(target, next(iter(await kept.redis.hkeys(target))), stolen)
    with pytest.raises(MemoryUndecryptable, match="moved here from another memory"):
        await client.memory("open", f"{key}-b").read()


async def test_the_same_operation_with_other_words_is_still_a_conflict(connect: Connect, key: str) -> None:
    memory = (await connect(OLD)).memory("open", key)
    await memory.append("Hello", operation_id="one")
    assert (await memory.append("Hello", operation_id="one")).already_applied
    with pytest.raises(MemoryOperationConflict):
        await memory.append("Good-bye", operation_id="one")


async def test_what_a_worker_with_keys_applied_is_a_conflict_to_one_without_also_under_a_policy(
    connect: Connect, key: str
) -> None:
    with_keys, without, others = [(await connect(keys)).memory("private", key) for keys in (OLD, None, NEW)]
    await with_keys.append("Hello", operation_id="one")
    for memory in (without, others):
        with pytest.raises(MemoryOperationConflict):
            await memory.append("Hello", operation_id="one")


async def test_asking_whether_an_append_would_be_refused_knows_what_another_step_of_a_rotation_wrote(
    connect: Connect, kept: Kept, key: str
) -> None:
    deadline_ms = 2**52
    said, other = (Entry(f'{{"role":"user","content":"{text}"}}', "short_term", 5) for text in (MARKER, "Hello"))
    resource = REGISTRY.memory("open")
    clients = [await connect(keys) for keys in (OLD, f"{NEW},{OLD}")]
    before, rotated = [client.parts.services(resource).store for client in clients]
    memory, limits = clients[0].memory("open", key).id, resource.limits()
    await before.append(memory, [said], Operation("one", deadline_ms, "digest of it"), limits)
    await rotated.try_append(memory, [said], Operation("one", deadline_ms, "digest of it"), limits)
    with pytest.raises(MemoryOperationConflict):
        await rotated.try_append(memory, [other], Operation("one", deadline_ms, "another"), limits)
    assert MARKER not in await kept.all()


async def test_a_scan_shows_messages_too(connect: Connect, key: str) -> None:
    client = await connect(OLD)
    memory = client.memory("open", key)
    await memory.append(["one", "two"])
    store = client.parts.services(REGISTRY.memory("open")).store
    found, cursor, ended = [], None, False
    while not ended:
        page = await store.scan(memory.id, cursor, 100)
        found += [decode(entry).text for entry, _ in page.entries]
        cursor, ended = page.cursor, page.cursor is None
    assert found == ["one", "two"]
