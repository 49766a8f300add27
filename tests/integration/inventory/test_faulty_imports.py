"""Imports of what is no export, or not a whole one: each fault is named, and all else goes in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from durable_memory import Memory, MemoryClient
from durable_memory.memory.errors import MemoryInvalid, MemoryKeyInvalid, MemoryUnknownResource
from durable_memory.memory.transfer.lines import VERSION
from tests.integration.inventory.exported import lines_of


async def test_a_bad_line_is_named_by_its_number_and_the_others_go_in(client: MemoryClient, memory: Memory) -> None:
    await memory.append(["one", "two"])
    header, one, two, end = await lines_of(client)
    bad: list[tuple[str, str, str]] = [
        ("{not json", "BadLine", "is not JSON"),
        ('["a"]', "BadLine", "is no JSON object"),
        (f'{{"key":{"9" * 5000}}}', "BadLine", "holds a number of too many digits; write it as text"),
        (f'{{"key":{"[" * 100_000}{"]" * 100_000}}}', "BadLine", "is nested too deeply"),
        ('{"key":"k"}', "BadLine", 'no "message"'),
        ('{"key":"k","message":{"role":"robot","content":"x"}}', "MemoryInvalid", "role"),
        ('{"key":"k","message":{"role":"user","contnet":"x"}}', "MemoryInvalid", "did you mean 'content'"),
        ('{"key":" k","message":{"role":"user","content":"x"}}', "MemoryKeyInvalid", "ends with space"),
        ('{"key":"k","message":{"role":"tool","content":"x"}}', "MemoryInvalid", "tool_call_id"),
        (json.dumps({"key": "k", "message": {"role": "user", "content": "word " * 2000}}), "MemoryOversize", "900"),
    ]
    lines = [header, one, *(line for line, _, _ in bad), "", two, end]
    result = await client.import_messages(lines, resource="thread")
    assert (result.messages, result.faults) == (2, len(bad))
    assert [problem.line for problem in result.problems] == list(range(3, 3 + len(bad)))
    for problem, (_, kind, text) in zip(result.problems, bad, strict=True):
        assert problem.type == kind
        assert text in problem.problem
    assert [message.text for message in (await client.memory("thread", "user:42").read()).messages] == ["one", "two"]


async def test_halves_of_surrogate_pairs_end_no_import(client: MemoryClient) -> None:
    header = json.dumps({**json.loads((await lines_of(client))[0]), "export": "\ud83d"})
    said = '{"key":"halves","message":{"role":"user","content":"cut \ud83d here"}}'
    for messages, already in ((1, 0), (0, 1)):
        result = await client.import_messages([header, said], resource="thread")
        assert (result.messages, result.already, result.faults) == (messages, already, 0)
    assert [message.text for message in (await client.memory("thread", "halves").read()).messages] == [
        "cut \ufffd here"
    ]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda _: ["", "{}"], "line 1: is no header"),
        (lambda _: [], "the file is empty"),
        (lambda lines: lines[1:], "line 1: is no header"),
        (lambda lines: [lines[0].replace(f'"version":{VERSION}', f'"version":{VERSION + 1}')], "update it"),
        (lambda lines: [lines[0].replace('"resource":"desk",', "")], "lacks its version, resource or export"),
    ],
)
async def test_what_is_no_export_is_refused(
    client: MemoryClient, memory: Memory, change: Callable[[list[str]], list[str]], problem: str
) -> None:
    await memory.append("Hello")
    with pytest.raises(MemoryInvalid, match=problem):
        await client.import_messages(change(await lines_of(client)), resource="thread")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (None, r"^lines: must be the lines of an export, as of an open file, not NoneType$"),
        (5, r"^lines: must be the lines of an export, as of an open file, not int$"),
        (
            '{"format":"durable-memory-messages"}\n',
            r"^lines: must come one by one, as of an open file, not as one str$",
        ),
        (b"{}", r"^lines: must come one by one, as of an open file, not as one bytes$"),
        ([5], r"^lines: line 1 must be text or bytes, not int$"),
        (["HEADER", {"key": "k"}], r"^lines: line 2 must be text or bytes, not dict$"),
    ],
)
async def test_what_are_no_lines_is_refused(client: MemoryClient, lines: Any, problem: str) -> None:
    [header, _] = await lines_of(client)
    given = [header if line == "HEADER" else line for line in lines] if isinstance(lines, list) else lines
    with pytest.raises(MemoryInvalid, match=problem):
        await client.import_messages(given)


async def test_a_file_that_is_cut_off_is_told_from_a_whole_one(client: MemoryClient, memory: Memory) -> None:
    await memory.append(["one", "two"])
    lines = await lines_of(client)
    assert not (await client.import_messages(lines[:-1], resource="thread")).complete
    assert not (await client.import_messages([*lines[:2], lines[-1]], resource="thread")).complete
    assert (await client.import_messages(lines, resource="thread")).complete


async def test_a_line_that_cannot_be_read_makes_no_whole_file_a_cut_one(client: MemoryClient, memory: Memory) -> None:
    await memory.append(["one", "two"])
    [header, _, second, last] = await lines_of(client)
    result = await client.import_messages([header, "no JSON", second, last], resource="thread")
    assert (result.faults, result.complete) == (1, True)
    assert not (await client.import_messages([header, "no JSON", last], resource="thread")).complete


async def test_an_import_into_what_is_not_declared_is_refused(client: MemoryClient, memory: Memory) -> None:
    await memory.append("Hello")
    with pytest.raises(MemoryUnknownResource):
        await client.import_messages(await lines_of(client), resource="nobody")


async def test_several_memories_become_one_only_where_they_are_to_be_merged(client: MemoryClient) -> None:
    for key in ("a", "b"):
        await client.memory("desk", key).append([f"{key}1", f"{key}2"])
    lines, both = await lines_of(client), client.memory("thread", "both")
    with pytest.raises(MemoryInvalid, match=r"^line 4: the import ends here: .* which were taken and stay"):
        await client.import_messages(lines, resource="thread", key="both")
    assert [message.text for message in (await both.read()).messages] == ["a1", "a2"]
    merged = await client.import_messages(lines, resource="thread", key="both", merge=True)
    assert (merged.already, merged.messages) == (2, 2)
    assert [message.text for message in (await both.read()).messages] == ["a1", "a2", "b1", "b2"]
    wrong: list[dict[str, Any]] = [{"merge": True}, {"key": "both", "merge": "yes"}]
    for options in wrong:
        with pytest.raises(MemoryInvalid, match=r"^merge: "):
            await client.import_messages(lines, resource="thread", **options)


async def test_an_empty_key_is_no_key_and_is_refused(client: MemoryClient, memory: Memory) -> None:
    await memory.append("Hello")
    with pytest.raises(MemoryKeyInvalid):
        await client.import_messages(await lines_of(client), resource="thread", key="")
    assert not (await client.memory("thread", "user:42").stats()).exists
    with pytest.raises(MemoryUnknownResource):
        await client.import_messages(await lines_of(client), resource="")
