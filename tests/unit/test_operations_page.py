"""docs/operations.md names what exists, and all of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import typer.main

from durable_memory import Agent, AgentMemories, AgentMemory, Memory
from durable_memory.activities import agents, conversation
from durable_memory.activities.execute import PUBLIC_ACTIVITIES
from durable_memory.cli.app import app
from durable_memory.memory import errors

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text()
AGENTS = "## All memories of an agent"


def column(heading: str, above: str = "# Operations") -> set[str]:
    """The names in one column of the first table under a heading: of the operations on one memory, unless given."""
    lines = next(part for part in PAGE.split(f"{above}\n", 1)[1].split("\n\n") if part.startswith("|")).splitlines()
    headings, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    names = [name.strip("`") for row in rows[1:] for name in row[headings.index(heading)].split(", ")]
    return {name for name in names if name}


def methods(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")} - {"ref", "id", "memories"}


def names_of(activities: Sequence[object]) -> set[str]:
    return {getattr(function, "__temporal_activity_definition").name for function in activities}


def test_every_method_of_the_handles_is_listed() -> None:
    assert column("`AgentMemory`") == methods(AgentMemory)
    assert column("`Memory`") == methods(Memory)
    assert column("`Agent`", AGENTS) == methods(Agent)
    assert column("`AgentMemories`", AGENTS) == methods(AgentMemories)


def test_every_activity_is_listed() -> None:
    assert column("activity") == names_of(conversation.ACTIVITIES)
    assert column("activity", AGENTS) == names_of(agents.ACTIVITIES)
    others = names_of(PUBLIC_ACTIVITIES) - names_of(conversation.ACTIVITIES) - names_of(agents.ACTIVITIES)
    assert [name for name in others if f"`{name}`" not in PAGE] == []


def test_every_command_is_listed() -> None:
    commands = typer.main.get_group(app).commands
    assert "`durable-memory execute" in PAGE
    others = re.search(r"The commands (.*?) have no counterpart", PAGE)
    assert others is not None
    assert column("command") | column("command", AGENTS) | set(re.findall(r"`(\w+)`", others[1])) == set(commands) - {
        "execute"
    }


def test_every_error_is_listed_with_whether_it_is_retried() -> None:
    rows = re.findall(r"^\| `(Memory\w+)` \| (yes|no) \|", PAGE, re.MULTILINE)
    tree = {kind.type: "yes" if kind.retryable else "no" for kind in errors.MemoryFault.__subclasses__()}
    assert dict(rows) == tree
