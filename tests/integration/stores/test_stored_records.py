"""Records as each release stored them stay readable: a memory outlives the program that wrote it.

tests/fixtures/records/v<schema version>/ is never edited, only added to; see CONTRIBUTING.md.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from durable_memory.memory.codec import decode, encode
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.values import Entry, StoredEntry
from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.types import Message
from durable_memory.testing.contracts.builders import summarising
from durable_memory.testing.contracts.driven import Driven

FILES = sorted((Path(__file__).parents[2] / "fixtures" / "records").glob("v*/*.json"))


def load(file: Path) -> tuple[dict[str, Any], Message]:
    """Returns a record and the message that it was and has to be."""
    record: dict[str, Any] = json.loads(file.read_text())
    return record, Message.from_dict(record["message"])


def entry_of(record: dict[str, Any], message: Message) -> Entry:
    assert message.section is not None
    assert message.tokens is not None
    return Entry(
        record["payload"], message.section, message.tokens, tuple(record["opens"]), record["answers"], message.pinned
    )


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_a_record_of_each_kind_is_still_the_message_that_it_was(file: Path) -> None:
    record, message = load(file)
    entry = entry_of(record, message)
    assert decode(StoredEntry(str(message.id), entry.payload, entry.section, entry.tokens, entry.pinned)) == message


@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_what_is_written_now_can_be_read_by_the_release_that_wrote_the_record(file: Path) -> None:
    record, message = load(file)
    assert message.created_at is not None
    count = Count(message.tokens or 0, message.tokens_estimated)
    created_ms = round(message.created_at.timestamp() * 1000)
    written = encode(message, count, created_ms=created_ms, provenance=message.provenance)
    assert json.loads(written.payload) == json.loads(record["payload"])
    assert (written.opens, written.answers) == (tuple(record["opens"]), record["answers"])


async def test_a_memory_of_such_records_is_read_whole(backend: Backend) -> None:
    records = [load(file) for file in FILES]
    # Summaries come to be by flushes, never by appends.
    appended = [(record, message) for record, message in records if message.section != "long_term"]
    memory = Driven(backend.store, summarising(max_tokens=4000, overflow_tokens=8000))
    await memory.append(*(entry_of(*each) for each in appended))
    view = [replace(decode(entry), id=None) for entry in (await memory.read()).entries]
    assert len(view) == len(appended) > 0
    assert all(replace(message, id=None) in view for _, message in appended)
