"""What was admitted has high priority where a keyword of the resource stands in its text."""

from __future__ import annotations

from collections.abc import Sequence

from durable_memory.memory.eviction.keywords import RAISED_TO, Keywords
from durable_memory.memory.operations.admission import Admitted
from durable_memory.memory.stores.values import Entry
from durable_memory.memory.types import Message
from durable_memory.testing.contracts.builders import call, result, user


def entries_raised(messages: Sequence[Message], entries: Sequence[Entry]) -> tuple[Entry, ...]:
    return Admitted(tuple(messages), tuple(entries), digest="", estimated=0).raised(Keywords(["visa"])).entries


def test_a_keyword_raises_to_high_and_never_lowers() -> None:
    entries = [user("a visa", band=band) for band in range(4)]
    raised = entries_raised([Message.user("a visa")] * 4, entries)
    assert [entry.band for entry in raised] == [RAISED_TO, RAISED_TO, 2, 3]
    assert [entry.payload for entry in raised] == [entry.payload for entry in entries]


def test_the_message_that_opens_a_group_decides() -> None:
    messages = [Message.assistant("looking up the visa"), Message.tool("the visa is valid", "1")]
    raised = entries_raised(messages, [call("calls", "1"), result("valid", "1")])
    assert [entry.band for entry in raised] == [RAISED_TO, 1]


def test_text_parts_are_looked_at() -> None:
    message = Message.user([{"type": "text", "text": "my visa"}, {"type": "image_url", "image_url": {"url": "x"}}])
    assert entries_raised([message], [user("parts")])[0].band == RAISED_TO
