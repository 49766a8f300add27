"""Who writes: the program's own summariser, else what the YAML declares; and what is missing is said at the start."""

from __future__ import annotations

import asyncio
import sys

import pytest

from durable_memory import MemoryClient, MemoryPlugin, Registry
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.memory import Memory
from tests.integration.llm.endpoint import SUMMARY, Endpoint
from tests.integration.llm.rig import RULES, declared, desk
from tests.integration.temporal.background import texts
from tests.integration.temporal.rig import unique


class Own:
    max_input_tokens: int | None = None

    async def summarize(self, request: SummaryRequest) -> str:
        return f"My own words on {len(request.messages)} messages."


def make_own() -> Own:
    return Own()


async def flushed(memory: Memory) -> str:
    await memory.append(texts(3))
    assert (await memory.flush(force=True)).outcome == "committed"
    (summary,) = [message for message in (await memory.read()).messages if message.section == "long_term"]
    return summary.text.partition("\n")[2]


async def test_each_resource_has_the_summariser_that_it_declares(redis_url: str, service: Endpoint) -> None:
    registry = Registry.from_resources([declared("desk", service.url), RULES])
    async with await MemoryClient.connect(redis_url, memories=registry, project=unique("project")) as memories:
        assert await flushed(memories.memory("desk", "key")) == SUMMARY
        assert "The parcel" in await flushed(memories.memory("rules", "key"))


async def test_a_summariser_of_the_program_writes_for_all_whatever_they_declare(
    redis_url: str, service: Endpoint
) -> None:
    registry = Registry.from_resources([declared("desk", service.url), RULES])
    async with await MemoryClient.connect(
        redis_url, memories=registry, project=unique("project"), summarizer=Own()
    ) as memories:
        for resource in ("desk", "rules"):
            assert (await flushed(memories.memory(resource, "key"))).startswith("My own words")
    assert service.requests == []


async def test_declarations_that_change_take_their_summariser_along(redis_url: str, service: Endpoint) -> None:
    rules = {**RULES, "id": "desk"}
    project = unique("project")
    async with await MemoryClient.connect(
        redis_url, memories=Registry.from_resources([rules]), project=project
    ) as memories:
        assert "The parcel" in await flushed(memories.memory("desk", "before"))
        memories.use(Registry.from_resources([declared("desk", service.url)]))
        assert await flushed(memories.memory("desk", "after")) == SUMMARY


async def test_a_worker_that_lacks_the_extra_or_the_key_says_so_at_its_start(
    temporal_address: str, redis_url: str, service: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    keyless = declared("desk", service.url, api_key_env="NO_SUCH_KEY")
    with pytest.raises(MemoryInvalid, match=r"desk: .*openai:gpt-4o-mini.*NO_SUCH_KEY is not set"):
        async with asyncio.timeout(20), desk(temporal_address, redis_url, [keyless]):
            await asyncio.Event().wait()
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MemoryInvalid, match=r"desk: .*pip install 'durable-memory\[llm\]'"):
        async with asyncio.timeout(20), desk(temporal_address, redis_url, [declared("desk", service.url)]):
            await asyncio.Event().wait()
    # Who only appends needs neither.
    registry = Registry.from_resources([keyless])
    async with await MemoryClient.connect(redis_url, memories=registry, project=unique("project")) as memories:
        await memories.memory("desk", "key").append(texts(2))
        with pytest.raises(MemoryInvalid, match="extra llm"):
            await memories.memory("desk", "key").flush(force=True)


def test_declarations_whose_model_cannot_be_asked_do_not_come_into_force(
    service: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    plugin = MemoryPlugin(redis_url="redis://localhost", memories=Registry.from_resources([RULES]))
    with pytest.raises(MemoryInvalid, match="NO_SUCH_KEY is not set"):
        plugin.use(Registry.from_resources([declared("desk", service.url, api_key_env="NO_SUCH_KEY")]))


def test_the_plugin_takes_the_summariser_that_the_setting_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_SUMMARIZER", f"{__name__}:no_such_thing")
    with pytest.raises(MemoryInvalid, match="no function or class 'no_such_thing'"):
        MemoryPlugin(redis_url="redis://localhost", memories=Registry.from_resources([RULES]))
    MemoryPlugin(redis_url="redis://localhost", memories=Registry.from_resources([RULES]), summarizer=Own())
