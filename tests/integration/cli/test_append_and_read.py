"""`append` and `read`: what goes in on the command line is what an agent reads."""

from __future__ import annotations

import json
import math
from functools import partial
from pathlib import Path

from durable_memory.memory.types import PRIORITIES
from tests.integration.cli.conftest import Cli
from tests.integration.cli.programs import shown_at_a_terminal

CALL = {"id": "call-1", "type": "function", "function": {"name": "find", "arguments": "{}"}}
GROUP = [
    {"role": "assistant", "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "call-1", "content": "found"},
]


async def test_a_text_is_what_the_user_said_unless_a_role_is_given(cli: Cli) -> None:
    for arguments in (["Good morning"], ["Hello!", "--role", "assistant"], ["Be brief", "--role", "system"]):
        assert (await cli("append", "thread", "user:1", *arguments)).code == 0
    view = (await cli("read", "thread", "user:1", "--output", "json")).json()
    said = [(message["role"], message["content"]) for message in view["messages"]]
    assert said == [("system", "Be brief"), ("user", "Good morning"), ("assistant", "Hello!")]
    assert view["tokens"] == sum(message["tokens"] for message in view["messages"])


async def test_json_from_a_file_or_stdin_is_appended_as_one_batch(cli: Cli, folder: Path) -> None:
    (folder / "group.json").write_text(json.dumps(GROUP))
    from_file = (await cli("append", "thread", "file", "--json", "group.json", "-o", "json")).json()
    from_stdin = await cli("append", "thread", "stdin", "--json", "-", "-o", "json", stdin=json.dumps(GROUP))
    assert len(from_file["ids"]) == 2
    assert from_stdin.json()["messages"] == from_file["messages"] == 2
    view = (await cli("read", "thread", "stdin", "-o", "json")).json()
    assert view["messages"][0]["tool_calls"] == [CALL]


async def test_a_summary_that_was_read_is_appended_as_an_ordinary_message(cli: Cli) -> None:
    said = [{"role": "user", "content": f"Parcel {number} left the depot in Ghent."} for number in range(20)]
    await cli("append", "thread", "summed-up", "--json", "-", stdin=json.dumps(said))
    await cli("flush", "thread", "summed-up", "--force")
    read = (await cli("read", "thread", "summed-up", "-o", "json")).json()["messages"]
    assert read[0]["section"] == "long_term"
    assert (await cli("append", "thread", "again", "--json", "-", stdin=json.dumps(read))).code == 0
    again = (await cli("read", "thread", "again", "-o", "json")).json()["messages"]
    assert [(message["role"], message["section"]) for message in again] == [
        ("assistant", "short_term"),
        *((message["role"], message["section"]) for message in read[1:]),
    ]


async def test_the_same_operation_id_appends_once(cli: Cli) -> None:
    append = ("append", "thread", "k", "Once", "--operation-id", "import-7", "-o", "json")
    first, again = (await cli(*append)).json(), (await cli(*append)).json()
    assert (first["already_applied"], again["already_applied"]) == (False, True)
    assert first["ids"] == again["ids"]
    other = await cli("append", "thread", "k", "Something else", "--operation-id", "import-7")
    assert other.code == 1
    assert other.err == (
        "Error: thread: this operation id was already used for other content. Give each new operation its own id.\n"
    )
    assert len((await cli("read", "thread", "k", "-o", "json")).json()["messages"]) == 1


async def test_limit_and_max_tokens_cut_the_view_from_the_newest_back(cli: Cli) -> None:
    texts = [f"Message {number} with some words in it" for number in range(5)]
    await cli("append", "thread", "k", "--json", "-", stdin=json.dumps([{"role": "user", "content": t} for t in texts]))
    limited = (await cli("read", "thread", "k", "--limit", "2", "-o", "json")).json()
    assert [message["content"] for message in limited["messages"]] == texts[3:]
    cheap = (await cli("read", "thread", "k", "--max-tokens", str(limited["tokens"]), "-o", "json")).json()
    assert [message["content"] for message in cheap["messages"]] == texts[3:]
    assert (await cli("read", "thread", "k", "--limit", "0", "-o", "json")).json()["messages"] == []


async def test_a_table_shows_messages_their_roles_and_the_sum(cli: Cli) -> None:
    await cli("append", "thread", "k", "--json", "-", stdin=json.dumps(GROUP))
    shown = (await cli("read", "thread", "k")).out
    tokens = (await cli("read", "thread", "k", "-o", "json")).json()["tokens"]
    assert "thread  k" in shown
    assert "find({})" in shown
    assert "found" in shown
    assert f"2 messages, {tokens} tokens" in shown


async def test_ids_that_pin_and_delete_take_are_shown_whole(
    cli: Cli, folder: Path, redis_url: str, project: str
) -> None:
    ids = (await cli("append", "thread", "k", "--json", "-", "-o", "json", stdin=json.dumps(GROUP))).json()["ids"]
    assert ids[0] not in (await cli("read", "thread", "k")).out
    headings, *rows = (await cli("read", "thread", "k", "--show-ids")).out.splitlines()[1:-1]
    assert headings.split()[:2] == ["id", "section"]
    assert [row.split()[0] for row in rows] == ids
    at_terminal = partial(
        shown_at_a_terminal, cwd=folder, width=40, REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=project
    )
    narrow = await at_terminal("read", "thread", "k", "--show-ids")
    assert [one in narrow for one in ids] == [True, True]
    assert (await cli("delete", "thread", "k", ids[0])).code == 0


async def test_read_goes_on_before_a_message_and_since_a_version_by_the_names_that_calls_have(cli: Cli) -> None:
    for text in ("One", "Two"):
        await cli("append", "thread", "k", text)
    view = (await cli("read", "thread", "k", "-o", "json")).json()
    older = (await cli("read", "thread", "k", "--before-id", view["messages"][1]["id"], "-o", "json")).json()
    assert [message["content"] for message in older["messages"]] == ["One"]
    same = (await cli("read", "thread", "k", "--since-version", view["version"], "-o", "json")).json()
    assert same["messages"] == []
    wrong = await cli("read", "thread", "k", "--since-version", "bad")
    assert (wrong.code, wrong.out) == (2, "")
    assert "Error: Invalid value for '--since-version': is no version" in wrong.err


async def test_a_table_shows_what_is_pinned_and_what_has_a_priority(cli: Cli) -> None:
    ids = (await cli("append", "thread", "k", "Keep me", "--priority", "high", "-o", "json")).json()["ids"]
    await cli("append", "thread", "k", "Me too", "--priority", "low")
    await cli("pin", "thread", "k", *ids)
    shown = (await cli("read", "thread", "k")).out
    assert "user, pinned, high" in shown
    assert "user, low" in shown


async def test_stored_text_cannot_steer_the_terminal(cli: Cli) -> None:
    attack = "\x1b[2J\x1b]0;owned\x07 \u202egnp.exe [bold]plain[/bold]"
    await cli("append", "thread", "k", "--json", "-", stdin=json.dumps({"role": "user", "content": attack}))
    shown = (await cli("read", "thread", "k")).out
    assert "\x1b" not in shown
    assert "\x07" not in shown
    assert "\u202e" not in shown
    assert r"\x1b[2J" in shown
    assert "[bold]plain[/bold]" in shown


async def test_a_message_that_can_never_fit_is_refused_with_both_numbers(cli: Cli) -> None:
    refused = await cli("append", "thread", "k", "word " * 700)
    assert refused.code == 1
    assert refused.out == ""
    assert refused.err.startswith("Error: ")
    assert len(refused.err.splitlines()) == 1
    assert "500" in refused.err
    assert "word word" not in refused.err


async def test_wrong_json_is_refused_in_one_sentence(cli: Cli, folder: Path) -> None:
    (folder / "half.json").write_text('[\n{"role": "user"')
    (folder / "latin.json").write_bytes(b'{"role": "user", "content": "\xe9"}')
    for name, digits in (("long", 5000), ("large", 400)):
        said = f'{{"role": "user", "content": "x", "metadata": {{"n": {"9" * digits}}}}}'
        (folder / f"{name}.json").write_text(said)
    sentences = {
        "half.json": "Error: half.json:2: is not JSON: ",
        "latin.json": "Error: latin.json: is not UTF-8 text",
        "none.json": "Error: none.json: cannot be read: ",
        "long.json": "Error: long.json: holds a number of too many digits; send it as text",
        "large.json": "Error: messages[0].metadata.n: is too large a number for JSON; send it as text",
    }
    for file, sentence in sentences.items():
        refused = await cli("append", "thread", "k", "--json", file)
        assert refused.code == 1
        assert refused.err.startswith(sentence)
        assert len(refused.err.splitlines()) == 1
    unknown_role = await cli("append", "thread", "k", "--json", "-", stdin='{"role": "robot", "content": "secret"}')
    assert unknown_role.code == 1
    assert "secret" not in unknown_role.err


async def test_text_and_json_exclude_each_other(cli: Cli) -> None:
    for arguments in ([], ["Text", "--json", "-"]):
        assert (await cli("append", "thread", "k", *arguments, stdin="[]")).code == 2
    for option, value in (("--role", "assistant"), ("--section", "system"), ("--priority", "normal")):
        refused = await cli("append", "thread", "k", "--json", "-", option, value, stdin="[]")
        assert (refused.code, f"Error: Invalid value: {option} " in refused.err) == (2, True)


async def test_the_policy_priority_keeps_a_text_of_high_priority(cli: Cli, folder: Path) -> None:
    ranked = {"resource": "memory", "id": "ranked", "type": "message_count_based", "max_messages": 2}
    declared = {**ranked, "flushing": {"type": "priority", "keep_last": 0}}
    (folder / "memories" / "ranked.yaml").write_text(json.dumps(declared))
    await cli("append", "ranked", "k", "I am allergic to nuts", "--priority", "high")
    for text in ("Good morning", "Nice weather", "See you"):
        await cli("append", "ranked", "k", text)
    messages = (await cli("read", "ranked", "k", "-o", "json")).json()["messages"]
    assert [(message["content"], message.get("priority")) for message in messages] == [
        ("I am allergic to nuts", "high"),
        ("See you", None),
    ]
    wrong = await cli("append", "ranked", "k", "x", "--priority", "urgent")
    assert wrong.code == 2
    assert all(f"'{priority}'" in wrong.err for priority in PRIORITIES)


async def test_a_text_stands_in_the_section_that_is_named(cli: Cli) -> None:
    await cli("append", "trip", "k", "Two nights in Rome, please")
    await cli("append", "trip", "k", "Hotel Lux", "--section", "bookings")
    view = (await cli("read", "trip", "k", "--section", "bookings", "-o", "json")).json()
    assert [(message["section"], message["content"]) for message in view["messages"]] == [("bookings", "Hotel Lux")]
    shown = (await cli("stats", "trip", "k")).out
    assert f"1 message, {view['tokens']} tokens of 100" in shown
    wrong = await cli("append", "trip", "k", "Hotel Lux", "--section", "booking")
    assert (wrong.code, "did you mean 'bookings'" in wrong.err) == (1, True)


async def test_the_environment_says_how_tokens_are_counted(cli: Cli) -> None:
    await cli("append", "thread", "k", "The parcel left the depot for Ghent.")
    await cli(
        "append", "thread", "k", "The parcel left the depot for Ghent.", DURABLE_MEMORY_ENCODING="claude-opus-4-7"
    )
    exact, estimated = (await cli("read", "thread", "k", "-o", "json")).json()["messages"]
    assert "tokens_estimated" not in exact
    assert estimated["tokens_estimated"] is True
    assert estimated["tokens"] == math.ceil(exact["tokens"] * 1.65)
    refused = await cli("append", "thread", "k", "x", DURABLE_MEMORY_ENCODING="claude-opus-47")
    assert refused.code == 1
    assert "DURABLE_MEMORY_ENCODING: must be" in refused.err
    assert "did you mean 'claude-opus-4-7'?" in refused.err
