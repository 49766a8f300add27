"""Listing and purging the memories of a project through the client: to the last one, and none that was not meant."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient
from durable_memory.memory.access import Mode
from durable_memory.memory.caller import ProcessCaller
from durable_memory.memory.clock import SystemClock
from durable_memory.memory.errors import MemoryContractTooNew, MemoryInvalid, MemoryUnavailable, MemoryUnknownResource
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.inventory import Inventory, Place
from durable_memory.memory.stores.forwarding import ForwardingStore
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Erased
from durable_memory.memory.types import PurgeResult
from tests.integration.inventory.conftest import declared, fill, keys_of
from tests.integration.inventory.newer import become_newer
from tests.wrapped_stores import through


async def test_listing_finds_by_resource_scope_and_prefix(client: MemoryClient) -> None:
    await fill(client, "desk", "user:al", "user:alice", "user:al:1")
    await fill(client, "thread", "user:al")
    await fill(client, "temporary", "user:al")
    assert await keys_of(client, "desk") == ["desk/user:al", "desk/user:al:1", "desk/user:alice"]
    assert await keys_of(client, "desk", prefix="user:al") == ["desk/user:al", "desk/user:al:1"]
    assert await keys_of(client, prefix="user:al:1") == ["desk/user:al:1"]
    assert await keys_of(client, scope="session") == ["temporary/user:al"]
    assert await keys_of(client, scope="session", prefix="user:alice") == []
    assert len(await keys_of(client)) == 5


async def test_pages_go_on_over_resources_and_show_counters(client: MemoryClient) -> None:
    await fill(client, "desk", "a", "b", "c")
    await fill(client, "thread", "a")
    seen: list[tuple[str, str, int]] = []
    cursor: str | None = None
    while True:
        page = await client.list_page(cursor=cursor, limit=2)
        assert len(page.memories) <= 2
        seen += [(one.resource, one.key, one.stats.messages["short_term"]) for one in page.memories if one.stats]
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == [("desk", "a", 2), ("desk", "b", 2), ("desk", "c", 2), ("thread", "a", 2)]


async def test_a_page_is_filled_from_the_next_resources(client: MemoryClient) -> None:
    await fill(client, "desk", "a")
    await fill(client, "temporary", "a")
    await fill(client, "thread", "a", "b", "c")
    first = await client.list_page(limit=4)
    assert [f"{one.resource}/{one.key}" for one in first.memories] == ["desk/a", "temporary/a", "thread/a", "thread/b"]
    last = await client.list_page(cursor=first.cursor, limit=4)
    assert ([one.key for one in last.memories], last.cursor) == (["c"], None)
    assert len((await client.list_page(limit=5)).memories) == 5


async def test_a_page_passes_over_what_is_no_longer_there(client: MemoryClient) -> None:
    await fill(client, "desk", "a", "b", "c", "d")
    for key in ("a", "c"):
        await client.memory("desk", key).clear(confirm=True)
    page = await client.list_page("desk", limit=2)
    assert [one.key for one in page.memories] == ["b", "d"]


@pytest.mark.parametrize("cursor", ["", "x", "WzFd", "e30=", "ä"])
async def test_a_cursor_of_nowhere_is_refused(client: MemoryClient, cursor: str) -> None:
    with pytest.raises(MemoryInvalid, match="cursor: is not one that this listing gave"):
        await client.list_page("desk", cursor=cursor)


async def test_a_cleared_memory_is_listed_no_more(client: MemoryClient) -> None:
    await fill(client, "desk", "a", "b")
    await client.memory("desk", "a").clear(confirm=True)
    assert await keys_of(client, "desk") == ["desk/b"]


async def test_a_dry_run_counts_and_removes_nothing(client: MemoryClient) -> None:
    await fill(client, "desk", "a", "b", "c:1")
    assert await client.purge("desk") == PurgeResult(memories=3, messages=6, dry_run=True)
    assert await client.purge(prefix="c") == PurgeResult(memories=1, messages=2, dry_run=True)
    assert len(await keys_of(client, "desk")) == 3


async def test_a_purge_removes_what_was_meant_and_nothing_else(client: MemoryClient) -> None:
    await fill(client, "desk", "user:al", "user:al:1", "user:alice")
    await fill(client, "thread", "user:al")
    await fill(client, "temporary", "user:al")
    purged = await client.purge("desk", prefix="user:al", dry_run=False, confirm=True)
    assert purged == PurgeResult(memories=2, messages=4, dry_run=False)
    assert await keys_of(client) == ["desk/user:alice", "temporary/user:al", "thread/user:al"]
    await client.purge(scope="session", dry_run=False, confirm=True)
    assert await keys_of(client) == ["desk/user:alice", "thread/user:al"]
    assert (await client.memory("desk", "user:al").read()).version == "absent"


async def test_a_purge_erases_backups_too_also_of_what_was_cleared_before(client: MemoryClient) -> None:
    await fill(client, "desk", "user:1", "user:1:a", "user:2")
    backups = [
        (await client.memory("desk", key).clear(confirm=True, backup=True)).backup_id for key in ("user:1", "user:2")
    ]
    await fill(client, "desk", "user:1")
    await client.memory("desk", "user:1:a").clear(confirm=True, backup=True)
    assert await keys_of(client, "desk") == ["desk/user:1"]  # a listing forgets none that has backups
    counted = await client.purge("desk", prefix="user:1")
    assert counted == PurgeResult(memories=1, messages=2, dry_run=True, backups=2)
    purged = await client.purge("desk", prefix="user:1", dry_run=False, confirm=True)
    assert purged == PurgeResult(memories=1, messages=2, dry_run=False, backups=2)
    with pytest.raises(MemoryInvalid, match="backup_id"):
        await client.memory("desk", "user:1").restore(backups[0] or "")
    assert (await client.memory("desk", "user:2").restore(backups[1] or "")).messages == 2
    assert await client.purge("desk", prefix="user:1") == PurgeResult(memories=0, messages=0, dry_run=True)


async def test_a_purge_without_a_word_of_confirmation_or_of_what_is_refused(client: MemoryClient) -> None:
    await fill(client, "desk", "a")
    with pytest.raises(MemoryInvalid, match="confirm: purge removes"):
        await client.purge("desk", dry_run=False)
    with pytest.raises(MemoryInvalid, match="name a resource, a scope or a key prefix"):
        await client.purge(dry_run=False, confirm=True)
    with pytest.raises(MemoryUnknownResource, match="did you mean 'desk'"):
        await client.purge("desc", dry_run=False, confirm=True)
    assert await keys_of(client, "desk") == ["desk/a"]


async def test_a_purge_asks_a_function_and_removes_what_it_was_told_of(client: MemoryClient) -> None:
    asked = list[PurgeResult]()

    def no(found: PurgeResult) -> bool:
        asked.append(found)
        return False

    def yes(found: PurgeResult) -> bool:
        asked.append(found)
        return True

    await fill(client, "desk", "user:1", "user:2")
    would_be = PurgeResult(memories=2, messages=4, dry_run=True)
    assert await client.purge("desk", dry_run=False, confirm=no) == would_be
    vague: Any = lambda _: "no"  # noqa: E731 - of the wrong type
    assert await client.purge("desk", dry_run=False, confirm=vague) == would_be
    assert len(await keys_of(client, "desk")) == 2
    done = await client.purge("desk", dry_run=False, confirm=yes)
    assert done == PurgeResult(memories=2, messages=4, dry_run=False)
    assert asked == [would_be, would_be]
    nothing = await client.purge("desk", dry_run=False, confirm=yes)
    assert (nothing.memories, len(asked)) == (0, 2), "there is nothing to ask about"


async def test_a_purge_reaches_the_last_of_2500_while_others_are_born_and_those_stay(client: MemoryClient) -> None:
    await fill(client, "desk", *(f"user:{number:04}" for number in range(2500)))
    await asyncio.sleep(0.01)
    born: list[str] = []
    ended = asyncio.Event()

    async def go_on_writing() -> None:
        while not ended.is_set():
            key = f"user:{len(born) * 37 % 2500:04}/new"
            await fill(client, "desk", key)
            born.append(key)
            await asyncio.sleep(0)

    purging = asyncio.create_task(client.purge("desk", dry_run=False, confirm=True))
    first = client.memory("desk", "user:0000")
    # Until one is gone, the purge may not have asked what is there.
    while (await first.stats()).exists:  # noqa: ASYNC110 - it happens in the store
        await asyncio.sleep(0)
    writing = asyncio.create_task(go_on_writing())
    purged = await purging
    ended.set()
    await writing
    assert (purged.memories, purged.messages) == (2500, 5000)
    assert len(born) > 5
    assert set(await keys_of(client, "desk")) == {f"desk/{key}" for key in born}


class Meanwhile(ForwardingStore):
    """A store in which something else happens before the first erase."""

    def __init__(self, store: Store, happens: Callable[[], Awaitable[None]]) -> None:
        super().__init__(store)
        self._happens: Callable[[], Awaitable[None]] | None = happens

    async def erase(self, memory: MemoryId, *, born_until_ms: int, mode: Mode) -> Erased:
        happens, self._happens = self._happens, None
        if happens is not None:
            await happens()
        return await super().erase(memory, born_until_ms=born_until_ms, mode=mode)


async def test_a_memory_of_a_later_resource_that_is_born_meanwhile_stays(client: MemoryClient) -> None:
    await fill(client, "desk", "user:1")
    await fill(client, "thread", "user:1")

    async def born() -> None:
        await asyncio.sleep(0.01)
        await fill(client, "thread", "user:2")

    places = []
    for name in ("desk", "thread"):
        resource = client.parts.registry.memory(name)
        services = client.parts.services(resource)
        store = services.store if name == "thread" else Meanwhile(services.store, born)
        places.append(Place(name, store, services.index, resource.limits()))
    inventory = Inventory(client.project, places, "user:")
    purged = await inventory.purge(await inventory.moments(), ProcessCaller(SystemClock()))
    assert purged.whole().memories == 2
    assert await keys_of(client) == ["thread/user:2"]


async def test_a_memory_that_is_written_to_meanwhile_is_purged_whole(client: MemoryClient) -> None:
    await fill(client, "desk", "busy")
    await asyncio.sleep(0.01)
    ended = asyncio.Event()

    async def go_on_writing() -> None:
        while not ended.is_set():
            await client.memory("desk", "busy").append("more")
            await asyncio.sleep(0.001)

    writing = [asyncio.create_task(go_on_writing()) for _ in range(2)]
    await asyncio.sleep(0.02)
    before = await client.memory("desk", "busy").stats()
    purged = await client.purge("desk", dry_run=False, confirm=True)
    ended.set()
    await asyncio.gather(*writing)
    after = await client.memory("desk", "busy").stats()
    assert purged.memories == 1
    assert after.version.partition(":")[0] != before.version.partition(":")[0]


async def test_an_index_whose_names_were_removed_is_listed_whole(redis_url: str, project: str) -> None:
    prefix = f"lost-{uuid.uuid4().hex[:8]}:"
    registry = declared("desk", persistence="redis")
    async with (
        await MemoryClient.connect(redis_url, memories=registry, project=project, prefix=prefix) as client,
        Redis.from_url(redis_url) as raw,
    ):
        await fill(client, "desk", "a", "b")
        assert await raw.delete(f"{prefix}{{{project}}}:names:desk") == 1
        assert await keys_of(client, "desk") == ["desk/a", "desk/b"]


@pytest.mark.parametrize("text", ["\ud83d", "a\0b"])
async def test_a_prefix_that_is_no_valid_text_is_refused(client: MemoryClient, text: str) -> None:
    for call in (client.list_page(prefix=text), client.purge("desk", prefix=text)):
        with pytest.raises(MemoryInvalid, match=r"^prefix: "):
            await call
    with pytest.raises(MemoryUnknownResource):
        await client.list_page(text)


async def test_a_purge_needs_a_clear_word_that_it_is_real(client: MemoryClient) -> None:
    await client.memory("desk", "k").append("stays")
    unclear: Any = (None, 0, "")
    for dry_run in unclear:
        with pytest.raises(MemoryInvalid, match=r"^dry_run: "):
            await client.purge("desk", dry_run=dry_run, confirm=True)
    assert (await client.memory("desk", "k").stats()).exists


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"resource": 5}, "resource: must be"),
        ({"resource": ["desk"], "key": "k"}, "resource: must be"),
        ({"resource": "desk", "key": "k", "agent": 5}, "agent: must be"),
        ({"resource": "desk", "input": [1]}, "input: must be an object"),
    ],
)
async def test_a_handle_for_what_names_nothing_is_refused_by_argument(
    client: MemoryClient, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(MemoryInvalid, match=words):
        client.memory(**arguments)


@pytest.mark.parametrize("client", ["redis"], indirect=True)
async def test_a_memory_of_a_newer_version_is_named_and_keeps_no_other_from_health_list_and_purge(
    client: MemoryClient, redis_url: str
) -> None:
    await fill(client, "desk", *(f"user:{number:03}" for number in range(250)))
    newer = client.memory("desk", "user:002")
    await become_newer(redis_url, newer.id)
    health = await newer.health()
    [problem] = health.problems
    assert "newer version" in problem
    assert health.stats is None
    listed = [one for one in (await client.list_page("desk", limit=250)).memories if one.newer]
    assert [(one.key, one.stats) for one in listed] == [("user:002", None)]
    with pytest.raises(MemoryContractTooNew, match=r"such memories: 1, .*; 249 could be removed"):
        await client.purge("desk")
    with pytest.raises(MemoryContractTooNew, match=r"such memories: 1, .*; 249 were removed"):
        await client.purge("desk", dry_run=False, confirm=True)
    assert await keys_of(client, "desk") == ["desk/user:002"]


class FailsAtOne(ForwardingStore):
    """A store that takes a moment to erase a memory, and fails at one of them."""

    async def erase(self, memory: MemoryId, *, born_until_ms: int, mode: Mode) -> Erased:
        if memory.key == "user:005":
            raise MemoryUnavailable("away")
        await asyncio.sleep(0.01)
        return await super().erase(memory, born_until_ms=born_until_ms, mode=mode)


@pytest.mark.parametrize("client", ["in_memory"], indirect=True)
async def test_a_purge_that_has_failed_erases_nothing_more(client: MemoryClient) -> None:
    await fill(client, "desk", *(f"user:{number:03}" for number in range(100)))
    with pytest.raises(MemoryUnavailable, match="away"):
        await through(client, FailsAtOne).purge("desk", dry_run=False, confirm=True)
    left = await keys_of(client, "desk")
    await asyncio.sleep(0.2)
    assert await keys_of(client, "desk") == left
    assert len(left) > 80
