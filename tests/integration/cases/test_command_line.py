"""What people and their terminals do to the command line: one sentence or a right answer, never a traceback."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cases.conftest import unique
from tests.integration.cli.preloaded import run_fork
from tests.integration.cli.programs import PROGRAM, Ended, environment, run_command


@pytest.fixture
def project() -> str:
    return unique("cli")


class Cli:
    """Runs `durable-memory`; arguments and stdin are bytes, as they come from a shell."""

    def __init__(self, folder: Path, redis_url: str, project: str) -> None:
        self.given = {
            "REDIS_URL": redis_url,
            "DURABLE_MEMORY_PROJECT": project,
            "DURABLE_MEMORY_MEMORIES": str(folder),
        }

    async def __call__(self, *arguments: bytes | str, stdin: bytes = b"", **given: str) -> Ended:
        told = environment(**{**self.given, **given})
        code, out, err = await run_fork([*map(os.fsdecode, arguments)], stdin, Path.cwd(), told)
        assert b"Traceback" not in err
        return Ended(code, out.decode(), err.decode())


@pytest.fixture
def cli(folder: Path, redis_url: str, project: str) -> Cli:
    return Cli(folder, redis_url, project)


NO_MESSAGE = {
    "nested too deeply": b"[" * 100_000,
    "too many digits": b'{"role": "user", "content": "x", "metadata": {"n": %s}}' % (b"9" * 5000),
    "role: stands twice": b'{"role": "user", "content": "x", "role": "system"}',
}


async def test_json_that_is_no_message_is_one_sentence(cli: Cli) -> None:
    ended = await asyncio.gather(*(cli("append", "chat", "k", "--json", "-", stdin=raw) for raw in NO_MESSAGE.values()))
    for sentence, refused in zip(NO_MESSAGE, ended, strict=True):
        assert refused.code == 1
        assert sentence in refused.err
        assert refused.err.count("\n") == 1


async def test_bytes_of_a_shell_that_are_no_text_do_no_harm(cli: Cli) -> None:
    assert (await cli("append", "chat", "key", b"cut \xff here")).code == 0
    [message] = (await cli("read", "chat", "key", "--output", "json")).json()["messages"]
    assert message["content"] == "cut \N{REPLACEMENT CHARACTER} here"
    for arguments in (("chat", b"key\xff", "x"), (b"ch\xff", "k", "x")):
        refused = await cli("append", *arguments)
        assert (refused.code, refused.err.count("\n")) == (1, 1)
    wrong = await cli("append", "chat", "key", "x", "--operation-id", b"\xff")
    assert (wrong.code, wrong.err.count("Invalid value for '--operation-id': ")) == (2, 1)


async def test_a_terminal_without_unicode_shows_what_it_can(cli: Cli) -> None:
    plain: dict[str, Any] = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    cwd, given = Path.cwd(), {**cli.given, **plain}
    said = '\ufeff{"role": "user", "content": "Gr\\u00fc\\u00dfe \\ud83d\\ude42"}'
    appended = await run_command(PROGRAM, "append", "chat", "key", "--json", "-", cwd=cwd, stdin=said, **given)
    assert appended.code == 0
    table = await run_command(PROGRAM, "read", "chat", "key", cwd=cwd, **given)
    assert "Gr\\xfc\\xdfe" in table.out
    view = (await run_command(PROGRAM, "read", "chat", "key", "--output", "json", cwd=cwd, **given)).json()
    assert view["messages"][0]["content"] == "Grüße 🙂"


@pytest.fixture
def badly_named(tmp_path: Path) -> Path:
    """A folder with a faulty file whose name is no valid text."""
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/declared\xff.yaml")).write_text("resource: memory\nid: x\n")
    return tmp_path


async def test_a_file_whose_name_is_no_text_is_listed_with_its_fault(cli: Cli, badly_named: Path) -> None:
    ended = await cli("validate", "--memories", str(badly_named), "--output", "json")
    assert ended.code == 1
    assert ended.json()["faults"][0]["path"] == "max_tokens"
