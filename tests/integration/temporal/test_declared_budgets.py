"""Divided budgets, cut messages and budgets by a model hold for workflows: through the handle and by name."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from durable_memory import Message, Registry
from durable_memory.activities import wire
from durable_memory.memory.operations.oversize import MARK
from durable_memory.memory.tokens.counters import make_counter
from durable_memory.memory.tokens.counting import counting_named
from tests.integration.temporal.background import flusher_ended, messages_accounted_for
from tests.integration.temporal.flows.budgets import BUDGETS, AppendOne, CallByName, PlanATrip
from tests.integration.temporal.observing import fault_of
from tests.integration.temporal.rig import Rig, running, unique

REGISTRY = Registry.from_resources(
    [
        {
            "resource": "memory",
            "id": "trip",
            "max_tokens": 1_000,
            "scope": "user",
            "token_allocation": {
                "short_term": 0.5,
                "long_term": 0.2,
                "system": 0.1,
                "user_defined": {"bookings": 0.15, "notes": 0.05},
            },
            "flushing": {"summary_tokens": 80, "keep_last": 1},
        },
        {"resource": "memory", "id": "cut", "max_tokens": 300, "scope": "user", "oversize": "truncate"},
        {
            "resource": "memory",
            "id": "desk",
            "scope": "user",
            "max_context_ratio": 0.0625,
            "token_provider": {"provider": "openai", "model": "gpt-4"},
            "flushing": {"summary_tokens": 80, "keep_last": 1},
        },
    ]
)
SHARES = {"system": 100, "long_term": 200, "bookings": 150, "notes": 50, "short_term": 500}
WINDOW_SHARE = 512
"""Of GPT-4's window of 8,192 tokens: a sixteenth."""

PROSE = "The parcel left the depot for Ghent, and nobody knows why it came back. " * 100
MIXED = "Der Zug nach Gent f\u00e4hrt um 17:45 Uhr; \u56db\u3064\u306e\u5ea7\u5e2d. Price: 1,234.50 EUR, seats 12A-12D."
TALK = [f"Night {number} in Rome, and what to see there. " * 6 for number in range(10)]


@pytest.fixture(scope="session")
async def rig(temporal_address: str, redis_url: str) -> AsyncIterator[Rig]:
    """A worker whose memories have these budgets."""
    async with running(temporal_address, redis_url, registry=REGISTRY, workflows=BUDGETS, activities=[]) as shared:
        yield shared


def place(resource: str, key: str) -> dict[str, Any]:
    """A memory as requests name it."""
    return {"resource": resource, "key": key}


def said(text: str) -> dict[str, Any]:
    """A user's message as requests carry it."""
    return {"role": "user", "content": text}


async def tokens_by(encoding: str, text: str) -> int:
    """The tokens of a user's message."""
    return (await make_counter(counting_named(encoding)).count([Message.user(text)]))[0].tokens


async def test_a_long_talk_pushes_no_booking_out(rig: Rig) -> None:
    key = unique("key")
    told = await rig.run(PlanATrip.run, key, TALK)
    assert told["booked"] == [["bookings", "Hotel Lux, 3 to 5 May"], ["bookings", "Flight AZ 611"]]
    assert told["shares"] == SHARES
    assert {name: told["messages"][name] for name in ("system", "bookings", "notes")} == {
        "system": 1,
        "bookings": 2,
        "notes": 0,
    }
    assert all(0 <= told["tokens"][name] <= share for name, share in SHARES.items())
    (oversize, numbers), (invalid, hint) = told["refused"]
    assert (oversize, invalid) == ("MemoryOversize", "MemoryInvalid")
    assert "150" in numbers
    assert "did you mean 'bookings'" in hint
    memory = rig.memory("trip", key)
    await flusher_ended(rig, memory)
    # The flush that the talk made due summarised it, and nothing of the others.
    assert (await memory.stats()).messages["bookings"] == 2
    assert await messages_accounted_for(memory) == 2 + len(TALK) + 2


async def test_callers_by_name_name_sections_and_see_shares(rig: Rig) -> None:
    key = unique("key")
    messages = [
        {"role": "user", "content": "Hotel Lux", "section": "bookings"},
        {"role": "user", "content": "Two nights, please."},
        {"role": "user", "content": "Vegetarian", "section": "notes"},
    ]
    memory = place("trip", key)
    appended, view, stats = await rig.run(
        CallByName.run,
        [
            (wire.APPEND, {"memory": memory, "messages": messages}),
            (wire.READ, {"memory": memory, "sections": ["notes", "bookings"]}),
            (wire.STATS, {"memory": memory}),
        ],
    )
    assert len(appended["ids"]) == 3
    shown = [(message["section"], message["content"]) for message in view["messages"]]
    assert shown == [("bookings", "Hotel Lux"), ("notes", "Vegetarian")]
    assert stats["shares"] == SHARES
    assert stats["messages"] == {"system": 0, "long_term": 0, "bookings": 1, "notes": 1, "short_term": 1}
    unknown = {"memory": memory, "messages": [{"role": "user", "content": "x", "section": "booking"}]}
    fault = await fault_of(rig.run(CallByName.run, [(wire.APPEND, unknown)]))
    assert (fault.type, "did you mean 'bookings'" in fault.message) == ("MemoryInvalid", True)


async def test_a_text_that_is_too_large_is_cut_and_marked_for_workflows(rig: Rig) -> None:
    told = await rig.run(AppendOne.run, "cut", unique("key"), PROSE)
    message = told["message"]
    assert told["tokens"] == message["tokens"] <= 300
    assert message["truncated_from"] == await tokens_by("o200k_base", PROSE)
    assert message["content"].endswith(MARK)
    assert PROSE.startswith(message["content"].removesuffix(MARK))


async def test_a_cut_turn_by_name_is_one_operation_though_its_words_come_again(rig: Rig) -> None:
    turn = {"memory": place("cut", unique("key")), "operation_id": "turn-1", "messages": [said(PROSE)]}
    first, again, view = await rig.run(
        CallByName.run,
        [(wire.RECORD_TURN, turn), (wire.RECORD_TURN, turn), (wire.READ, {"memory": turn["memory"]})],
    )
    assert (first["result"]["already_applied"], again["result"]["already_applied"]) == (False, True)
    assert first["messages"][0]["content"] == again["messages"][0]["content"] == view["messages"][0]["content"]
    assert view["messages"][0]["content"].endswith(MARK)


async def test_tokens_are_those_of_the_declared_model(rig: Rig) -> None:
    by_model, by_default = await tokens_by("cl100k_base", MIXED), await tokens_by("o200k_base", MIXED)
    assert by_model != by_default
    for resource, tokens in (("desk", by_model), ("cut", by_default)):
        assert (await rig.run(AppendOne.run, resource, unique("key"), MIXED))["tokens"] == tokens


async def test_a_share_of_the_models_window_bounds_the_memory_also_in_the_background(rig: Rig) -> None:
    key = unique("key")
    memory = place("desk", key)
    fault = await fault_of(rig.run(CallByName.run, [(wire.APPEND, {"memory": memory, "messages": [said(PROSE)]})]))
    assert fault.type == "MemoryOversize"
    appends = [(wire.APPEND, {"memory": memory, "messages": [said(text)]}) for text in TALK]
    *results, stats = await rig.run(CallByName.run, [*appends, (wire.STATS, {"memory": memory})])
    assert stats["max_tokens"] == WINDOW_SHARE
    assert max(result["tokens"] for result in results) <= WINDOW_SHARE
    seen = rig.memory("desk", key)
    await flusher_ended(rig, seen)
    after = await seen.stats()
    assert (after.messages["long_term"], after.last_flush_outcome) == (1, "committed")
    assert after.budget_ratio is not None
    assert 0 < after.budget_ratio <= 1
    assert await messages_accounted_for(seen) == len(TALK)
