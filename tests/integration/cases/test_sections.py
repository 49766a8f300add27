"""Sections of a resource's own: named by messages, held to their shares, told by views and counters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from durable_memory import MemoryClient
from durable_memory.memory.errors import MemoryInvalid, MemoryOperationConflict, MemoryOversize
from durable_memory.memory.types import Message, View
from tests.integration.cases.conftest import OpenMemory, unique


def shown(view: View) -> list[tuple[str | None, str]]:
    return [(message.section, message.text) for message in view.messages]


async def test_a_message_stands_in_the_section_that_it_names(open_memory: OpenMemory) -> None:
    memory = open_memory("trip")
    await memory.append(
        [
            Message.user("Two nights in Rome, please."),
            Message.user("Hotel Lux, 3 to 5 May", section="bookings"),
            {"role": "user", "content": "Vegetarian", "section": "notes"},
            Message.system("Be brief."),
        ]
    )
    turn = await memory.record_turn(
        [Message.assistant("Flight AZ 611", section="bookings"), Message.assistant("Done.")]
    )
    assert [message.section for message in turn.messages] == ["bookings", None]
    view = await memory.read()
    assert shown(view) == [
        ("system", "Be brief."),
        ("bookings", "Hotel Lux, 3 to 5 May"),
        ("bookings", "Flight AZ 611"),
        ("notes", "Vegetarian"),
        ("short_term", "Two nights in Rome, please."),
        ("short_term", "Done."),
    ]
    assert shown(await memory.read(sections=["notes", "bookings"])) == shown(view)[1:4]
    stats = await memory.stats()
    assert dict(stats.messages) == {"system": 1, "long_term": 0, "bookings": 2, "notes": 1, "short_term": 2}
    assert dict(stats.shares) == {"system": 100, "long_term": 200, "bookings": 150, "notes": 50, "short_term": 500}
    assert stats.section_ratios["bookings"] == stats.tokens["bookings"] / 150
    assert sum(stats.tokens.values()) == view.tokens


async def test_what_a_view_shows_may_be_written_back(open_memory: OpenMemory) -> None:
    memory = open_memory("trip")
    await memory.append([Message.user(f"Night {number} in Rome, and what to see there.") for number in range(8)])
    await memory.append([Message.user("Hotel Lux", section="bookings"), Message.system("Be brief.")])
    await memory.flush(force=True)
    view = await memory.read()
    assert [message.section for message in view.messages][:2] == ["system", "long_term"]
    await memory.write(view.messages, if_version=view.version)
    assert {message.text for message in (await memory.read()).messages} == {message.text for message in view.messages}


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({"role": "user", "content": "x", "section": "booking"}, r"messages\[0\].*'booking'.*did you mean 'bookings'"),
        (
            {"role": "user", "content": "x", "section": "long_term"},
            r"messages\[0\]\.section: is long_term, which only a",
        ),
        (
            {"role": "user", "content": "x", "section": "system"},
            r"messages\[0\]\.section: is system, where no message of the role user",
        ),
        (
            {"role": "system", "content": "x", "section": "bookings"},
            r"messages\[0\]\.section: cannot be chosen for a sys",
        ),
        ({"role": "user", "content": "x", "section": "Book ings"}, r"messages\[0\]\.section: must name a section"),
        ({"role": "user", "content": "x", "section": 7}, r"messages\[0\]\.section: must name a section"),
    ],
)
async def test_a_wrong_section_is_refused_by_name(
    open_memory: OpenMemory, message: dict[str, Any], problem: str
) -> None:
    memory = open_memory("trip")
    with pytest.raises(MemoryInvalid, match=problem):
        await memory.append([message])
    assert not (await memory.stats()).exists
    with pytest.raises(MemoryInvalid, match="declares no sections of its own"):
        await open_memory("chat").append(Message.user("x", section="bookings"))
    with pytest.raises(MemoryInvalid, match=r"sections\[0\]: is not a section of this memory.*did you mean 'bookings'"):
        await memory.read(sections=["booking"])


async def test_what_is_too_large_for_a_share_is_refused_with_both_numbers(open_memory: OpenMemory) -> None:
    with pytest.raises(MemoryOversize, match=r"has \d+ tokens, but section notes may fill at most 50; shorten it"):
        await open_memory("trip").append(Message.user("word " * 60, section="notes"))


async def test_a_long_conversation_pushes_no_booking_out(open_memory: OpenMemory) -> None:
    memory = open_memory("trip")
    await memory.append(Message.user("Hotel Lux, 3 to 5 May", section="bookings"))
    for number in range(40):
        await memory.append(f"Question number {number}: what else is there to see in this town, and what does it cost?")
    view = await memory.read()
    assert shown(view)[0] == ("bookings", "Hotel Lux, 3 to 5 May")
    assert (await memory.stats()).tokens["short_term"] <= 500


async def test_one_operation_in_another_section_is_another_content(open_memory: OpenMemory) -> None:
    memory = open_memory("trip")
    first = await memory.append(Message.user("Hotel Lux", section="bookings"), operation_id="op")
    again = await memory.append(Message.user("Hotel Lux", section="bookings"), operation_id="op")
    assert (again.already_applied, again.ids) == (True, first.ids)
    with pytest.raises(MemoryOperationConflict):
        await memory.append(Message.user("Hotel Lux", section="notes"), operation_id="op")


async def test_a_declaration_that_drops_its_sections_loses_nothing(
    redis_url: str, tmp_path: Path, folder: Path
) -> None:
    project, key = unique("project"), unique("key")
    declared = (folder / "declared.yaml").read_text()
    start, end = declared.index("token_allocation:"), declared.index("flushing: {summary_tokens: 80, keep_last: 1}")
    (tmp_path / "declared.yaml").write_text(declared[:start] + declared[end:])
    async with await MemoryClient.connect(redis_url, memories=[folder], project=project) as before:
        memory = before.memory("trip", key)
        await memory.append([Message.user("Hotel Lux", section="bookings"), Message.user("Thank you."), "Bye."])
        async with await MemoryClient.connect(redis_url, memories=[tmp_path], project=project) as after:
            without = after.memory("trip", key)
            assert shown(await without.read()) == [
                ("short_term", "Hotel Lux"),
                ("short_term", "Thank you."),
                ("short_term", "Bye."),
            ]
            flushed = await without.flush(force=True)
            assert (flushed.outcome, len(flushed.removed_ids)) == ("committed", 2)
            await without.append("Hello again.")
            assert [message.section for message in (await without.read()).messages] == [
                "long_term",
                *["short_term"] * 2,
            ]
        assert (await memory.read()).messages[-1].text == "Hello again."
