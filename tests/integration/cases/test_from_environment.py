"""A program that connects with what the environment gives shares memories with workers that do."""

from __future__ import annotations

from pathlib import Path

import pytest
from redis.asyncio import Redis

from durable_memory import MemoryClient, MemoryInvalid, SummaryRequest
from durable_memory.memory.hashing import memory_hash, use_secret
from tests.integration.cases.conftest import unique

KEYS = "k1:c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I="
SAID = "The parcel of Marley is late."
SUMMARY = "A parcel is late."


class Own:
    """A summariser of one's own."""

    max_input_tokens: int | None = None

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer."""
        return SUMMARY if request.messages else ""


def make() -> Own:
    """What DURABLE_MEMORY_SUMMARIZER names."""
    return Own()


@pytest.fixture
def settings(folder: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    given = {
        "REDIS_URL": redis_url,
        "DURABLE_MEMORY_MEMORIES": str(folder),
        "DURABLE_MEMORY_PROJECT": unique("project"),
        "DURABLE_MEMORY_PREFIX": "own:",
        "DURABLE_MEMORY_ENCRYPTION_KEYS": KEYS,
        "DURABLE_MEMORY_TELEMETRY_KEY": "the secret of an environment",
        "DURABLE_MEMORY_SUMMARIZER": f"{__name__}:make",
        "DURABLE_MEMORY_AUDIT_LOG": str(folder / "audit.jsonl"),
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    return given


async def test_a_client_has_all_settings_of_the_environment_but_an_audit_file(
    settings: dict[str, str], redis_url: str, folder: Path
) -> None:
    project, key = settings["DURABLE_MEMORY_PROJECT"], "marley"
    async with await MemoryClient.from_environment() as client:
        memory = client.memory("small", key)
        await memory.append([SAID] * 4)
        assert (await memory.flush(force=True)).outcome == "committed"
        hashed = memory_hash(memory.id)
        shared = {"memories": [folder], "project": project, "prefix": "own:", "encryption_keys": KEYS}
        async with await MemoryClient.connect(redis_url, **shared) as other:  # type: ignore[arg-type] # values of two types
            assert SUMMARY in (await other.memory("small", key).read()).messages[0].text
        await memory.clear(confirm=True)
        await memory.append(SAID)
    async with Redis.from_url(redis_url) as raw:
        [held] = await raw.hvals(f"own:{{{project}/small/{key}}}:msg")
    assert isinstance(held, bytes)
    assert SAID.encode() not in held
    use_secret("the secret of an environment")
    assert memory_hash(memory.id) == hashed
    assert not (folder / "audit.jsonl").exists()


@pytest.mark.usefixtures("settings")
async def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_PROJECT", "Not An Id")
    with pytest.raises(MemoryInvalid, match=r"^DURABLE_MEMORY_PROJECT: "):
        await MemoryClient.from_environment()


@pytest.mark.usefixtures("settings")
async def test_a_summariser_that_cannot_be_made_is_named_before_anything_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_SUMMARIZER", "no_such_module:make")
    with pytest.raises(MemoryInvalid, match=r"DURABLE_MEMORY_SUMMARIZER.*cannot be imported"):
        await MemoryClient.from_environment()
