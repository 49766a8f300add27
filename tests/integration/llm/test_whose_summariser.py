"""Who writes: the program's own summariser, else what the YAML declares; and what is missing is said at the start."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest
import yaml

from durable_memory import MemoryClient, MemoryPlugin, Registry
from durable_memory.memory.errors import MemoryInvalid, MemorySummaryRejected
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.memory import Memory
from tests.integration.cli.programs import run_program
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Fails, Says
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


async def test_the_log_names_who_wrote_a_summary_and_says_where_the_rules_stood_in(
    redis_url: str, service: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", "durable_memory")
    project = unique("project")
    registry = Registry.from_resources([declared("desk", service.url), RULES])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as memories:
        desk, rules = memories.memory("desk", "key"), memories.memory("rules", "key")
        await flushed(desk)
        await flushed(rules)
        service.default = Fails(503)
        await desk.append(texts(3))
        await desk.flush(force=True)
    told = [vars(record) for record in caplog.records if record.getMessage().startswith("a summary was written for ")]
    assert [line["message"].split()[-1] for line in told] == ["desk", "rules", "desk"]
    assert [(line["levelname"], line["resource"], line["summarizer"], line["outcome"]) for line in told] == [
        ("INFO", "desk", "llm", "written"),
        ("INFO", "rules", "rule_based", "written"),
        ("INFO", "desk", "rule_based", "fallback"),
    ]
    assert [line["memory_hash"] for line in told] == [memory_hash(each.id) for each in (desk, rules, desk)]


async def test_a_direct_flush_says_why_the_rules_wrote_and_never_what_the_provider_said(
    redis_url: str, service: Endpoint, tmp_path: Path
) -> None:
    service.default = Fails(503)
    (tmp_path / "desk.yaml").write_text(yaml.safe_dump(declared("desk", service.url)))
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": unique("project"), "DURABLE_MEMORY_MEMORIES": "."}
    for text in texts(3):
        await run_program("append", "desk", "key", text, cwd=tmp_path, **given)
    ended = await run_program("flush", "desk", "key", "--force", cwd=tmp_path, **given)
    assert ended.code == 0
    assert len(service.requests) == 1
    assert "so the rules write it (MemoryModelUnavailable: the model 'openai:gpt-4o-mini' is overloaded" in ended.err
    assert "status 503" in ended.err
    assert "refused for" not in ended.err


async def test_where_the_rules_write_no_log_says_that_messages_stay(
    redis_url: str, service: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    registry = Registry.from_resources([declared("desk", service.url)])
    service.default = Says("")
    async with await MemoryClient.connect(redis_url, memories=registry, project=unique("project")) as memories:
        await flushed(memories.memory("desk", "key"))
    (told,) = [record.getMessage() for record in caplog.records if "so the rules write it" in record.getMessage()]
    assert told.endswith("(MemorySummaryRejected: the model returned an empty text)")


async def test_a_direct_flush_without_the_key_names_the_memory_and_where_it_is_declared(
    redis_url: str, service: Endpoint, tmp_path: Path
) -> None:
    keyless = [declared(name, service.url, api_key_env="NO_SUCH_KEY") for name in ("other", "desk")]
    (tmp_path / "desk.yaml").write_text(yaml.safe_dump_all(keyless, sort_keys=False))
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": unique("project"), "DURABLE_MEMORY_MEMORIES": "."}
    for text in texts(3):
        await run_program("append", "desk", "key", text, cwd=tmp_path, **given)
    ended = await run_program("flush", "desk", "key", "--force", cwd=tmp_path, **given)
    (line,) = [line for line in ended.err.splitlines() if "NO_SUCH_KEY" in line]
    lines = (tmp_path / "desk.yaml").read_text().splitlines()
    last = max(number for number, text in enumerate(lines, 1) if "NO_SUCH_KEY" in text)
    assert ended.code == 1
    assert line.startswith(f"  desk.yaml:{last}: flushing.summarizer.api_key_env: memory 'desk' needs the key of")


async def test_health_says_in_words_that_a_summary_was_of_no_use(redis_url: str) -> None:
    class TooLong(Own):
        async def summarize(self, request: SummaryRequest) -> str:
            return "word " * 2 * request.max_tokens

    async with await MemoryClient.connect(
        redis_url, memories=Registry.from_resources([RULES]), project=unique("project"), summarizer=TooLong()
    ) as memories:
        memory = memories.memory("rules", "key")
        await memory.append(texts(3))
        with pytest.raises(MemorySummaryRejected):
            await memory.flush(force=True)
        (problem,) = (await memory.health()).problems
    assert problem.startswith(
        "the last flush failed: MemorySummaryRejected; the text of its summariser was empty, cut,"
    )
    assert problem.endswith("or let fallback: rule_based write")


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
    with pytest.raises(MemoryInvalid, match=r"'desk' .*openai:gpt-4o-mini.*NO_SUCH_KEY is not set"):
        async with asyncio.timeout(60), desk(temporal_address, redis_url, [keyless]):
            await asyncio.Event().wait()
    monkeypatch.setitem(sys.modules, "pydantic_ai", None)
    with pytest.raises(MemoryInvalid, match=r"'desk' .*pip install 'durable-memory\[llm\]'"):
        async with asyncio.timeout(60), desk(temporal_address, redis_url, [declared("desk", service.url)]):
            await asyncio.Event().wait()
    # Who only appends needs neither.
    registry = Registry.from_resources([keyless])
    async with await MemoryClient.connect(redis_url, memories=registry, project=unique("project")) as memories:
        memory = memories.memory("desk", "key")
        await memory.append(texts(2))
        with pytest.raises(MemoryInvalid, match="extra llm"):
            await memory.flush(force=True)
        assert (await memory.stats()).last_flush_outcome == "failed: MemoryInvalid"


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
