"""Imports through the client: what was exported is there as it was, and nothing is doubled."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from redis.asyncio import Redis

from durable_memory import Memory, MemoryClient, Message, Registry, ToolCall
from durable_memory.memory.errors import MemoryBackpressure
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.operations.admission import MAX_BYTES
from durable_memory.memory.stores.values import MOST_OPEN
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


async def test_results_that_are_too_large_for_one_append_follow_their_call_in_others(
    redis_url: str, project: str
) -> None:
    wide = {"resource": "memory", "max_tokens": 900_000}
    registry = Registry.from_resources([{**wide, "id": "wide"}, {**wide, "id": "copy"}])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        memory = client.memory("wide", "k")
        await memory.append(Message.assistant(tool_calls=[ToolCall(f"c{number}", "fetch") for number in range(3)]))
        for number in range(3):
            await memory.append(Message.tool(f"{number} " + "word " * 140_000, f"c{number}"))
        lines = await lines_of(client, "wide")
        assert sum(map(len, lines)) > MAX_BYTES
        for expected in ((4, 0, 0), (0, 4, 0)):
            result = await client.import_messages(lines, resource="copy")
            assert (result.messages, result.already, result.faults) == expected
        copied = (await client.memory("copy", "k").read()).messages
        assert [shown(message) for message in copied] == [shown(message) for message in (await memory.read()).messages]


async def test_results_that_redaction_makes_longer_still_fit_into_their_appends(redis_url: str, project: str) -> None:
    wide = {"resource": "memory", "max_tokens": 2_000_000}
    redacted = {**wide, "id": "redacted", "privacy_policy": {"redact_patterns": ["Ada"]}}
    registry = Registry.from_resources([{**wide, "id": "plain"}, redacted])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        memory = client.memory("plain", "k")
        call = Message.assistant(tool_calls=[ToolCall(f"c{number}", "find") for number in range(4)])
        await memory.append([call, *(Message.tool("Ada said " * 35_000, f"c{number}") for number in range(4))])
        result = await client.import_messages(await lines_of(client, "plain"), resource="redacted")
        assert (result.messages, result.faults) == (5, 0)
