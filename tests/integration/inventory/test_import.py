"""Imports through the client: nothing is doubled, and what does not fit is named."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis.asyncio import Redis

from durable_memory import Memory, MemoryClient, Message, Registry, ToolCall
from durable_memory.memory.errors import MemoryBackpressure, MemoryInvalid, MemoryKeyInvalid, MemoryUnknownResource
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.values import MOST_OPEN
from durable_memory.memory.transfer.lines import VERSION
from tests.integration.inventory.exported import lines_of, messages_in


def shown(message: Message) -> dict[str, Any]:
    """What an import keeps of a message."""
    return {
        name: value
        for name, value in message.to_dict().items()
        if name not in {"id", "created_at", "provenance", "tokens"}
    }


CONVERSATION = [
    Message.system("Be brief."),
    Message.user("Where is my parcel?", pinned=True, name="Ada", metadata={"ticket": 7}),
    Message.assistant(tool_calls=[ToolCall("c1", "track", "{}"), ToolCall("c2", "weather", "{}")], agent="clerk"),
    Message.tool("On its way.", "c1"),
    Message.tool("Sunny.", "c2"),
    Message.assistant([{"type": "text", "text": "On its way 😀"}], priority="high"),
]


async def test_what_was_exported_can_be_read_as_it_was_after_an_import(client: MemoryClient, memory: Memory) -> None:
    await memory.append(CONVERSATION)
    result = await client.import_messages(await lines_of(client), resource="thread")
    assert (result.messages, result.already, result.faults, result.complete) == (6, 0, 0, True)
    before = await memory.read()
    after = await client.memory("thread", "user:42").read()
    assert [shown(message) for message in after.messages] == [shown(message) for message in before.messages]
    assert after.tokens == before.tokens


async def test_summaries_and_what_waits_are_exported_and_become_ordinary_messages(
    client: MemoryClient, memory: Memory
) -> None:
    await memory.append([f"Parcel {number} left the depot in Ghent." for number in range(20)])
    await memory.flush(force=True)
    await memory.append([f"Letter {number} left the depot in Bruges, as nobody knew." for number in range(80)])
    stats = await memory.stats()
    assert stats.omitted.messages > 0
    lines = messages_in(await lines_of(client))
    assert [line["message"]["section"] for line in lines][:2] == ["long_term", "short_term"]
    assert sum(line.get("waiting", False) for line in lines) == stats.omitted.messages
    assert len(lines) == sum(stats.messages.values()) + stats.omitted.messages
    result = await client.import_messages(await lines_of(client), resource="thread")
    assert (result.messages, result.summaries, result.faults) == (len(lines), 1, 0)
    [first, *_] = messages_in(await lines_of(client, "thread"))
    assert (first["message"]["role"], first["message"]["section"]) == ("assistant", "short_term")
    assert first["message"]["content"].startswith("Summary of ")


async def test_an_import_that_ended_half_way_is_started_again_and_doubles_nothing(
    client: MemoryClient, memory: Memory
) -> None:
    await memory.append([*CONVERSATION, *(f"m{number}" for number in range(30))])
    lines = await lines_of(client)

    def cut_off(after: int) -> Iterator[str]:
        yield from lines[:after]
        raise ConnectionError

    for after in (4, 5, 20):
        with pytest.raises(ConnectionError):
            await client.import_messages(cut_off(after), resource="thread")
    result = await client.import_messages(lines, resource="thread")
    assert result.already > 10
    assert result.messages + result.already == 36
    again = await client.import_messages(lines, resource="thread")
    assert (again.messages, again.already) == (0, 36)
    texts = [message.text for message in (await client.memory("thread", "user:42").read()).messages]
    assert texts == [message.text for message in (await memory.read()).messages]


async def test_an_import_is_the_same_whatever_ends_its_lines(client: MemoryClient, memory: Memory) -> None:
    await memory.append(CONVERSATION)
    lines = await lines_of(client)
    assert (await client.import_messages(lines, resource="thread")).messages == 6
    for end in ("\n", "\r\n", " "):
        as_text = await client.import_messages([line + end for line in lines], resource="thread")
        as_bytes = await client.import_messages([(line + end).encode() for line in lines], resource="thread")
        assert [(result.messages, result.already) for result in (as_text, as_bytes)] == [(0, 6), (0, 6)]


async def test_an_import_is_the_same_behind_a_byte_order_mark(client: MemoryClient, memory: Memory) -> None:
    await memory.append("Hello")
    header, *rest = await lines_of(client)
    first_lines: tuple[str | bytes, ...] = (f"\ufeff{header}", f"\ufeff{header}".encode(), header)
    for first in first_lines:
        result = await client.import_messages([first, *rest], resource="thread")
        assert (result.messages + result.already, result.complete) == (1, True)


async def test_results_of_calls_with_one_id_stay_with_their_calls(client: MemoryClient, memory: Memory) -> None:
    twice = [ToolCall("call_1", "track"), ToolCall("call_1", "track")]
    await memory.append([Message.assistant("First.", tool_calls=twice), Message.tool("one", "call_1")])
    whole = [Message.tool("red", "call_1"), Message.tool("blue", "call_1")]
    await memory.append([Message.assistant("Second.", tool_calls=twice), *whole])
    await client.import_messages(await lines_of(client), resource="thread")
    copy = client.memory("thread", "user:42")
    assert [message.text for message in (await copy.read()).messages] == ["Second.", "red", "blue"]
    await copy.append(Message.tool("two", "call_1"))
    texts = [message.text for message in (await copy.read()).messages]
    assert texts == ["First.", "one", "two", "Second.", "red", "blue"]


async def test_sections_of_ones_own_are_kept_where_the_target_declares_them(redis_url: str, project: str) -> None:
    shares = {"short_term": 0.5, "long_term": 0.2, "system": 0.1, "user_defined": {"bookings": 0.2}}
    divided = {"resource": "memory", "max_tokens": 2000, "token_allocation": shares}
    whole = {"resource": "memory", "id": "whole", "max_tokens": 2000}
    registry = Registry.from_resources([{**divided, "id": "divided"}, {**divided, "id": "other"}, whole])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        memory = client.memory("divided", "k")
        await memory.append(["Hello", Message.user("Seat 12A", section="bookings"), "Thanks"])
        lines = await lines_of(client, "divided")
        assert [line["message"]["section"] for line in messages_in(lines)] == ["short_term", "bookings", "short_term"]
        assert (await client.import_messages(lines, resource="other")).faults == 0
        view = await client.memory("other", "k").read(sections=["bookings"])
        assert [message.text for message in view.messages] == ["Seat 12A"]
        [problem] = (await client.import_messages(lines, resource="whole")).problems
        assert (problem.line, problem.type) == (3, "MemoryInvalid")
        assert len((await client.memory("whole", "k").read()).messages) == 2


async def test_two_exports_with_the_same_words_are_two_imports(client: MemoryClient, memory: Memory) -> None:
    await memory.append("Hello")
    for times in (1, 2):
        await client.import_messages(await lines_of(client), resource="thread")
        assert (await client.memory("thread", "user:42").stats()).messages["short_term"] == times


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


async def test_a_memory_that_is_too_small_summarises_what_is_imported_and_loses_nothing(
    redis_url: str, client: MemoryClient, memory: Memory
) -> None:
    await memory.append([f"Parcel {number} left the depot in Ghent for good." for number in range(70)])
    lines = await lines_of(client)
    tiny = {"resource": "memory", "id": "tiny", "max_tokens": 200, "overflow": {"max_tokens": 400}}
    registry = Registry.from_resources([{**tiny, "flushing": {"keep_last": 1}}])
    async with await MemoryClient.connect(redis_url, memories=registry, project=client.project) as other:
        result = await other.import_messages(lines, resource="tiny")
        assert (result.messages, result.faults) == (70, 0)
        stats = await other.memory("tiny", "user:42").stats()
        covered = [
            message.metadata["covers_messages"]
            for message in (await other.memory("tiny", "user:42").read(sections=["long_term"])).messages
        ]
        assert sum(map(int, map(str, covered))) + stats.messages["short_term"] + stats.omitted.messages == 70


class Bell:
    """A waker that notes whom it was to wake."""

    def __init__(self) -> None:
        self.woken: list[MemoryId] = []

    async def wake(self, memory: MemoryId, *, force: bool = False) -> None:  # noqa: ARG002 - as a waker takes it
        self.woken.append(memory)


async def test_an_import_into_a_memory_that_remembers_no_more_operations_ends_in_words_and_flushes_nothing(
    redis_url: str, client: MemoryClient, memory: Memory, project: str
) -> None:
    await memory.append("Where is my parcel?")
    lines = await lines_of(client)
    bell, desk = Bell(), {"resource": "memory", "id": "desk", "max_tokens": 1_000}
    async with (
        Redis.from_url(redis_url) as raw,
        await MemoryClient.connect(
            redis_url, memories=Registry.from_resources([desk]), project=f"{project}-full", waker=bell
        ) as other,
    ):
        full = f"dm:{{{project}-full/desk/user%3A42}}:opx"
        tomorrow = (await raw.time())[0] * 1_000 + 86_400_000
        for start in range(0, MOST_OPEN, 10_000):
            await raw.zadd(full, {f"op-{number}": tomorrow for number in range(start, start + 10_000)})
        with pytest.raises(MemoryBackpressure, match="100000 operations of this memory are still inside"):
            await other.import_messages(lines, resource="desk")
        with pytest.raises(MemoryBackpressure):
            await other.memory("desk", "user:42").append("x")
        assert bell.woken == []
        await raw.delete(full)
        assert (await other.import_messages(lines, resource="desk")).messages == 1


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


async def test_what_was_cleared_or_purged_since_is_imported_again_and_only_once(
    client: MemoryClient, memory: Memory
) -> None:
    await memory.append([*CONVERSATION, "Thanks", "Bye"])
    lines, target = await lines_of(client), client.memory("thread", "user:42")
    assert (await client.import_messages(lines, resource="thread")).messages == 8
    for remove in (
        lambda: target.clear(confirm=True),
        lambda: client.purge("thread", dry_run=False, confirm=True),
        lambda: target.clear(confirm=True),
    ):
        await remove()
        result = await client.import_messages(lines, resource="thread")
        assert (result.messages, result.already, result.complete) == (8, 0, True)
        again = await client.import_messages(lines, resource="thread")
        assert (again.messages, again.already) == (0, 8)
        assert (await target.stats()).messages["short_term"] == 7


async def test_a_result_whose_call_was_summarised_becomes_an_ordinary_message(redis_url: str, project: str) -> None:
    late = {"resource": "memory", "max_tokens": 1000, "open_group_ttl": "1ms", "flushing": {"keep_last": 0}}
    registry = Registry.from_resources([{**late, "id": "late"}, {**late, "id": "target"}])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        memory = client.memory("late", "k")
        await memory.append(["Where is it?", Message.assistant(tool_calls=[ToolCall("c1", "track", "{}")])])
        await asyncio.sleep(0.02)
        assert (await memory.flush(force=True)).outcome == "committed"
        await memory.append(["Well?", Message.tool("In Ghent.", "c1")])
        lines = await lines_of(client, "late")
        [late_one] = [line for line in messages_in(lines) if line["message"]["role"] == "tool"]
        assert late_one["waiting"] is True
        for expected in ((3, 0, 0), (0, 3, 0)):
            result = await client.import_messages(lines, resource="target")
            assert (result.messages, result.already, result.faults) == expected
        shown = (await client.memory("target", "k").read()).messages
        assert [message.role for message in shown if message.text == "In Ghent."] == ["assistant"]
