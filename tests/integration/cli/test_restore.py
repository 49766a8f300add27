"""`clear --backup` and `restore`: taking a clear back from the command line."""

from __future__ import annotations

from tests.integration.cli.conftest import Cli
from tests.integration.cli.json_messages import json_messages


async def test_a_cleared_memory_comes_back(cli: Cli) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=json_messages(3))
    backup = (await cli("clear", "thread", "k", "--yes", "--backup", "-o", "json")).json()["backup_id"]
    assert backup in (await cli("stats", "thread", "k")).out
    restored = await cli("restore", "thread", "k", backup, "--if-version", "absent", "-o", "json")
    assert (restored.code, restored.json()["messages"]) == (0, 3)
    assert len((await cli("read", "thread", "k", "-o", "json")).json()["messages"]) == 3


async def test_a_backup_that_there_is_not_is_one_sentence(cli: Cli) -> None:
    refused = await cli("restore", "thread", "k", "nonsense")
    assert refused.code == 1
    assert "backup_id" in refused.err
