"""`flush` and `clear`: taking messages out of a memory from the command line."""

from __future__ import annotations

import asyncio
import os
import pty
import re
import signal
from pathlib import Path

import pytest
from redis.asyncio import Redis

from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.testing.contracts.builders import summarising
from durable_memory.testing.contracts.driven import Driven
from tests.integration.cli.conftest import Cli
from tests.integration.cli.json_messages import json_messages
from tests.integration.cli.programs import PROGRAM, answered_at_a_terminal, environment

OWN = """
class Brief:
    max_input_tokens = None

    async def summarize(self, request):
        return f"My own words on {len(request.messages)} messages."
"""


async def test_flush_below_the_threshold_does_nothing_unless_forced(cli: Cli) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=json_messages(4))
    idle = await cli("flush", "thread", "k", "-o", "json")
    assert (idle.code, idle.json()["outcome"], idle.json()["reason"]) == (0, "nothing", "below_threshold")
    forced = (await cli("flush", "thread", "k", "--force", "-o", "json")).json()
    assert (forced["outcome"], len(forced["removed_ids"])) == ("committed", 3)
    view = (await cli("read", "thread", "k", "-o", "json")).json()
    assert [message["section"] for message in view["messages"]] == ["long_term", "short_term"]
    assert view["messages"][0]["id"] == forced["summary_id"]


async def test_a_repeated_flush_with_the_same_operation_id_answers_the_same(cli: Cli) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=json_messages(4))
    flush = ("flush", "thread", "k", "--force", "--operation-id", "nightly", "-o", "json")
    first, again = (await cli(*flush)).json(), (await cli(*flush)).json()
    assert (first["outcome"], first["already_applied"]) == ("committed", False)
    assert again == {**first, "already_applied": True}


async def test_a_flush_is_summarised_by_the_summariser_that_it_is_told(cli: Cli, folder: Path) -> None:
    (folder / "summaries.py").write_text(OWN)
    await cli("append", "thread", "k", "--json", "-", stdin=json_messages(4))
    named = ("flush", "thread", "k", "--force", "--summarizer", "summaries:Brief")
    assert (await cli(*named)).code == 0
    assert "My own words on 3 messages." in (await cli("read", "thread", "k")).out
    await cli("append", "thread", "other", "--json", "-", stdin=json_messages(4))
    unknown = await cli("flush", "thread", "other", "--force", "--summarizer", "summaries:Long")
    assert (unknown.code, unknown.err.count("no function or class 'Long'")) == (1, 1)


async def test_a_summariser_that_there_is_not_fails_a_flush_that_needs_none(cli: Cli) -> None:
    idle = await cli("flush", "thread", "nobody", "--summarizer", "nope:Short")
    assert (idle.code, idle.out, idle.err.count("\n")) == (1, "", 1)
    wrong = await cli("flush", "thread", "nobody", "--summarizer", "no name")
    assert (wrong.code, wrong.out, wrong.err.count("Invalid value for '--summarizer': ")) == (2, "", 1)
    declared = await cli("flush", "thread", "nobody", DURABLE_MEMORY_SUMMARIZER="nope:Short")
    assert (declared.code, declared.err.count("the summariser nope:Short")) == (1, 1)


async def test_the_table_of_a_flush_says_what_it_did(cli: Cli) -> None:
    await cli("append", "notes", "k", "--json", "-", stdin=json_messages(3))
    shown = (await cli("flush", "notes", "k", "--force")).out
    assert "dropped" in shown
    assert "3 messages" in shown
    assert "there is no such memory" in (await cli("flush", "notes", "other")).out


async def test_a_flush_soon_after_a_failed_one_says_why_it_waits(cli: Cli, redis_url: str, project: str) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=json_messages(4))
    backend = await connect_redis(redis_url)
    driven = Driven(backend.store, summarising(), MemoryId(project, "thread", "k"))
    await backend.store.fail(driven.memory, await driven.batch("flusher/1", force=True), "Boom", 60_000)
    await backend.store.close()
    held_up = await cli("flush", "thread", "k")
    assert held_up.code == 1
    assert "the last one failed a moment ago" in held_up.out
    assert re.search(r"free in +[56]\d\.\d s\n", held_up.out)
    assert (await cli("flush", "thread", "k", "--force")).code == 0


async def test_a_dry_run_of_a_bounded_flush_takes_nothing(cli: Cli) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=json_messages(4))
    bounded = ("flush", "thread", "k", "--force", "--max-messages", "2", "-o", "json")
    planned, flushed = (await cli(*bounded, "--dry-run")).json(), (await cli(*bounded)).json()
    assert (planned["outcome"], flushed["outcome"]) == ("planned", "committed")
    assert planned["removed_ids"] == flushed["removed_ids"]
    assert len(flushed["removed_ids"]) == 2
    assert "'--threshold': 0.1" in (await cli("flush", "thread", "k", "--threshold", "0.1")).err


async def test_a_flush_is_left_to_a_worker_only_where_one_can_be_woken(cli: Cli) -> None:
    refused = await cli("flush", "thread", "k", "--no-wait")
    assert refused.code == 1
    assert "TEMPORAL_ADDRESS" in refused.err


async def test_a_summariser_for_a_flush_that_a_worker_does_is_refused(cli: Cli) -> None:
    refused = await cli("flush", "thread", "k", "--no-wait", "--summarizer", "summaries:Mine")
    assert refused.code == 2
    assert "with --no-wait a worker does" in refused.err


async def test_clear_refuses_where_it_cannot_ask(cli: Cli) -> None:
    await cli("append", "thread", "k", "Keep me")
    refused = await cli("clear", "thread", "k", stdin="y\n")
    assert refused.code == 2
    assert "--yes" in refused.err
    assert len((await cli("read", "thread", "k", "-o", "json")).json()["messages"]) == 1


async def test_clear_with_yes_removes_everything(cli: Cli) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=json_messages(3))
    cleared = await cli("clear", "thread", "k", "--yes", "-o", "json")
    assert (cleared.code, cleared.json()) == (0, {"cleared": 3, "backup_id": None, "already_applied": False})
    assert (await cli("stats", "thread", "k", "-o", "json")).json()["exists"] is False


async def test_clear_asks_at_a_terminal(cli: Cli, folder: Path, redis_url: str, project: str) -> None:
    await cli("append", "thread", "k", "Keep me")
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project}
    assert (await answered_at_a_terminal(folder, "n", "clear", "thread", "k", **given)).code == 1
    assert (await cli("stats", "thread", "k", "-o", "json")).json()["exists"] is True
    assert (await answered_at_a_terminal(folder, "y", "clear", "thread", "k", **given)).code == 0
    assert (await cli("stats", "thread", "k", "-o", "json")).json()["exists"] is False


@pytest.mark.parametrize("unasked", [(), ("--yes",)])
async def test_a_memory_whose_counters_are_damaged_is_cleared_too(
    cli: Cli, folder: Path, redis_url: str, project: str, unasked: tuple[str, ...]
) -> None:
    await cli("append", "thread", "k", "Keep me")
    async with Redis.from_url(redis_url) as redis:
        assert await redis.hset(f"dm:{{{project}/thread/k}}:meta", "counters", "not these") == 0
    broken = await cli("stats", "thread", "k")
    assert (broken.code, broken.out) == (1, "")
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project}
    assert (await answered_at_a_terminal(folder, "y", "clear", "thread", "k", *unasked, **given)).code == 0
    assert (await cli("stats", "thread", "k", "-o", "json")).json()["exists"] is False


async def test_the_first_ctrl_c_ends_a_question_and_removes_nothing(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    await cli("append", "thread", "k", "Keep me")
    ours, theirs = pty.openpty()
    process = await asyncio.create_subprocess_exec(
        PROGRAM,
        *("clear", "thread", "k"),
        cwd=folder,
        env=environment(REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=project),
        stdin=theirs,
        stderr=asyncio.subprocess.PIPE,
        # What a shell runs in the background, as perhaps these tests, ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    assert await process.stderr.readuntil(b"[y/N]") == b"Remove 1 message of thread 'k' for good? [y/N]"
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(120):
        assert await process.wait() == 130
    os.close(theirs)
    os.close(ours)
    assert (await cli("stats", "thread", "k", "-o", "json")).json()["exists"] is True
