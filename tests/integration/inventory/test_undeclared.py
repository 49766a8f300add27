"""Memories whose declaration was removed or renamed: a listing and a purge find them all the same."""

from __future__ import annotations

import uuid
from contextlib import AsyncExitStack

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient
from durable_memory.memory.errors import MemoryInvalid, MemoryUnknownResource
from tests.integration.inventory.conftest import declared, fill, keys_of


@pytest.fixture(params=["redis", "in_memory"])
async def renamed(request: pytest.FixtureRequest, stack: AsyncExitStack, project: str, redis_url: str) -> MemoryClient:
    """A client whose resources `back` and `gone` are declared no more, `desk` and `thread` still are."""
    persistence = request.param
    before = declared("thread", "gone", "desk", "back", persistence=persistence)
    client = await stack.enter_async_context(await MemoryClient.connect(redis_url, memories=before, project=project))
    for resource in ("gone", "back", "desk", "thread"):
        await fill(client, resource, "user:1", "user:2")
    after = declared("thread", "desk", persistence=persistence)
    if persistence == "redis":
        client = await stack.enter_async_context(await MemoryClient.connect(redis_url, memories=after, project=project))
    else:  # it is the only process that can see them
        client.use(after)
    return client


async def test_data_of_a_resource_that_is_no_longer_declared_is_found_and_purged_by_its_id(
    renamed: MemoryClient,
) -> None:
    assert await keys_of(renamed, "gone") == ["gone/user:1", "gone/user:2"]
    with pytest.raises(MemoryInvalid, match="no longer declared"):
        await renamed.purge("gone", scope="user")
    assert (await renamed.purge("gone", prefix="user:1")).memories == 1
    purged = await renamed.purge("gone", dry_run=False, confirm=True)
    assert (purged.memories, purged.messages) == (2, 4)
    with pytest.raises(MemoryUnknownResource):
        await keys_of(renamed, "gone")


async def test_a_listing_finds_what_is_no_longer_declared_in_its_place_in_the_order(renamed: MemoryClient) -> None:
    everything = [f"{resource}/user:{n}" for resource in ("back", "desk", "gone", "thread") for n in (1, 2)]
    assert await keys_of(renamed) == everything
    for limit in (1, 3, 4):
        seen: list[str] = []
        cursor: str | None = None
        while True:
            page = await renamed.list_page(cursor=cursor, limit=limit)
            seen += [f"{one.resource}/{one.key}" for one in page.memories]
            cursor = page.cursor
            if cursor is None:
                break
        assert seen == everything


async def test_a_page_goes_on_behind_a_resource_that_lost_its_last_memory_meanwhile(renamed: MemoryClient) -> None:
    first = await renamed.list_page(limit=1)
    await renamed.purge("back", dry_run=False, confirm=True)
    following = await renamed.list_page(cursor=first.cursor, limit=2)
    assert [f"{one.resource}/{one.key}" for one in following.memories] == ["desk/user:1", "desk/user:2"]


async def test_a_purge_of_one_person_leaves_nothing_under_a_resource_that_is_no_longer_declared(
    renamed: MemoryClient,
) -> None:
    assert (await renamed.purge(prefix="user:1")).memories == 4
    purged = await renamed.purge(prefix="user:1", dry_run=False, confirm=True)
    assert (purged.memories, purged.messages) == (4, 8)
    assert await keys_of(renamed) == [f"{resource}/user:2" for resource in ("back", "desk", "gone", "thread")]


async def test_a_scope_leaves_out_what_is_no_longer_declared(renamed: MemoryClient) -> None:
    assert {key.split("/")[0] for key in await keys_of(renamed, scope="user")} == {"desk", "thread"}
    await renamed.purge(scope="user", prefix="user", dry_run=False, confirm=True)
    assert {key.split("/")[0] for key in await keys_of(renamed)} == {"back", "gone"}


async def test_what_is_declared_is_found_also_where_the_set_of_resources_was_lost(redis_url: str, project: str) -> None:
    prefix = f"lost-{uuid.uuid4().hex[:8]}:"
    async with (
        await MemoryClient.connect(
            redis_url, memories=declared("desk", "gone", persistence="redis"), project=project, prefix=prefix
        ) as client,
        Redis.from_url(redis_url) as raw,
    ):
        await fill(client, "desk", "a", "b")
        await fill(client, "gone", "a")
        assert await raw.delete(f"{prefix}{{{project}}}:resources") == 1
        client.use(declared("desk", persistence="redis"))
        assert await keys_of(client) == ["desk/a", "desk/b"]
        assert await keys_of(client, "gone") == ["gone/a"]
        assert (await client.purge(prefix="a", dry_run=False, confirm=True)).memories == 1
