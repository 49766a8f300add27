"""A command imports what it needs and no more, and stands in the help as it says of itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from typer.main import get_group

from durable_memory.cli.app import app
from durable_memory.cli.commands import LateCommand
from tests.integration.cli.programs import DECLARATIONS, run_command

# What a command has loaded when it ends: the program itself ends without a way to ask.
RUN = """
import sys
from durable_memory.cli.app import app
try:
    app(args=sys.argv[1:])
except SystemExit as ended:
    assert not ended.code, ended.code
print("\\n" + " ".join(sys.modules))
"""
HEAVY = {
    "anthropic",
    "durable_memory.memory.client",
    "durable_memory.memory.flushing.llm.refusals",
    "durable_memory.plugin",
    "openai",
    "opentelemetry.sdk",
    "pydantic_ai",
    "re2",
    "redis",
    "temporalio.client",
    "temporalio.worker",
    "tiktoken",
}


async def loaded_by(*arguments: str, cwd: Path) -> set[str]:
    ended = await run_command(sys.executable, "-c", RUN, *arguments, cwd=cwd)
    assert (ended.code, ended.err) == (0, "")
    return set(ended.out.splitlines()[-1].split())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(DECLARATIONS)
    return tmp_path


async def test_help_loads_no_command_and_nothing_that_one_needs(folder: Path) -> None:
    loaded = await loaded_by("--help", cwd=folder)
    assert "durable_memory.cli.commands" in loaded
    assert loaded & (HEAVY | {"durable_memory.cli.declarations", "jinja2", "rich.table", "yaml"}) == set()


@pytest.mark.parametrize("arguments", [["validate"], ["resources"], ["validate", "-o", "json"], ["read", "--help"]])
async def test_commands_on_declarations_load_no_client_and_no_server(folder: Path, arguments: list[str]) -> None:
    loaded = await loaded_by(*arguments, cwd=folder)
    assert "durable_memory.cli.options" in loaded
    allowed = {"durable_memory.memory.client", "redis", "tiktoken"} if arguments[0] == "read" else set()
    assert loaded & (HEAVY - allowed) == set()


def test_the_help_says_of_each_command_what_it_says_of_itself() -> None:
    late = [command for command in get_group(app).commands.values() if isinstance(command, LateCommand)]
    assert len(late) == len(get_group(app).commands)
    said = [(command.name, command.get_short_help_str(200)) for command in late]
    assert said == [(command.name, command.get_short_help_str(200)) for command in map(LateCommand.loaded, late)]
