"""`stats`, `health` and `list`: what a memory holds and whether it can do its work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Cli


def batch(count: int) -> str:
    return json.dumps([{"role": "user", "content": f"Note number {number}"} for number in range(count)])


async def test_stats_are_the_sums_of_the_view(cli: Cli) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=batch(3))
    view = (await cli("read", "thread", "k", "-o", "json")).json()
    stats = (await cli("stats", "thread", "k", "-o", "json")).json()
    assert stats["messages"]["short_term"] == 3
    assert stats["tokens"]["short_term"] == view["tokens"]
    assert stats["max_tokens"] == 600
    shown = (await cli("stats", "thread", "k")).out
    assert f"3 messages, {view['tokens']} tokens" in shown


async def test_the_hash_by_which_logs_and_audit_name_a_memory_is_shown_if_it_can_be_compared(
    cli: Cli, folder: Path
) -> None:
    given = {"DURABLE_MEMORY_TELEMETRY_KEY": "a secret of the project", "DURABLE_MEMORY_AUDIT_LOG": "audit.jsonl"}
    await cli("append", "thread", "k", "Hello")
    [listed] = (await cli("list", "thread", "-o", "json", **given)).json()
    stats = (await cli("stats", "thread", "k", "-o", "json", **given)).json()
    await cli("clear", "thread", "k", "--yes", **given)
    [cleared] = map(json.loads, (folder / "audit.jsonl").read_text().splitlines())
    assert [listed["memory_hash"], stats["memory_hash"]] == [cleared["memory_hash"]] * 2
    gone = await cli("stats", "thread", "k", **given)
    assert cleared["memory_hash"] in gone.out
    other = await cli("stats", "thread", "k", "-o", "json", DURABLE_MEMORY_TELEMETRY_KEY="another secret")
    assert other.json()["memory_hash"] != cleared["memory_hash"]
    without = await cli("stats", "thread", "k", "-o", "json")
    assert "memory_hash" not in without.json()


async def test_a_memory_that_does_not_exist_is_empty_and_no_error(cli: Cli) -> None:
    stats = await cli("stats", "thread", "nobody", "-o", "json")
    assert stats.code == 0
    assert stats.json()["exists"] is False
    assert (await cli("read", "thread", "nobody", "-o", "json")).json()["version"] == "absent"


async def test_where_nothing_is_found_the_project_that_was_looked_into_is_named(cli: Cli) -> None:
    await cli("append", "thread", "k", "Hello")
    elsewhere = ("--project", "elsewhere")
    for verb in ("read", "stats", "health"):
        missing = await cli(verb, "thread", "k", *elsewhere)
        assert "No such memory: 'thread' has none under 'k' in project 'elsewhere'; `durable-memory list" in missing.err
        assert "there is no memory under this key in project 'elsewhere'" in missing.out
        assert "healthy" not in missing.out
    assert "in project 'elsewhere': 0 memories" in (await cli("list", "thread", *elsewhere)).out
    assert "in project 'elsewhere'" in (await cli("purge", "thread", "--yes", *elsewhere)).out
    assert "there is no memory" not in (await cli("read", "thread", "k", "--limit", "0")).out


@pytest.mark.parametrize(
    ("command", "code", "code_if_found"),
    [
        (("read",), 0, 0),
        (("stats",), 0, 0),
        (("clear", "--yes"), 0, 0),
        (("health",), 3, 0),
        (("export",), 3, 0),
        (("flush", "--force"), 3, 0),
        (("pin", "m1"), 3, 1),
        (("unpin", "m1"), 3, 1),
        (("delete", "m1"), 3, 1),
    ],
    ids=lambda given: given[0] if isinstance(given, tuple) else "",
)
async def test_a_mistyped_key_is_told_with_those_that_may_be_meant(
    cli: Cli, command: tuple[str, ...], code: int, code_if_found: int
) -> None:
    verb, *more = command
    for key in ("user:421", "user:422", "something else"):
        await cli("append", "thread", key, "Hello")
    mistyped = await cli(verb, "thread", "user:42", *more)
    assert mistyped.code == code
    [line] = mistyped.err.splitlines()
    assert line.startswith("No such memory: 'thread' has none under 'user:42' in project 'cli-")
    assert line.endswith("did you mean 'user:422' or 'user:421'?")
    found = await cli(verb, "thread", "user:421", *more)
    assert (found.code, "No such memory" in found.err) == (code_if_found, False)


async def test_a_memory_that_is_there_and_empty_is_no_mistyped_key(cli: Cli) -> None:
    await cli("append", "thread", "k", "Hello")
    [message] = (await cli("read", "thread", "k", "-o", "json")).json()["messages"]
    assert (await cli("delete", "thread", "k", message["id"])).code == 0
    for command, code in ((("delete", "m1"), 1), (("health",), 0), (("export",), 0), (("clear", "--yes"), 0)):
        verb, *more = command
        there = await cli(verb, "thread", "k", *more)
        assert (there.code, "No such memory" in there.err) == (code, False)


async def test_health_answers_where_redis_cannot_be_reached(cli: Cli) -> None:
    nowhere = {"REDIS_URL": "redis://someone:hunter2@127.0.0.1:1/0"}
    away = await cli("health", "thread", "k", "-o", "json", **nowhere)
    assert (away.code, away.err) == (1, "")
    [problem] = away.json()["problems"]
    assert "127.0.0.1:1/0 cannot be reached" in problem
    assert (away.json()["healthy"], away.json()["stats"]) == (False, None)
    shown = await cli("health", "thread", "k", **nowhere)
    assert (shown.code, shown.err, problem in shown.out) == (1, "", True)


async def test_health_tells_by_its_exit_code(cli: Cli) -> None:
    await cli("append", "crowded", "k", "--json", "-", stdin=batch(3))
    good = await cli("health", "crowded", "k", "-o", "json")
    assert (good.code, good.json()["healthy"]) == (0, True)
    for _ in range(2):
        await cli("append", "crowded", "k", "--json", "-", stdin=batch(4))
    full = await cli("health", "crowded", "k", "-o", "json")
    assert (full.code, full.json()["healthy"]) == (1, False)
    assert "8 of at most 8 messages wait" in full.json()["problems"][0]
    assert "8 of at most 8 messages wait" in (await cli("health", "crowded", "k")).out


async def test_list_shows_the_memories_of_a_resource_and_no_others(cli: Cli) -> None:
    for resource, key in (("thread", "user:1"), ("thread", "user:2/ä*"), ("notes", "user:3")):
        await cli("append", resource, key, "Hello")
    listed = (await cli("list", "thread", "-o", "json")).json()
    assert {memory["key"] for memory in listed} == {"user:1", "user:2/ä*"}
    assert [memory["messages"]["short_term"] for memory in listed] == [1, 1]
    shown = (await cli("list", "thread")).out
    assert "user:2/ä*" in shown
    assert "user:3" not in shown


async def test_memories_of_another_project_are_not_seen(cli: Cli) -> None:
    await cli("append", "thread", "k", "Ours")
    await cli("append", "thread", "k", "Theirs", "--project", "another")
    ours = (await cli("read", "thread", "k", "-o", "json")).json()
    theirs = (await cli("read", "thread", "k", "--project", "another", "-o", "json")).json()
    await cli("clear", "thread", "k", "--project", "another", "--yes")
    assert [message["content"] for message in ours["messages"]] == ["Ours"]
    assert [message["content"] for message in theirs["messages"]] == ["Theirs"]


async def test_stats_are_grouped_and_connectivity_is_measured_where_that_is_asked_for(cli: Cli) -> None:
    await cli("append", "thread", "k", "Hello")
    await cli("append", "thread", "k", "Be brief.", "--role", "system")
    grouped = (await cli("stats", "thread", "k", "--group-by", "role", "-o", "json")).json()
    assert {group["name"]: group["messages"] for group in grouped["groups"]} == {"user": 1, "system": 1}
    assert grouped["groups_complete"]
    checked = await cli("health", "thread", "k", "--check-connectivity", "-o", "json")
    assert checked.json()["answer_us"] > 0
    assert "store answers in" in (await cli("health", "thread", "k", "--check-connectivity")).out
