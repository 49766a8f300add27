"""Each failure of a command is one sentence on stderr without secrets, nothing on stdout, and exit code 1."""

from __future__ import annotations

import asyncio
import base64
import signal
import sys
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Cli
from tests.integration.cli.programs import PROGRAM, Ended, answered_at_a_terminal, environment, run_command

WORKER = Path(__file__).resolve().parents[3] / "worker.py"


def assert_one_sentence(ended: Ended, *parts: str) -> None:
    assert ended.code == 1
    assert ended.out == ""
    assert ended.err.startswith("Error: ")
    assert len(ended.err.splitlines()) == 1
    assert all(part in ended.err for part in parts), ended.err


@pytest.mark.parametrize("verb", ["read", "stats", "flush"])
async def test_an_unknown_resource_is_one_sentence_with_a_near_miss(cli: Cli, verb: str) -> None:
    assert_one_sentence(await cli(verb, "thred", "k", "-o", "json"), "'thred'", "did you mean 'thread'?")


async def test_a_key_that_breaks_the_rule(cli: Cli) -> None:
    assert_one_sentence(await cli("append", "thread", " spaced ", "Hello"))


async def test_redis_that_cannot_be_reached_is_an_error_and_no_empty_memory(cli: Cli) -> None:
    ended = await cli("read", "thread", "k", REDIS_URL="redis://someone:hunter2@127.0.0.1:1/0")
    assert_one_sentence(ended, "127.0.0.1:1", "cannot be reached")
    assert "hunter2" not in ended.err
    assert "someone" not in ended.err


async def test_a_missing_redis_url_is_named(cli: Cli) -> None:
    assert_one_sentence(await cli("read", "thread", "k", REDIS_URL=""), "REDIS_URL is not set", "--redis-url")


async def test_a_memory_for_agents_only_names_the_agents_that_declare_it(cli: Cli, folder: Path) -> None:
    (folder / "memories" / "agents.yaml").write_text(
        "resource: memory\nid: audit\nmax_tokens: 1000\nagents_only: true\n"
        "---\nresource: agent\nid: billing\nmemory: audit\n"
        "---\nresource: agent\nid: auditor\nmemories: [{id: audit, mode: read-only}]\n"
        "---\nresource: agent\nid: stranger\nmemory: thread\n"
    )
    ended = await cli("read", "audit", "all")
    assert_one_sentence(ended, "'audit' is for agents only", "with --agent: auditor, billing\n")
    assert (await cli("read", "audit", "all", "--agent", "billing")).code == 0
    alone = "resource: memory\nid: audit\nmax_tokens: 1000\nagents_only: true\n"
    (folder / "memories" / "agents.yaml").write_text(alone)
    assert_one_sentence(await cli("read", "audit", "all"), "no agent declares it")


async def test_the_command_line_wins_over_the_environment(cli: Cli, redis_url: str) -> None:
    given = {"REDIS_URL": "redis://127.0.0.1:1/0"}
    assert (await cli("read", "thread", "k", "--redis-url", redis_url, **given)).code == 0


async def test_a_wrong_option_is_named_and_not_the_variable_that_it_replaces(cli: Cli) -> None:
    ended = await cli("read", "thread", "k", "--project", "Of mine")
    assert (ended.code, "Error: Invalid value for '--project': must be " in ended.err) == (2, True)


async def test_memories_that_live_in_another_process_are_refused(cli: Cli, folder: Path) -> None:
    declared = "resource: memory\nid: local\nmax_tokens: 1000\npersistence: {type: in_memory}\n"
    (folder / "memories" / "local.yaml").write_text(declared)
    for arguments in (["read", "local", "k"], ["append", "local", "k", "Hello"], ["list", "local"]):
        assert_one_sentence(await cli(*arguments), "local", "in_memory")
    assert (await cli("read", "thread", "k")).code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ["read", "sealed", "k"],
        ["append", "sealed", "k", "Hello"],
        ["append", "thread", "k", "Hello"],
        ["list"],
        ["stats", "sealed", "k"],
        ["export", "sealed"],
        ["purge", "sealed", "--yes"],
    ],
    ids=" ".join,
)
async def test_memories_that_require_encryption_need_the_keys_and_validating_them_does_not(
    cli: Cli, folder: Path, arguments: list[str]
) -> None:
    declared = "resource: memory\nid: sealed\nmax_tokens: 1000\nprivacy_policy: {require_encryption: true}\n"
    (folder / "memories" / "sealed.yaml").write_text(declared)
    (folder / "keys").write_text("k1:" + base64.b64encode(b"1" * 32).decode())
    required = "sealed: privacy_policy.require_encryption is true"
    assert_one_sentence(await cli(*arguments), required, "DURABLE_MEMORY_ENCRYPTION_KEYS_FILE")
    assert (await cli(*arguments, DURABLE_MEMORY_ENCRYPTION_KEYS_FILE="keys")).code == 0
    for command in ("validate", "resources"):
        assert (await cli(command)).code == 0


async def test_wrong_declarations_are_all_listed(cli: Cli, folder: Path) -> None:
    (folder / "memories" / "wrong.yaml").write_text("resource: memory\nid: BAD\nmax_token: 5\n")
    ended = await cli("read", "thread", "k")
    assert (ended.code, ended.out) == (1, "")
    first, *faults = ended.err.splitlines()
    assert first.startswith("Error: ")
    assert [fault.strip().split(": ")[:2] for fault in faults] == [
        ["memories/wrong.yaml:2", "id"],
        ["memories/wrong.yaml:3", "max_token"],
    ]


async def test_a_misspelt_setting_is_named(cli: Cli) -> None:
    assert_one_sentence(await cli("resources", DURABLE_MEMORY_MEMORYS="x"), "did you mean 'DURABLE_MEMORY_MEMORIES'?")


@pytest.mark.parametrize(
    "command",
    [
        ("worker",),
        ("validate",),
        ("resources",),
        ("agents",),
        ("doctor",),
        ("list",),
        ("list", "thread"),
        ("read", "thread", "k"),
        ("append", "thread", "k", "Hello"),
        ("stats", "thread", "k"),
        ("health", "thread", "k"),
        ("pin", "thread", "k", "1"),
        ("unpin", "thread", "k", "1"),
        ("delete", "thread", "k", "1"),
        ("flush", "thread", "k"),
        ("clear", "thread", "k", "--yes"),
        ("restore", "thread", "k", "1"),
        ("purge", "thread", "--yes"),
        ("export", "thread"),
        ("import", "-"),
        ("context", "clerk"),
        ("execute", "-"),
        ("janitor", "--once"),
    ],
    ids=" ".join,
)
async def test_a_wrong_setting_is_one_sentence_of_every_command(cli: Cli, command: tuple[str, ...]) -> None:
    ended = await cli(*command, stdin="{}", DURABLE_MEMORY_PROJECT="Desk")
    assert_one_sentence(ended, "DURABLE_MEMORY_PROJECT: must be")


async def test_folders_can_be_given_several_times_and_replace_the_environment(cli: Cli, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(f"resource: memory\nid: {name}\nmax_tokens: 500\n")
    listed = await cli(
        "resources", "--memories", "one", "--memories", "two", "-o", "json", DURABLE_MEMORY_MEMORIES="none"
    )
    assert [resource["id"] for resource in listed.json()] == ["one", "two"]


async def test_closed_and_full_outputs_end_a_command_without_a_traceback(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    assert (await cli("append", "thread", "k", "Hello")).code == 0

    async def shell(line: str) -> Ended:
        given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project}
        return await run_command("sh", "-c", f'"$0" {line}', PROGRAM, cwd=folder, **given)

    assert (await shell("read thread k >&-")).err == ""
    assert_one_sentence(await shell("execute - <&-"), "stdin")
    assert_one_sentence(await shell("import - <&-"), "line 1")
    assert (await shell("read thread k 2>&-")).code == 0
    assert_one_sentence(await shell("read thread k -o json >/dev/full"), "No space left")


@pytest.mark.parametrize(
    ("command", "what"),
    [(("execute", "-"), "JSON"), (("append", "thread", "k", "--json", "-"), "JSON"), (("import", "-"), "an export")],
)
async def test_a_command_that_waits_for_what_is_typed_says_so(
    folder: Path, redis_url: str, command: tuple[str, ...], what: str
) -> None:
    ended = await answered_at_a_terminal(folder, "[]\n\x04", *command, REDIS_URL=redis_url)
    hint, error = ended.err.splitlines()
    assert hint == f"Reading {what} from the terminal; Ctrl-D ends it."
    assert (ended.code, error.partition(": ")[0]) == (1, "Error")


@pytest.mark.parametrize(
    "program", [[PROGRAM, "list"], [sys.executable, str(WORKER)]], ids=["durable-memory", "worker.py"]
)
@pytest.mark.parametrize("package", ["temporalio", "typer"])
async def test_ctrl_c_ends_a_program_in_silence_while_it_imports(
    tmp_path: Path, program: list[str], package: str
) -> None:
    # In the place of the first package that ours, or its command line, imports: it takes as long as the test needs.
    (tmp_path / f"{package}.py").write_text("import time\nprint('importing', flush=True)\ntime.sleep(600)\n")
    process = await asyncio.create_subprocess_exec(
        *program,
        env=environment(PYTHONPATH=str(tmp_path)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        # What a shell runs in the background, as perhaps these tests, ignores it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"importing\n"
    process.send_signal(signal.SIGINT)
    async with asyncio.timeout(120):
        assert await process.communicate() == (b"", b"")
    assert process.returncode == 130
