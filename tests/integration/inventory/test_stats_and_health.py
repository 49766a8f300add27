"""Grouped counters, and a health that names what is overdue, through the client on both kinds of persistence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from durable_memory import MemoryClient, Message, Registry, ToolCall
from durable_memory.memory.clock import ManualClock
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.operations import grouped_stats
from durable_memory.memory.stores.in_memory import open_in_memory
from durable_memory.memory.stores.values import FlushOptions
from durable_memory.memory.types import GroupBy

CONVERSATION = [
    Message.system("Be brief."),
    Message.user("Where is my parcel?"),
    Message.assistant(tool_calls=[ToolCall("c1", "track", "{}")], agent="clerk"),
    Message.tool("On its way.", "c1"),
    Message.user("Thanks!"),
]


async def counts(client: MemoryClient, group_by: GroupBy) -> Mapping[str, int]:
    stats = await client.memory("desk", "k").stats(group_by=group_by)
    assert stats.groups_complete
    assert sum(group.tokens for group in stats.groups) == sum(stats.tokens.values()) + stats.omitted.tokens
    assert [group.tokens for group in stats.groups] == sorted((group.tokens for group in stats.groups), reverse=True)
    return {group.name: group.messages for group in stats.groups}


async def test_stats_count_by_role_author_section_and_day(client: MemoryClient) -> None:
    await client.memory("desk", "k").append(CONVERSATION)
    assert await counts(client, "role") == {"system": 1, "user": 2, "assistant": 1, "tool": 1}
    assert await counts(client, "author") == {"": 4, "clerk": 1}
    assert await counts(client, "section") == {"system": 1, "short_term": 4}
    assert sum((await counts(client, "day")).values()) == 5
    today = datetime.now(UTC)
    assert set(await counts(client, "day")) <= {f"{today - timedelta(days=ago):%Y-%m-%d}" for ago in (0, 1)}


async def test_what_waits_and_what_was_summarised_are_groups_of_their_own(client: MemoryClient) -> None:
    memory = client.memory("desk", "k")
    await memory.append([f"Parcel {number} left the depot in Ghent." for number in range(20)])
    await memory.flush(force=True)
    await memory.append([f"Letter {number} left the depot in Bruges, as nobody knew." for number in range(80)])
    stats = await memory.stats()
    found = await counts(client, "section")
    assert found == {"long_term": 1, "short_term": stats.messages["short_term"], "waiting": stats.omitted.messages}
    assert found["waiting"] > 0


async def test_stats_without_groups_have_none_and_an_absent_memory_is_no_error(client: MemoryClient) -> None:
    assert (await client.memory("desk", "k").stats()).groups == ()
    assert (await client.memory("desk", "k").stats(group_by="role")).groups == ()


@pytest.mark.parametrize("wrong", ["", "roles", 1, ["role"]])
async def test_another_way_to_group_is_refused_with_those_there_are(client: MemoryClient, wrong: str) -> None:
    with pytest.raises(MemoryInvalid, match=f"group_by: must be one of {', '.join(get_args(GroupBy))}"):
        await client.memory("desk", "k").stats(group_by=wrong)  # type: ignore[arg-type] # the point


async def test_a_scan_of_a_large_memory_ends_and_says_so(client: MemoryClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouped_stats, "MAX_SCANNED", 20)
    await client.memory("desk", "k").append([f"m{number}" for number in range(50)])
    stats = await client.memory("desk", "k").stats(group_by="role")
    assert not stats.groups_complete
    assert [group.messages for group in stats.groups] == [20]


async def test_connectivity_is_measured_only_if_that_is_asked_for(client: MemoryClient) -> None:
    assert (await client.memory("desk", "k").health()).answer_us is None
    answer_us = (await client.memory("desk", "k").health(check_connectivity=True)).answer_us
    assert answer_us is not None
    assert answer_us < 5_000_000


async def test_a_flush_that_nobody_does_is_named_after_minutes_with_who_holds_the_lease() -> None:
    clock = ManualClock()
    resource = {"resource": "memory", "id": "desk", "max_tokens": 400, "persistence": {"type": "in_memory"}}
    registry = Registry.from_resources([{**resource, "flushing": {"summary_tokens": 50, "keep_last": 0}}])
    backend = open_in_memory(clock)
    memory = MemoryClient(registry, {"in_memory": backend}, clock=clock).memory("desk", "k")
    await memory.append(["A sentence of about ten tokens, more or less."] * 22)
    assert (await memory.stats()).flush_due
    clock.advance(seconds=299)
    assert (await memory.health()).healthy
    clock.advance(seconds=120)
    verdict = await memory.health()
    assert not verdict.healthy
    assert verdict.problems[0].startswith("a flush is overdue: due for 6 minutes, and nobody holds the lease")
    limits = registry.memory("desk").limits()
    ends_ms = clock.now_ms() + 60_000
    await backend.store.begin(memory.id, "flusher/7", limits, FlushOptions(), batch_id="b", attempt_ends_ms=ends_ms)
    assert "flusher/7 holds the lease" in (await memory.health()).problems[0]
    clock.advance(seconds=60)
    await memory.flush()
    assert (await memory.health()).healthy
