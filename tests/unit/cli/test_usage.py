"""The command line as such: verbs, exit codes for wrong usage, and bugs that show no content."""

from __future__ import annotations

import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.integration.cli.programs import PROGRAM, run_command, run_program

GROUPS = {
    "One memory": "append read stats health pin unpin delete flush clear restore",
    "Many memories": "list context export import purge",
    "Declarations": "validate resources agents schema",
    "Running": "worker janitor doctor execute",
}
VERBS = " ".join(GROUPS.values()).split()


async def test_help_names_every_verb_in_its_group(tmp_path: Path) -> None:
    ended = await run_program("--help", cwd=tmp_path)
    assert ended.code == 0
    lines = ended.out.partition("-h, --help")[2].splitlines()[1:]
    headings = [line.rstrip(":") for line in lines if line and not line.startswith(" ")]
    names = [line.split()[0] for line in lines if line.startswith("  ")]
    assert headings == list(GROUPS)
    assert names == VERBS, "each in one line"
    assert [line for line in lines if line.endswith("...")] == [], "said in full"


@pytest.mark.parametrize("verb", VERBS)
async def test_help_of_a_verb_shows_no_types_of_python_and_no_braces(tmp_path: Path, verb: str) -> None:
    ended = await run_program(verb, "--help", cwd=tmp_path)
    assert ended.code == 0
    assert re.findall(r"<(?:str|int|float|list|path)[^>]*>|[{}]", ended.out.lower()) == []


async def test_help_says_without_what_no_key_may_be_left_out(tmp_path: Path) -> None:
    told = " ".join((await run_program("read", "--help", cwd=tmp_path)).out.split())
    assert "then give at least one of --input, --workflow-id and --workflow-type" in told


async def test_only_append_speaks_of_signing(tmp_path: Path) -> None:
    signing = {verb for verb in VERBS if "signs" in (await run_program(verb, "--help", cwd=tmp_path)).out}
    assert signing == {"append"}


@pytest.mark.parametrize(
    ("verb", "names"),
    [
        ("append", ["RESOURCE", "KEY", "TEXT"]),
        ("pin", ["RESOURCE", "KEY", "ID"]),
        ("delete", ["RESOURCE", "KEY", "ID"]),
        ("list", ["RESOURCE"]),
        ("export", ["RESOURCE", "KEY"]),
    ],
)
async def test_help_and_errors_name_an_argument_alike(tmp_path: Path, verb: str, names: list[str]) -> None:
    usage = (await run_program(verb, "--help", cwd=tmp_path)).out.splitlines()[0]
    assert [word.strip("{}[].") for word in usage.partition("[OPTIONS] ")[2].split()] == names


async def test_the_version_is_that_of_the_distribution(tmp_path: Path) -> None:
    assert (
        await run_command(PROGRAM, "--version", cwd=tmp_path)
    ).out == f"durable-memory {version('durable-memory')}\n"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["unknown-verb"], "No such command 'unknown-verb'"),
        (["read"], "Missing argument 'RESOURCE'"),
        (["pin", "thread", "k"], "Missing argument 'ID'"),
        (["restore", "thread", "k"], "Missing argument 'BACKUP'. `durable-memory stats RESOURCE KEY` lists"),
        (["read", "thread", "k", "--output", "yaml"], "'yaml' is not one of 'table', 'json'"),
        (["read", "thread", "k", "--limit", "-1"], "'--limit': Input should be greater than or equal to 0"),
        (["read", "thread", "k", "--max-tokens", "many"], "'--max-tokens': Input should be a valid integer"),
        (["append", "thread", "k", "text", "--role", "robot"], "'robot' is not one of 'user', 'assistant', 'system'"),
        (["list", "--unknown"], "No such option: --unknown"),
        (["purge"], "there is no purge of a whole project"),
        (["purge", "--yes"], "there is no purge of a whole project"),
        (["list", "--scope", "galaxy"], "'galaxy' is not one of 'temp'"),
        (["list", "thread", "--cursor", "x"], "give --limit as well"),
        (["worker", "--http-port", "none"], "'--http-port': Input should be a valid integer"),
        (["worker", "--dev-redis-port", "6379"], "are of the servers that --dev starts"),
        (["worker", "--dev", "--dev-ui-port", "0"], "'--dev-ui-port': Input should be greater than or equal to 1"),
    ],
)
async def test_wrong_usage_ends_with_2_and_says_why(tmp_path: Path, arguments: list[str], why: str) -> None:
    ended = await run_program(*arguments, cwd=tmp_path)
    assert (ended.code, ended.out) == (2, "")
    assert why in ended.err.partition("Error: ")[2]


async def test_a_bug_shows_where_it_is_and_no_values_of_variables(tmp_path: Path) -> None:
    program = (
        "from durable_memory.cli.app import app, main\n"
        "@app.command()\n"
        "def broken(content: str) -> None:\n"
        "    raise RuntimeError('a bug')\n"
        "main(['broken', 'what the user said'])\n"
    )
    (tmp_path / "program.py").write_text(program)
    ended = await run_command(sys.executable, "program.py", cwd=tmp_path)
    assert ended.code == 1
    assert "RuntimeError: a bug" in ended.err
    assert "what the user said" not in ended.err.replace(program.splitlines()[-1], "")


async def test_output_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    for verb in ("schema", "--version"):  # more and less than the buffer of a stream
        assert (await run_command("sh", "-c", f"{PROGRAM} {verb} > /dev/full", cwd=tmp_path)).code == 1
