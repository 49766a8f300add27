"""`delete`: removing single messages from the command line."""

from __future__ import annotations

from tests.integration.cli.conftest import Cli
from tests.integration.cli.json_messages import json_messages


async def test_messages_are_removed_by_their_ids_once_for_an_operation(cli: Cli) -> None:
    ids = (await cli("append", "notes", "k", "--json", "-", "-o", "json", stdin=json_messages(3))).json()["ids"]
    delete = ("delete", "notes", "k", *ids[:2], "--operation-id", "tidy", "-o", "json")
    first, again = await cli(*delete), await cli(*delete)
    assert (first.code, first.json()["removed"], first.json()["already_applied"]) == (0, ids[:2], False)
    assert (again.code, again.json()["removed"], again.json()["already_applied"]) == (0, ids[:2], True)
    [left] = (await cli("read", "notes", "k", "-o", "json")).json()["messages"]
    assert left["id"] == ids[2]


async def test_what_is_not_there_or_only_in_a_summary_is_named_and_fails_the_command(cli: Cli) -> None:
    ids = (await cli("append", "thread", "k", "--json", "-", "-o", "json", stdin=json_messages(4))).json()["ids"]
    summary = (await cli("flush", "thread", "k", "--force", "-o", "json")).json()["summary_id"]
    unknown = await cli("delete", "thread", "k", "nonsense", ids[3])
    assert unknown.code == 1
    assert [line.split() for line in unknown.out.splitlines()[1:3]] == [
        ["removed", ids[3]],
        ["not", "there", "nonsense"],
    ]
    covered = await cli("delete", "thread", "k", ids[0])
    assert covered.code == 1
    assert f"delete the summary {summary}" in covered.out
    assert (await cli("delete", "thread", "k", summary)).code == 0
    assert (await cli("read", "thread", "k", "-o", "json")).json()["messages"] == []
