"""A summary that is handed in again is an ordinary message: it counts, leaves and is summarised like any other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from durable_memory import Memory
from durable_memory.memory.types import Message, View
from tests.integration.cases.conftest import OpenMemory


async def summarised(memory: Memory, summaries: int = 1) -> View:
    """Fills a memory, and returns a view of its summaries and of what was said after them."""
    for number in range(summaries):
        await memory.append([f"Parcel {number}{part} left the depot in Ghent for Lyon." for part in range(9)])
        await memory.flush(force=True)
    await memory.append("Where are they now?")
    view = await memory.read()
    assert [message.section for message in view.messages].count("long_term") == summaries
    return view


@pytest.mark.parametrize("resource", ["small", "trip"])
async def test_a_view_that_is_written_back_leaves_nothing_that_stays_for_ever(
    open_memory: OpenMemory, resource: str
) -> None:
    memory = open_memory(resource)
    view = await summarised(memory)
    await memory.write(view.messages, if_version=view.version)
    assert (await memory.stats()).messages["system"] == 0
    first, *others = (await memory.read()).messages
    assert (first.role, first.section, first.text) == ("assistant", "short_term", view.messages[0].text)
    assert [message.text for message in others] == [message.text for message in view.messages[1:]]
    assert first.id in (await memory.flush(force=True)).removed_ids


async def test_summaries_do_not_need_the_share_of_system_messages_to_be_written_back(open_memory: OpenMemory) -> None:
    memory = open_memory("trip")
    view = await summarised(memory, summaries=2)
    stats = await memory.stats()
    assert stats.tokens["long_term"] > stats.shares["system"]
    await memory.write(view.messages, if_version=view.version)
    written = await memory.stats()
    assert written.tokens["short_term"] == stats.tokens["long_term"] + stats.tokens["short_term"]


async def test_append_and_record_turn_take_a_summary_as_they_take_any_message(open_memory: OpenMemory) -> None:
    summary = (await summarised(open_memory("small"))).messages[0]
    memory = open_memory("chat")
    await memory.append([summary, dict(summary.to_dict()), replace(summary, id=None)])
    turn = await memory.record_turn(["Go on.", summary])
    assert [message.role for message in turn.messages] == ["user", "assistant"]
    view = await memory.read()
    assert [(message.role, message.section) for message in view.messages if message.text == summary.text] == [
        ("assistant", "short_term")
    ] * 4
    assert view.messages[0].metadata == summary.metadata


async def test_a_system_message_that_is_written_back_stays_one(open_memory: OpenMemory) -> None:
    memory = open_memory("small")
    await memory.append(Message.system("Be brief."))
    view = await summarised(memory)
    await memory.write(view.messages, if_version=view.version)
    first, *_ = (await memory.read()).messages
    assert (first.role, first.text) == ("system", "Be brief.")
    assert (await memory.stats()).messages["system"] == 1
