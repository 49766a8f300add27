"""Where the template of a declaration makes the key, a command takes what it is made of instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.cli.conftest import Cli

DESK = """
resource: memory
id: desk
max_tokens: 900
default_key_template: "user:{{ input.user_id }}:{{ workflow.id | default('nobody') }}"
"""
MADE = ("--input", "user_id=7")


@pytest.fixture(autouse=True)
def desk(folder: Path) -> None:
    (folder / "memories" / "desk.yaml").write_text(DESK)


async def test_commands_on_one_memory_make_its_key_as_agents_do(cli: Cli) -> None:
    appended = await cli("append", "desk", "Hello", *MADE, "-o", "json")
    assert (appended.code, appended.err) == (0, "")
    [sent] = appended.json()["ids"]
    assert (await cli("read", "desk", *MADE)).out.splitlines()[0] == "desk  user:7:nobody"
    pinned = await cli("pin", "desk", *MADE, sent, "-o", "json")
    assert (pinned.code, pinned.json()) == (0, {"touched": [sent]})
    assert (await cli("stats", *MADE, "desk", "-o", "json")).json()["messages"]["short_term"] == 1
    [other] = (await cli("append", "desk", "Bye", *MADE, "-o", "json")).json()["ids"]
    assert (await cli("delete", "desk", *MADE, other)).code == 0
    backup = (await cli("clear", "desk", *MADE, "--yes", "--backup", "-o", "json")).json()["backup_id"]
    assert (await cli("restore", "desk", backup, *MADE)).code == 0


async def test_the_workflow_and_the_agent_take_part_in_the_key(cli: Cli) -> None:
    of_workflow = await cli("append", "desk", "Hello", *MADE, "--workflow-id", "trip-1")
    assert of_workflow.out.splitlines()[0] == "desk  user:7:trip-1"
    of_agent = await cli("append", "thread", "Hello", "--agent", "clerk", *MADE)
    assert of_agent.out.splitlines()[0] == "thread  user:7"


async def test_the_key_is_known_also_where_redis_cannot_be_asked(cli: Cli) -> None:
    ended = await cli("health", "desk", *MADE, REDIS_URL="redis://127.0.0.1:1/0")
    assert (ended.code, ended.out.splitlines()[0]) == (1, "desk  user:7:nobody")


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("read", "thread"), "(here: KEY, or --input, --workflow-id and --workflow-type)"),
        (("read", "desk"), "(here: KEY, or --input, --workflow-id and --workflow-type)"),
        (("read", "desk", "user:7:nobody", *MADE), "KEY is given, and so is what makes one"),
        (("append", "desk", "user:7:nobody", "Hello", *MADE), "KEY is given, and so is what makes one"),
        (("read", "desk", "--input", "user_id"), "--input takes NAME=VALUE"),
        (("pin", "desk", *MADE), "Missing argument 'ID'"),
    ],
)
async def test_a_key_that_is_not_named_or_named_twice_is_wrong_usage(
    cli: Cli, arguments: tuple[str, ...], why: str
) -> None:
    ended = await cli(*arguments)
    assert (ended.code, ended.out) == (2, "")
    assert why in ended.err
