"""Exports through the client: what they hold, also of what others do meanwhile."""

from __future__ import annotations

import json
import tracemalloc

import pytest

from durable_memory import Memory, MemoryClient, Message, Registry, ToolCall
from durable_memory.memory.errors import MemoryConflict
from tests.integration.inventory.exported import lines_of, messages_in, spoken_in


async def test_an_export_holds_every_memory_that_was_asked_for_and_no_other(client: MemoryClient) -> None:
    for key in ("user:al", "user:al:1", "user:alice"):
        await client.memory("desk", key).append("Hello")
    keys = [line["key"] for line in messages_in(await lines_of(client))]
    assert keys == ["user:al", "user:al:1", "user:alice"]
    assert [line["key"] for line in messages_in(await lines_of(client, prefix="user:al"))] == ["user:al", "user:al:1"]
    assert [line["key"] for line in messages_in(await lines_of(client, key="user:al"))] == ["user:al"]
    assert messages_in(await lines_of(client, key="nobody")) == []


async def test_no_character_of_a_message_ends_its_line(client: MemoryClient) -> None:
    every = "".join(f"{chr(code)}." for code in range(1, 0x3000) if len(f"a{chr(code)}b".splitlines()) == 2)
    assert {"\n", "\x85", "\u2028", "\u2029"} <= set(every)
    odd, plain = client.memory("desk", "odd"), client.memory("desk", "plain")
    await odd.append(Message.user(every, metadata={every: every}))
    lines = await lines_of(client)
    text = "".join(f"{line}\n" for line in lines)
    assert text.splitlines() == lines
    assert spoken_in(lines) == [every]
    raw = [json.dumps(json.loads(line), ensure_ascii=False) for line in lines]  # as exports of before had them
    for form in (lines, raw):
        result = await client.import_messages([*form], key="plain")
        assert (result.messages, result.problems) == (1, ())
        [message] = (await plain.read()).messages
        assert (message.text, message.metadata) == (every, {every: every})
        await plain.clear(confirm=True)


async def test_what_is_summarised_during_an_export_is_in_it_as_a_message_or_in_a_summary(
    client: MemoryClient, memory: Memory
) -> None:
    await memory.append([f"m{number}" for number in range(300)])
    export = client.export_messages("desk")
    lines = [await anext(export), await anext(export)]  # the first page has been read
    await memory.flush(force=True)
    lines += [line async for line in export]
    told = messages_in(lines)
    spoken = [line["message"]["content"] for line in told if line["message"]["section"] == "short_term"]
    summaries = [line["message"]["content"] for line in told if line["message"]["section"] == "long_term"]
    assert spoken[:200] == [f"m{number}" for number in range(200)]
    assert len(spoken) < 300  # the others were summarised before their page came
    assert [summary.startswith("Summary of ") for summary in summaries] == [True]
    assert json.loads(lines[-1])["messages"] == len(told)


@pytest.mark.parametrize("then", ["append", "restore"])
async def test_a_memory_that_is_cleared_or_restored_meanwhile_ends_the_export(
    client: MemoryClient, memory: Memory, then: str
) -> None:
    await memory.append([f"m{number}" for number in range(300)])
    lines = client.export_messages("desk")
    for _ in range(50):
        await anext(lines)
    cleared = await memory.clear(confirm=True, backup=True)
    _ = await memory.restore(cleared.backup_id or "") if then == "restore" else await memory.append("born again")
    with pytest.raises(MemoryConflict, match="export again"):
        [line async for line in lines]


async def test_an_export_follows_what_is_appended_deleted_and_written_meanwhile(
    client: MemoryClient, memory: Memory
) -> None:
    await memory.append(Message.assistant("called", tool_calls=[ToolCall("c1", "track", "{}")]))
    ids = (await memory.append([f"m{number}" for number in range(300)])).ids
    export = client.export_messages("desk")
    lines = [await anext(export), await anext(export)]  # the first page has been read
    await memory.delete([ids[0], ids[299]])
    await memory.append([Message.tool("a late result", "c1"), "appended meanwhile"])
    lines += [line async for line in export]
    assert spoken_in(lines) == ["called", *(f"m{number}" for number in range(299)), "appended meanwhile"]
    export = client.export_messages("desk")
    lines = [await anext(export), await anext(export)]
    await memory.write(["written", "meanwhile"])
    lines += [line async for line in export]
    assert len(lines) == 1 + 200 + 2 + 1
    assert spoken_in(lines)[-4:] == ["m197", "m198", "written", "meanwhile"]
    assert (await client.import_messages(lines, resource="thread")).complete


async def test_an_export_holds_a_page_at_a_time(redis_url: str, project: str) -> None:
    registry = Registry.from_resources([{"resource": "memory", "id": "large", "max_tokens": 10_000_000}])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        memory = client.memory("large", "k")
        for _ in range(8):
            await memory.append(["x" * 8_000] * 150)
        await client.memory("large", "k").read(limit=1)
        tracemalloc.start()
        size = 0
        async for line in client.export_messages("large"):
            size += len(line)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert size > 9_600_000
    assert peak < size / 2


async def test_a_group_is_exported_whatever_its_size(redis_url: str, project: str) -> None:
    """Lua hands at most 8,000 values at a time to a function: once, a larger group was told to be damaged."""
    resource = {"resource": "memory", "id": "wide", "type": "message_count_based", "max_messages": 20_000}
    registry = Registry.from_resources([{**resource, "flushing": {"type": "drop"}}])
    async with await MemoryClient.connect(redis_url, memories=registry, project=project) as client:
        memory = client.memory("wide", "k")
        names = [f"c{number}" for number in range(8_000)]
        await memory.append(Message.assistant(tool_calls=[ToolCall(name, "look", "{}") for name in names]))
        for first in range(0, len(names), 1_000):
            await memory.append([Message.tool("ok", name) for name in names[first : first + 1_000]])
        told = messages_in(await lines_of(client, "wide"))
        assert [line["message"].get("tool_call_id") for line in told] == [None, *names]
        stats = await memory.stats(group_by="role")
        assert {group.name: group.messages for group in stats.groups} == {"assistant": 1, "tool": len(names)}
