"""A process whose keys are not those of its project is refused before it writes what nobody else can read."""

from __future__ import annotations

import base64
import hashlib
import logging
from pathlib import Path

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient, MemoryInvalid
from durable_memory.dev import Valkey
from durable_memory.memory import key_checks
from tests.integration.cli.programs import run_program
from tests.integration.privacy.conftest import REGISTRY
from tests.integration.worker.starting import folder, own_valkey
from tests.logs import said_by

__all__ = ["folder", "own_valkey"]

OLD = "k1:" + base64.b64encode(b"1" * 32).decode()
NEW = "k2:" + base64.b64encode(b"2" * 32).decode()
ANOTHER = "k1:" + base64.b64encode(b"3" * 32).decode()
"""Of the same name as the old one."""


async def connects(redis_url: str, project: str, keys: str | None) -> bool:
    """Appends as a process with these keys."""
    async with await MemoryClient.connect(
        redis_url, memories=REGISTRY, project=project, encryption_keys=keys
    ) as client:
        return (await client.memory("open", "k").append("hello")).created


@pytest.mark.parametrize("keys", [ANOTHER, f"{NEW},{ANOTHER}"], ids=["writes", "reads"])
async def test_another_key_of_a_known_name_is_refused_whatever_its_place(redis_url: str, key: str, keys: str) -> None:
    assert await connects(redis_url, key, OLD)
    with pytest.raises(MemoryInvalid, match=r"^encryption_keys: the key 'k1' of this process is another one") as told:
        await connects(redis_url, key, keys)
    for pair in keys.split(","):
        assert pair.partition(":")[2] not in told.value.message
    assert not await connects(redis_url, key, OLD)


async def test_a_new_key_alone_is_refused_until_it_was_seen_beside_a_known_one(redis_url: str, key: str) -> None:
    assert await connects(redis_url, key, OLD)
    with pytest.raises(MemoryInvalid, match=r"is encrypted with 'k1', and this process has none of these keys"):
        await connects(redis_url, key, NEW)
    for keys in (f"{OLD},{NEW}", f"{NEW},{OLD}", NEW):
        assert not await connects(redis_url, key, keys)


async def test_projects_have_keys_of_their_own_and_may_have_none(redis_url: str, key: str) -> None:
    assert await connects(redis_url, key, OLD)
    assert await connects(redis_url, f"{key}-2", ANOTHER)
    assert not await connects(redis_url, key, None)


async def test_a_process_without_keys_is_told_that_its_project_has_some(
    redis_url: str, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    assert await connects(redis_url, key, None)
    assert said_by(caplog, key_checks.__name__) == []
    assert not await connects(redis_url, key, OLD)
    assert not await connects(redis_url, key, None)
    [warning] = said_by(caplog, key_checks.__name__)
    assert warning.levelno == logging.WARNING
    assert f"project {key!r} is encrypted with 'k1', and this process has no keys" in warning.getMessage()


async def test_a_user_who_may_run_no_script_is_told_so_by_calls_and_not_by_the_look_for_keys(
    own_valkey: Valkey, key: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with Redis.from_url(own_valkey.url) as raw:
        await raw.acl_setuser("limited", enabled=True, passwords=["+word"], keys=["*"], commands=["+@all", "-hgetall"])
    limited = own_valkey.url.replace("://", "://limited:word@")
    async with await MemoryClient.connect(limited, memories=REGISTRY, project=key):
        [warning] = said_by(caplog, key_checks.__name__)
    assert f"whether project {key!r} has encryption keys could not be found out" in warning.getMessage()


async def test_what_is_noted_of_a_key_is_short_and_no_part_of_it(redis_url: str, key: str) -> None:
    assert await connects(redis_url, key, OLD)
    async with Redis.from_url(redis_url, decode_responses=True) as raw:
        noted = await raw.hgetall(f"dm:{{{key}}}:keys")
    [(name, check)] = noted.items()
    assert (name, len(check)) == ("k1", 32)
    digest = hashlib.sha256(b"durable-memory digest\0" + b"1" * 32).digest()
    for secret in (b"1" * 32, digest):
        assert str(check) not in secret.hex()


async def test_a_redis_that_refuses_writes_for_now_refuses_no_process(own_valkey: Valkey, key: str) -> None:
    async with Redis.from_url(own_valkey.url) as raw:
        await raw.config_set("maxmemory", 1)
        async with await MemoryClient.connect(
            own_valkey.url, memories=REGISTRY, project=key, encryption_keys=OLD
        ) as client:
            assert (await client.memory("open", "k").read()).messages == ()
        await raw.config_set("maxmemory", 0)
        assert await raw.exists(f"dm:{{{key}}}:keys") == 0
    assert await connects(own_valkey.url, key, OLD)
    with pytest.raises(MemoryInvalid, match="is another one"):
        await connects(own_valkey.url, key, ANOTHER)


async def test_a_command_with_a_wrong_key_writes_nothing_and_says_so(redis_url: str, key: str, folder: Path) -> None:
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": key}
    append = ("append", "thread", "k", "hello")
    assert (await run_program(*append, cwd=folder, DURABLE_MEMORY_ENCRYPTION_KEYS=OLD, **given)).code == 0
    wrong = await run_program(*append, cwd=folder, DURABLE_MEMORY_ENCRYPTION_KEYS=ANOTHER, **given)
    assert (wrong.code, wrong.out) == (1, "")
    assert wrong.err.startswith("Error: encryption_keys: the key 'k1' of this process is another one")
    shown = await run_program(
        "read", "thread", "k", "-o", "json", cwd=folder, DURABLE_MEMORY_ENCRYPTION_KEYS=OLD, **given
    )
    assert [message["content"] for message in shown.json()["messages"]] == ["hello"]
