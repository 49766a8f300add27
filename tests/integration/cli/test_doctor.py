"""`doctor`: what a project runs on, part by part, with an exit code for programs."""

from __future__ import annotations

import base64
import json
import re
import uuid
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis
from temporalio.client import Client, ScheduleHandle

from durable_memory.dev import Valkey
from durable_memory.running.janitor_schedule import schedule_id
from tests.integration.cli.conftest import Cli
from tests.integration.cli.programs import Ended, shown_at_a_terminal
from tests.integration.worker.starting import StartWorker, own_valkey, start_worker

__all__ = ["own_valkey", "start_worker"]

NOWHERE = "redis://127.0.0.1:1"


def found_by(ended: Ended) -> dict[str, list[tuple[str, str]]]:
    """The verdicts and texts of each part."""
    found: dict[str, list[tuple[str, str]]] = {}
    for check in ended.json()["checks"]:
        found.setdefault(check["part"], []).append((check["verdict"], check["text"]))
    return found


@pytest.fixture
def doctor(cli: Cli, temporal_address: str, project: str) -> Cli:
    """Runs `doctor` for programs, against both shared servers."""

    async def run(*arguments: str, stdin: str = "", **given: str) -> Ended:
        shared = {"TEMPORAL_ADDRESS": temporal_address, "DURABLE_MEMORY_TASK_QUEUE": project, **given}
        return await cli("doctor", *arguments, "-o", "json", stdin=stdin, **shared)

    return run


@pytest.fixture
async def schedule(temporal_client: Client, project: str) -> AsyncIterator[ScheduleHandle]:
    """That of the janitor, which a worker makes; it must not sweep on in the shared server."""
    handle = temporal_client.get_schedule_handle(schedule_id(project))
    yield handle
    await handle.delete()


@pytest.mark.usefixtures("schedule")
async def test_a_project_in_order_is_ok_in_all_parts(doctor: Cli, start_worker: StartWorker, project: str) -> None:
    async with start_worker() as worker:
        await worker.ready()
        ended = await doctor()
    assert (ended.code, ended.err) == (0, "")
    found = found_by(ended)
    assert list(found) == [
        *("declarations", "tokens", "redis", "encryption", "flushes", "rollout", "temporal", "workers", "janitor"),
    ]
    assert {verdict for of_part in found.values() for verdict, _ in of_part} == {"ok"}
    assert [text for _, text in found["workers"]] == [
        f"1 worker polled {project} in the last five minutes",
        f"1 worker polled {project}-summaries in the last five minutes",
    ]
    assert "takes writes" in found["redis"][0][1]


async def test_a_project_without_workers_has_problems(doctor: Cli, project: str) -> None:
    ended = await doctor()
    assert (ended.code, ended.json()["healthy"]) == (1, False)
    found = found_by(ended)
    assert [verdict for verdict, _ in found["workers"]] == ["problem", "problem"]
    assert found["workers"][0][1].startswith(f"nobody polls {project}: run `durable-memory worker`")
    [(verdict, text)] = found["janitor"]
    assert (verdict, text.partition(",")[0]) == ("warning", "has no schedule")
    assert found["redis"][0][0] == "ok"


async def test_a_worker_with_other_declarations_and_a_paused_janitor_are_warnings(
    doctor: Cli, start_worker: StartWorker, folder: Path, project: str, schedule: ScheduleHandle
) -> None:
    async with start_worker(DURABLE_MEMORY_RELOAD_INTERVAL="off") as worker:
        await worker.ready()
        (folder / "memories" / "more.yaml").write_text("resource: memory\nid: more\nmax_tokens: 500\n")
        await schedule.pause()
        ended = await doctor()
    found = found_by(ended)
    assert (ended.code, found["declarations"][0][1]) == (0, "5 memories, 1 agent")
    assert found["rollout"] == [("warning", f"a worker of {project} has other declarations than these")]
    [(verdict, text)] = found["janitor"]
    assert (verdict, text.startswith(f"{schedule.id} is paused")) == ("warning", True)


async def test_memories_whose_flush_is_overdue_are_named(cli: Cli, doctor: Cli, redis_url: str, project: str) -> None:
    full = json.dumps([{"role": "user", "content": "A sentence of about ten tokens, give or take. " * 2}] * 40)
    keys = [f"user:{number}" for number in range(7)]
    for key in keys:
        assert (await cli("append", "thread", key, "--json", "-", stdin=full)).code == 0
    assert found_by(await doctor())["flushes"] == [("ok", "none is overdue")]
    async with Redis.from_url(redis_url) as raw:
        for key in keys:
            # Due since the year 2001.
            assert await raw.hset(f"dm:{{{project}/thread/{key.replace(':', '%3A')}}}:meta", "due_at", 10**12) == 0
    [(verdict, text)] = found_by(await doctor())["flushes"]
    named, _, advice = text.partition("; ")
    assert (verdict, advice) == ("problem", "`durable-memory health` of such a memory tells why")
    assert re.fullmatch(r"overdue: (thread user:\d, ){4}thread user:\d and 2 more", named)


async def test_what_cannot_be_reached_is_a_problem_and_hides_no_other_part(cli: Cli, project: str) -> None:
    ended = await cli("doctor", "-o", "json", REDIS_URL=NOWHERE, TEMPORAL_ADDRESS="127.0.0.1:1")
    found = found_by(ended)
    assert (ended.code, ended.err) == (1, "")
    assert found.keys() == {"declarations", "tokens", "redis", "temporal"}
    assert [verdict for part in ("declarations", "redis", "temporal") for verdict, _ in found[part]] == [
        "ok",
        "problem",
        "problem",
    ]
    shown = await cli("doctor", REDIS_URL=NOWHERE)
    assert shown.out.splitlines()[0] == f"Project {project}"
    assert "TEMPORAL_ADDRESS is not set" in shown.out
    assert "127.0.0.1:1 cannot be reached" in shown.out


async def test_a_redis_that_nobody_has_named_is_asked_for_in_the_words_of_a_command(doctor: Cli) -> None:
    [(verdict, text)] = found_by(await doctor(REDIS_URL=""))["redis"]
    assert verdict == "problem"
    assert text == "REDIS_URL is not set, and the declared memories are kept in Redis; set it, or --redis-url"


async def test_what_redis_may_lose_and_what_a_user_may_not_do_is_told(cli: Cli, own_valkey: Valkey) -> None:
    async with Redis.from_url(own_valkey.url) as raw:
        await raw.config_set("maxmemory-policy", "allkeys-lru")
        name = uuid.uuid4().hex
        await raw.acl_setuser(name, enabled=True, passwords=["+word"], keys=["*"], commands=["+@all", "-zadd"])
    lossy = found_by(await cli("doctor", "-o", "json", REDIS_URL=own_valkey.url))["redis"]
    assert any(verdict == "warning" and "allkeys-lru" in text for verdict, text in lossy)
    limited = await cli("doctor", "-o", "json", REDIS_URL=own_valkey.url.replace("://", f"://{name}:word@"))
    [(verdict, text)] = found_by(limited)["redis"]
    assert (limited.code, verdict, "zadd" in text.lower()) == (1, "problem", True)


async def test_the_doctor_notes_no_key_and_opens_no_audit_and_tells_of_wrong_and_missing_keys(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    right, wrong = (f"k1:{base64.b64encode(byte * 32).decode()}" for byte in (b"1", b"2"))
    looked = ("doctor", "-o", "json")
    first = await cli(*looked, DURABLE_MEMORY_ENCRYPTION_KEYS=wrong, DURABLE_MEMORY_AUDIT_LOG="audit.jsonl")
    assert found_by(first)["encryption"] == [("ok", "1 key new to the project")]
    assert not (folder / "audit.jsonl").exists()
    async with Redis.from_url(redis_url) as raw:
        assert [name async for name in raw.scan_iter(match=f"*{project}*", count=1000)] == []
    assert (await cli("append", "thread", "k", "hello", DURABLE_MEMORY_ENCRYPTION_KEYS=right)).code == 0
    told = await cli(*looked, DURABLE_MEMORY_ENCRYPTION_KEYS=wrong)
    [(verdict, text)] = found_by(told)["encryption"]
    assert (told.code, verdict, "the key 'k1' of this process is another one" in text) == (1, "problem", True)
    assert found_by(await cli(*looked, DURABLE_MEMORY_ENCRYPTION_KEYS=right))["encryption"] == [
        ("ok", "the keys are the project's")
    ]
    without = await cli(*looked)
    [(verdict, text)] = found_by(without)["encryption"]
    assert (without.code, verdict) == (1, "problem")
    assert f"project {project!r} is encrypted with 'k1', and this process has no keys" in text


async def test_a_namespace_and_a_summariser_that_do_not_exist_are_problems(doctor: Cli) -> None:
    nowhere = found_by(await doctor(TEMPORAL_NAMESPACE="no-such"))
    assert nowhere["temporal"] == [("problem", "TEMPORAL_NAMESPACE: this Temporal has no namespace 'no-such'")]
    assert not nowhere.keys() & {"workers", "janitor", "rollout"}
    nobody = found_by(await doctor(DURABLE_MEMORY_SUMMARIZER="no_such_module:make"))
    [(verdict, text)] = nobody["declarations"]
    assert (verdict, "no_such_module:make" in text) == ("problem", True)


async def test_faults_of_declarations_are_counted_and_the_rest_of_temporal_is_looked_at(
    doctor: Cli, folder: Path
) -> None:
    (folder / "memories" / "wrong.yaml").write_text("resource: memory\nid: BAD\nmax_token: 5\n")
    ended = await doctor()
    found = found_by(ended)
    assert ended.code == 1
    assert found["declarations"] == [("problem", "2 faults: `durable-memory validate` lists them")]
    assert found["temporal"][0][0] == "ok"
    assert "redis" not in found


async def test_memories_of_one_process_and_missing_keys_of_models_are_warnings(cli: Cli, folder: Path) -> None:
    (folder / "memories" / "declared.yaml").write_text(
        "resource: memory\nid: desk\nmax_tokens: 500\npersistence: {type: in_memory}\n"
        "flushing: {summary_tokens: 100, summarizer: {type: llm, model: 'openai:gpt-5'}}\n"
    )
    found = found_by(await cli("doctor", "-o", "json"))
    assert found["redis"][0][0] == "warning"
    assert [verdict for verdict, _ in found["declarations"]] == ["ok", "warning"]
    assert "OPENAI_API_KEY" in found["declarations"][1][1]


async def test_a_terminal_shows_in_colour_what_is_not_ok(folder: Path, redis_url: str, project: str) -> None:
    async def shown(**more: str) -> str:
        given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project, "TERM": "xterm-256color", **more}
        return await shown_at_a_terminal("doctor", cwd=folder, width=100, with_errors=False, **given)

    yellow = "\x1b[33m"
    coloured, plain = await shown(), await shown(NO_COLOR="1")
    assert coloured.count(yellow) == 1
    assert f"{yellow}warning" in coloured
    assert yellow not in plain
    assert "warning" in plain
