"""`pin` and `unpin`: keeping messages from the command line."""

from __future__ import annotations

from tests.integration.cli.conftest import Cli
from tests.integration.cli.json_messages import json_messages


async def test_a_pinned_message_outlives_a_forced_flush_and_an_unpinned_one_does_not(cli: Cli) -> None:
    ids = (await cli("append", "notes", "k", "--json", "-", "-o", "json", stdin=json_messages(3))).json()["ids"]
    pinned = await cli("pin", "notes", "k", *ids[:2], "-o", "json")
    assert (pinned.code, pinned.json()) == (0, {"touched": ids[:2]})
    assert (await cli("unpin", "notes", "k", ids[1])).code == 0
    await cli("flush", "notes", "k", "--force")
    [left] = (await cli("read", "notes", "k", "-o", "json")).json()["messages"]
    assert (left["id"], left["pinned"]) == (ids[0], True)


async def test_what_is_not_in_the_view_is_named_and_fails_the_command(cli: Cli) -> None:
    await cli("append", "notes", "k", "Hello")
    shown = await cli("pin", "notes", "k", "nonsense")
    assert shown.code == 1
    assert "nonsense" in shown.out
