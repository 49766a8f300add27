"""`durable-memory export` and `import`: files that come back, an import that is killed, and what the exit codes say."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import stat
from pathlib import Path

import pytest

from durable_memory import MemoryClient, Registry
from tests.integration.cli.conftest import Cli
from tests.integration.cli.programs import PROGRAM, environment, shown_at_a_terminal

ARCHIVE = "resource: memory\nid: archive\nmax_tokens: 1000000\nscope: user\n"


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


async def test_a_file_comes_back_and_only_its_owner_reads_it(cli: Cli, folder: Path) -> None:
    await cli("append", "thread", "user:1", "Hello ✓")
    exported = await cli("export", "thread", "--file", "out.jsonl")
    assert (exported.code, exported.out, exported.err) == (0, "", "1 message exported.\n")
    file = folder / "out.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert names_in(folder) == {"memories", "out.jsonl"}
    again = await cli("import", "out.jsonl", "--key", "user:2", "-o", "json")
    assert (again.code, again.json()["messages"]) == (0, 1)
    assert "Hello ✓" in (await cli("read", "thread", "user:2")).out
    assert (await cli("export", "thread", "--file", "out.jsonl")).code == 2, "a file is not written over"


async def test_a_memory_is_renamed_as_the_guide_says(cli: Cli, folder: Path) -> None:
    guide = (Path(__file__).parents[3] / "docs" / "yaml.md").read_text("utf-8")
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", guide, re.DOTALL | re.MULTILINE)
    both = "---\n".join(f"resource: memory\nid: {name}\nmax_tokens: 500\n" for name in ("old-id", "new-id"))
    (folder / "memories" / "renamed.yaml").write_text(both)
    await cli("append", "old-id", "user:1", "Hello")
    await cli("append", "new-id", "user:1", "Meanwhile")
    for command in commands.splitlines():
        assert (await cli(*shlex.split(command)[1:])).code == 0, command
    said = (await cli("read", "new-id", "user:1", "-o", "json")).json()["messages"]
    assert [message["content"] for message in said] == ["Meanwhile", "Hello"]
    assert (await cli("list", "old-id", "-o", "json")).json() == []


async def test_several_memories_do_not_become_one_unless_they_are_to_be_merged(cli: Cli) -> None:
    for key in ("user:1", "user:2"):
        await cli("append", "thread", key, f"Hello from {key}")
    await cli("export", "thread", "--file", "out.jsonl")
    one = ("import", "out.jsonl", "--key", "all")
    refused = await cli(*one)
    assert (refused.code, refused.out, refused.err.count("\n")) == (1, "", 1)
    assert refused.err.startswith("Error: line 3: ")
    assert (await cli(*one, "--merge", "-o", "json")).json()["messages"] == 1, "the first one is there"
    said = (await cli("read", "thread", "all", "-o", "json")).json()["messages"]
    assert [message["content"] for message in said] == ["Hello from user:1", "Hello from user:2"]


async def test_an_export_that_fails_leaves_no_file_and_one_at_work_is_not_disturbed(cli: Cli, folder: Path) -> None:
    failed = await cli("export", "nothing", "--file", "out.jsonl")
    assert (failed.code, names_in(folder)) == (1, {"memories"})
    (folder / "out.jsonl.part").write_text("of another export")
    second = await cli("export", "thread", "--file", "out.jsonl")
    assert second.code == 1
    assert second.err.startswith("Error: out.jsonl.part: exists: another export writes to it")
    assert (folder / "out.jsonl.part").read_text() == "of another export"


@pytest.mark.parametrize("named", [("user:2",), ("--prefix", "use")])
async def test_an_export_of_no_memory_writes_nothing_unless_a_whole_resource_is_meant(
    cli: Cli, folder: Path, named: tuple[str, ...]
) -> None:
    await cli("append", "thread", "user:2:old", "Hello")
    failed = await cli("export", "thread", *named, "--file", "out.jsonl")
    assert (failed.code, failed.out, names_in(folder)) == (3, "", {"memories"})
    assert failed.err.startswith(f"No such memory: 'thread' has none under '{named[-1]}' in project ")
    nothing = await cli("export", "notes")
    assert (nothing.code, nothing.err) == (0, "0 messages exported.\n")
    assert [min(json.loads(line)) for line in nothing.out.splitlines()] == ["export", "end"]


async def test_an_export_to_stdout_is_lines_and_nothing_else(cli: Cli) -> None:
    await cli("append", "thread", "user:1", "Hello")
    exported = await cli("export", "thread", "user:1")
    assert [min(json.loads(line)) for line in exported.out.splitlines()] == ["export", "key", "end"]
    imported = await cli("import", "-", "--resource", "notes", stdin=exported.out)
    assert (imported.code, imported.err) == (0, "")


async def test_an_import_counts_in_one_phrase_the_summaries_that_became_messages(cli: Cli) -> None:
    await cli("append", "thread", "user:1", "Hello")
    header, message, _ = (await cli("export", "thread")).out.splitlines()
    line = json.loads(message)
    line["message"] |= {"role": "system", "section": "long_term", "content": "Summary of 2 earlier messages."}
    end = json.dumps({"end": True, "messages": 1})
    shown = await cli("import", "-", "--resource", "notes", stdin=f"{header}\n{json.dumps(line)}\n{end}")
    assert (shown.code, shown.err) == (0, "")
    assert "summaries  1, as ordinary messages\n" in shown.out


async def test_an_export_that_is_shown_at_a_terminal_has_no_bar_in_its_midst(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    await cli("append", "thread", "user:1", "Hello")
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project, "TERM": "xterm"}
    shown = await shown_at_a_terminal("export", "thread", "user:1", cwd=folder, width=80, with_errors=True, **given)
    *lines, said = shown.splitlines()
    assert [min(json.loads(line)) for line in lines] == ["export", "key", "end"]
    assert said == "1 message exported."


async def test_lines_that_were_not_appended_and_files_that_are_not_whole_end_with_1(cli: Cli) -> None:
    await cli("append", "thread", "user:1", "Hello")
    header, message, end = (await cli("export", "thread")).out.splitlines()
    faulty = await cli("import", "-", stdin=f"{header}\noops\n{message}\n{end}")
    assert (faulty.code, faulty.err) == (1, "Error: 1 line could not be appended.\n")
    assert "BadLine: is not JSON" in faulty.out
    cut = await cli("import", "-", stdin=f"{header}\n{message}")
    assert cut.code == 1
    assert "the file is not whole" in cut.err
    missing = await cli("import", "nothing.jsonl")
    assert (missing.code, missing.err) == (1, "Error: nothing.jsonl: cannot be read: No such file or directory\n")


async def test_an_import_that_is_killed_is_started_again_and_doubles_nothing(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    (folder / "memories" / "archive.yaml").write_text(ARCHIVE)
    header = {"format": "durable-memory-messages", "version": 1, "resource": "archive", "export": "e1"}
    lines = [{"key": "k", "message": {"role": "user", "content": f"m{number}"}} for number in range(3000)]
    written = [f"{json.dumps(line)}\n" for line in (header, *lines, {"end": True, "messages": 3000})]
    (folder / "in.jsonl").write_text("".join(written))
    registry = Registry.from_resources([{"resource": "memory", "id": "archive", "max_tokens": 1_000_000}])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        memory = client.memory("archive", "k")
        process = await asyncio.create_subprocess_exec(
            PROGRAM,
            "import",
            "-",
            cwd=folder,
            env=environment(REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=project),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        assert process.stdin is not None
        process.stdin.write("".join(written[:1500]).encode())  # it waits for the rest, however late it is killed
        async with asyncio.timeout(120):
            while (await memory.stats()).messages["short_term"] < 200:
                assert process.returncode is None
                await asyncio.sleep(0.01)
        process.kill()
        await process.wait()
        there = (await memory.stats()).messages["short_term"]
        assert 200 <= there < 3000
        again = (await cli("import", "in.jsonl", "-o", "json")).json()
        assert (again["already"], again["messages"]) == (there, 3000 - there)
        texts = [message.text for message in (await memory.read()).messages]
        assert texts == [f"m{number}" for number in range(3000)]
