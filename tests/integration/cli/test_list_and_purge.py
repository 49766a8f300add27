"""`durable-memory list` and `purge`: what they find, and that nothing goes without a word."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from durable_memory import MemoryClient, Registry
from durable_memory.memory.identity import MemoryId
from tests.integration.cli.conftest import Cli
from tests.integration.cli.programs import DECLARATIONS, answered_at_a_terminal, shown_at_a_terminal
from tests.integration.inventory.newer import become_newer


async def test_a_part_of_a_segment_finds_nothing_and_says_so(cli: Cli) -> None:
    await cli("append", "thread", "user:alice", "Hello")
    part = "(user:al finds user:al:1, but not user:alice)"
    listed = await cli("list", "--prefix", "user:al", "-o", "json")
    assert (listed.json(), listed.err) == ([], f"No key begins with the whole segments 'user:al' {part}.\n")
    elsewhere = await cli("purge", "notes", "--prefix", "user:alice", "--yes", "-o", "json")
    assert elsewhere.json()["memories"] == 0
    assert elsewhere.err.startswith("No key of 'notes' begins with the whole segments 'user:alice' ")
    assert elsewhere.err.endswith("; other memories were not looked at.\n")
    assert (await cli("purge", "--prefix", "user:alice", "--yes")).err == ""


async def test_list_finds_by_prefix_and_in_pages(cli: Cli) -> None:
    for key in ("user:al", "user:al:1", "user:alice"):
        await cli("append", "thread", key, "Hello")
    found = (await cli("list", "thread", "--prefix", "user:al", "-o", "json")).json()
    assert [memory["key"] for memory in found] == ["user:al", "user:al:1"]
    first = (await cli("list", "--scope", "user", "--limit", "2", "-o", "json")).json()
    second = (await cli("list", "--scope", "user", "--limit", "2", "--cursor", first["cursor"], "-o", "json")).json()
    assert [memory["key"] for page in (first, second) for memory in page["memories"]] == [
        "user:al",
        "user:al:1",
        "user:alice",
    ]
    assert second["cursor"] is None
    everything = (await cli("list", "--limit", "2", "-o", "json")).json()
    assert [memory["key"] for memory in everything["memories"]] == ["user:al", "user:al:1"]
    assert [memory["key"] for memory in (await cli("list", "--prefix", "", "-o", "json")).json()] == [
        "user:al",
        "user:al:1",
        "user:alice",
    ]
    assert f"--cursor {first['cursor']}" in (await cli("list", "--scope", "user", "--limit", "2")).out.replace("\n", "")


async def test_list_without_a_resource_lists_the_memories_of_the_whole_project(cli: Cli) -> None:
    for resource, key in (("notes", "k"), ("thread", "a")):
        await cli("append", resource, key, "Hello")
    found = (await cli("list", "-o", "json")).json()
    assert [(one["resource"], one["key"]) for one in found] == [("notes", "k"), ("thread", "a")]
    assert "all resources  in project" in (await cli("list")).out
    assert (await cli("list", "--project", "nobodys", "-o", "json")).json() == []
    unreachable = await cli("list", "--redis-url", "redis://127.0.0.1:1/0")
    assert (unreachable.code, "cannot be reached" in unreachable.err) == (1, True)


async def test_a_great_many_memories_are_listed_as_they_are_read_a_line_each_also_at_a_terminal(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    registry = Registry.load([folder / "memories"])
    keys = [f"user:{number:04}" for number in range(1_050)]
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as memories:
        for at in range(0, len(keys), 50):
            await asyncio.gather(*(memories.memory("thread", key).append("Hello") for key in keys[at : at + 50]))
        await memories.memory("thread", "user:9999:of more letters than the öthers").append("Hello")
    at_terminal = partial(
        shown_at_a_terminal, cwd=folder, width=40, REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=project
    )
    for shown in ((await cli("list", "thread")).out, await at_terminal("list", "thread")):
        title, headings, *rows, last, end = shown.splitlines()
        assert (title, end) == (f"thread  in project '{project}'", "1,051 memories")
        assert headings.split()[:3] == ["resource", "key", "messages"]
        assert [row.split()[1] for row in rows] == keys
        assert last.startswith("thread    user:9999:of more letters than the öthers  ")
    in_ascii = await at_terminal("list", "thread", PYTHONIOENCODING="ascii")
    assert r"user:9999:of more letters than the \xf6thers  " in in_ascii
    assert len((await cli("list", "thread", "-o", "json")).json()) == 1_051


LONG = "user:0123456789abcdef0123456789abcdef:case:2026-03-02:reklamation-über-äpfel"


async def test_ids_keys_and_cursors_are_whole_in_a_narrow_terminal(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    at_terminal = partial(
        shown_at_a_terminal, cwd=folder, width=40, REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=project
    )
    await cli("append", "thread", LONG, "Hello")
    await cli("append", "thread", f"{LONG}:2", "word " * 40)
    shown = (await at_terminal("list", "thread", "--limit", "1")).splitlines()
    assert shown[0] == f"thread  in project {project!r}: 1 memory"
    assert [line.split()[:2] for line in shown if LONG in line] == [["thread", LONG]]
    cursor = (await cli("list", "thread", "--limit", "1", "-o", "json")).json()["cursor"]
    assert shown[-1] == f"more with --cursor {cursor}"
    read = (await at_terminal("read", "thread", f"{LONG}:2")).splitlines()
    assert read[0] == f"thread  {LONG}:2"
    assert max(len(line) for line in read if "word" in line) <= 40, "messages are folded"


async def test_the_list_of_usual_names_fits_a_terminal_of_eighty_columns(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    (folder / "memories" / "support.yaml").write_text("resource: memory\nid: customer-support\nmax_tokens: 500\n")
    await cli("append", "customer-support", "user:42", "Hello")
    at_terminal = partial(shown_at_a_terminal, cwd=folder, REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=project)
    narrow, wide = [(await at_terminal("list", "customer-support", width=width)).splitlines() for width in (80, 120)]
    assert max(map(len, narrow)) <= 80
    assert [line.split() for line in narrow[1:3]] == [line.split() for line in wide[1:3]]
    assert max(map(len, wide)) > 80, "with more room the columns stand further apart"


async def test_what_is_left_of_a_lifetime_is_rounded(cli: Cli, folder: Path) -> None:
    (folder / "memories" / "week.yaml").write_text(
        "resource: memory\nid: week\nmax_tokens: 500\npersistence: {ttl: 7d}\n"
        "---\nresource: memory\nid: hour\nmax_tokens: 500\npersistence: {ttl: 1h}\n"
    )
    for resource, left in (("week", "in 7d"), ("hour", "in 1h")):
        await cli("append", resource, "k", "Hello")
        assert left in (await cli("list", resource)).out


async def test_a_page_goes_on_into_the_next_resource(cli: Cli) -> None:
    for resource, key in (("notes", "k"), ("thread", "a"), ("thread", "b"), ("trip", "k")):
        await cli("append", resource, key, "Hello")
    page = (await cli("list", "--limit", "3", "-o", "json")).json()
    assert [(one["resource"], one["key"]) for one in page["memories"]] == [
        ("notes", "k"),
        ("thread", "a"),
        ("thread", "b"),
    ]
    last = (await cli("list", "--limit", "3", "--cursor", page["cursor"], "-o", "json")).json()
    assert ([one["resource"] for one in last["memories"]], last["cursor"]) == (["trip"], None)


async def test_purge_counts_and_removes_without_a_question_if_told_so(cli: Cli) -> None:
    for key in ("user:al", "user:al:1", "user:alice"):
        await cli("append", "thread", key, "Hello")
    counted = await cli("purge", "thread", "--prefix", "user:al", "--dry-run", "-o", "json")
    assert (counted.code, counted.json()) == (0, {"memories": 2, "messages": 2, "dry_run": True, "backups": 0})
    unasked = await cli("purge", "thread", "--prefix", "user:al", stdin="y\n")
    assert (unasked.code, "--yes removes without a question" in unasked.err) == (2, True)
    assert "2 memories, 2 messages" in (await cli("purge", "thread", "--prefix", "user:al", "--yes")).out
    left = (await cli("list", "thread", "-o", "json")).json()
    assert [memory["key"] for memory in left] == ["user:alice"]


async def test_purge_asks_at_a_terminal(cli: Cli, folder: Path, redis_url: str, project: str) -> None:
    await cli("append", "thread", "k", "Keep me")
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project}
    refused = await answered_at_a_terminal(folder, "n", "purge", "thread", **given)
    assert (refused.code, refused.out) == (1, "")
    assert refused.err == "Remove 1 memory, 1 message for good? [y/N]: Nothing was removed.\n"
    assert (await cli("stats", "thread", "k", "-o", "json")).json()["exists"] is True
    done = await answered_at_a_terminal(folder, "y", "purge", "thread", **given)
    assert (done.code, "1 memory, 1 message" in done.out) == (0, True)
    nothing_to_ask_about = await answered_at_a_terminal(folder, "n", "purge", "thread", **given)
    assert (nothing_to_ask_about.code, nothing_to_ask_about.err) == (0, "")


async def test_what_comes_into_being_while_the_question_stands_stays(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    await cli("append", "thread", "old", "Goes")
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project}

    async def yes() -> str:
        await cli("append", "thread", "new", "Stays")
        return "y"

    done = await answered_at_a_terminal(folder, yes, "purge", "thread", "-o", "json", **given)
    assert (done.code, done.json()["memories"]) == (0, 1)
    assert [memory["key"] for memory in (await cli("list", "thread", "-o", "json")).json()] == ["new"]


async def test_purge_asks_also_where_a_memory_of_a_newer_version_has_to_stay(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project}
    for key in ("newer", "old"):
        await cli("append", "thread", key, "Hello")
    await become_newer(redis_url, MemoryId(project, "thread", "newer"))
    refused = await answered_at_a_terminal(folder, "n", "purge", "thread", **given)
    assert (refused.code, refused.err) == (1, "Remove 1 memory, 1 message for good? [y/N]: Nothing was removed.\n")
    done = await answered_at_a_terminal(folder, "y", "purge", "thread", **given)
    assert (done.code, done.out) == (1, "")
    assert "such memories: 1, which a worker of that version removes; 1 were removed" in done.err
    assert [memory["key"] for memory in (await cli("list", "thread", "-o", "json")).json()] == ["newer"]
    nothing_to_ask_about = await answered_at_a_terminal(folder, "y", "purge", "thread", **given)
    assert (nothing_to_ask_about.code, "[y/N]" in nothing_to_ask_about.err) == (1, False)
    assert "such memories: 1" in nothing_to_ask_about.err


async def test_resources_that_live_in_other_processes_are_named_where_all_are_meant(cli: Cli, folder: Path) -> None:
    (folder / "memories" / "local.yaml").write_text(
        "resource: memory\nid: local\nscope: user\nmax_tokens: 1000\npersistence: {type: in_memory}\n"
    )
    left_out = "Left out, as persistence.type in_memory keeps them inside other processes: local\n"
    for of_all in (["list"], ["list", "--scope", "user"], ["purge", "--scope", "user", "--yes"]):
        ended = await cli(*of_all)
        assert (ended.code, ended.err) == (0, left_out)
    for of_others in (["list", "thread"], ["list", "--scope", "session"]):
        assert (await cli(*of_others)).err == ""


async def test_purge_names_the_backups_that_go_with_it(cli: Cli) -> None:
    await cli("append", "thread", "k", "Hello")
    backup = (await cli("clear", "thread", "k", "--yes", "--backup", "-o", "json")).json()["backup_id"]
    assert "0 memories, 0 messages, 1 backup" in (await cli("purge", "thread", "--prefix", "k", "--dry-run")).out
    purged = (await cli("purge", "thread", "--prefix", "k", "--yes", "-o", "json")).json()
    assert purged == {"memories": 0, "messages": 0, "dry_run": False, "backups": 1}
    assert (await cli("restore", "thread", "k", backup)).code == 1


async def test_what_was_declared_once_can_be_listed_and_purged(cli: Cli, folder: Path) -> None:
    await cli("append", "notes", "k", "Hello")
    (folder / "memories" / "declared.yaml").write_text(DECLARATIONS.replace("id: notes", "id: jottings"))
    assert [memory["key"] for memory in (await cli("list", "notes", "-o", "json")).json()] == ["k"]
    assert (await cli("purge", "notes", "--yes", "-o", "json")).json()["memories"] == 1
    unknown = await cli("list", "notes")
    assert (unknown.code, unknown.out) == (1, "")
    assert "no memory resource 'notes' is declared" in unknown.err


async def test_one_person_is_erased_also_from_what_was_declared_once(cli: Cli, folder: Path) -> None:
    for resource, key in (("notes", "user:1"), ("notes", "user:2"), ("thread", "user:1")):
        await cli("append", resource, key, "Hello")
    (folder / "memories" / "declared.yaml").write_text(DECLARATIONS.replace("id: notes", "id: jottings"))
    found = (await cli("list", "--prefix", "user:1", "-o", "json")).json()
    assert [(one["resource"], one["key"]) for one in found] == [("notes", "user:1"), ("thread", "user:1")]
    assert (await cli("purge", "--prefix", "user:1", "--yes", "-o", "json")).json()["memories"] == 2
    left = (await cli("list", "-o", "json")).json()
    assert [(one["resource"], one["key"]) for one in left] == [("notes", "user:2")]
