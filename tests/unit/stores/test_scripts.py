"""The scripts: what changes a memory asks for the caller's mode first, and each has all the parts that it uses."""

from __future__ import annotations

from collections.abc import AsyncIterator
from importlib.resources import files

import pytest
from redis.asyncio import Redis

from durable_memory.memory.stores.redis.scripts import load_script
from tests.unit.stores.lua_chunks import MOST_LOCALS, Chunk, compiled

ALL = {
    path.name.removesuffix(".lua"): path.read_text()
    for path in files("durable_memory.memory.stores.redis").iterdir()
    if path.name.endswith(".lua") and not path.name.startswith("part_")
}
OF_A_MEMORY = {name for name in ALL if not name.startswith(("index_", "spend", "probe"))}
READ = {"read", "find", "touch", "stats", "plan", "scan", "recorded"}
ASKS_ITSELF = {"heal"}
"""The other parts would meet the damage that it mends."""
NEED_A_BATCH = {"content", "draft", "renew", "fail"}
"""Only a begin gives one."""

OF_THE_SERVER = frozenset(
    {"ARGV", "KEYS", "error", "ipairs", "math", "next", "pairs", "redis", "string", "struct", "table", "tonumber"}
    | {"tostring", "type", "unpack"}
)
"""What a script finds when it begins."""

ROOM_FOR_LOCALS = 20
"""So many more a script can have, so that the next change of a part does not have to make room first."""


@pytest.fixture(scope="module")
async def redis(redis_url: str) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis_url) as client:
        yield client


@pytest.mark.parametrize("name", sorted(OF_A_MEMORY - READ - NEED_A_BATCH - ASKS_ITSELF))
def test_a_script_that_changes_a_memory_asks_for_the_mode_before_all_else(name: str) -> None:
    lines = [line for line in ALL[name].splitlines() if line.startswith("-- parts: ") or not line.startswith("--")]
    gate = "may_append" if name in ("append", "try_append") else "may_change"
    assert lines[0].split()[2] == gate


async def compiled_script(redis: Redis, name: str) -> Chunk:
    source = load_script(name).source.decode().removeprefix("#!lua")
    return await compiled(redis, f"do\n{source}\nend")


@pytest.mark.parametrize("name", sorted(ALL))
async def test_a_script_has_all_the_parts_that_it_uses(redis: Redis, name: str) -> None:
    assert (await compiled_script(redis, name)).free <= OF_THE_SERVER


@pytest.mark.parametrize("name", sorted(ALL))
async def test_a_script_stays_clear_of_the_most_locals_that_lua_has(redis: Redis, name: str) -> None:
    assert MOST_LOCALS - (await compiled_script(redis, name)).most_locals >= ROOM_FOR_LOCALS
