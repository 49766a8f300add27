"""`oversize: truncate`: what is larger than its room is cut between characters, marked, and stored once."""

from __future__ import annotations

import asyncio
import json

import pytest
import regex

from durable_memory import Message
from durable_memory.memory.errors import MemoryOperationConflict, MemoryOversize
from durable_memory.memory.memory import Memory
from durable_memory.memory.operations.oversize import MARK
from durable_memory.memory.tokens.counters import make_counter
from durable_memory.memory.tokens.counting import DEFAULT_COUNTING
from durable_memory.memory.types import MessageInput
from tests.integration.tokens.conftest import Connect

DECLARED = """
resource: memory
id: cuts
max_tokens: 300
oversize: truncate
persistence: PERSISTENCE
flushing: {type: drop}
---
resource: memory
id: refuses
max_tokens: 300
persistence: PERSISTENCE
flushing: {type: drop}
---
resource: memory
id: estimated
max_tokens: 300
oversize: truncate
token_provider: {provider: anthropic, model: claude-opus-4-7}
persistence: PERSISTENCE
flushing: {type: drop}
---
resource: memory
id: divided
max_tokens: 1000
oversize: truncate
token_allocation: {short_term: 0.8, long_term: 0, system: 0.1, user_defined: {notes: 0.1}}
persistence: PERSISTENCE
flushing: {type: drop}
"""
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
CALL = {"id": "c1", "type": "function", "function": {"name": "search", "arguments": '{"q": "trains to Ghent"}'}}
TEXTS = {
    "prose": "The parcel left the depot for Ghent, and nobody knows why it came back. " * 100,
    "one-word": "a" * 5_000,
    "families": FAMILY * 400,
    "flags": "🇩🇪🇧🇪" * 300,
    "marks": "e\u0301\u0323" * 600,
    "japanese": "四つの座席が予約されています。" * 100,
    "lines": "\r\n".join(f"{number};{number * 37}" for number in range(600)),
}


@pytest.fixture
async def memory(connect: Connect) -> Memory:
    return (await connect(DECLARED)).memory("cuts", "key")


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("resource", ["cuts", "estimated"])
async def test_a_text_is_cut_between_characters_to_nearly_its_room(connect: Connect, resource: str, name: str) -> None:
    memory = (await connect(DECLARED)).memory(resource, "key")
    text = TEXTS[name]
    appended = await memory.append(text)
    [message] = (await memory.read()).messages
    kept = message.text.removesuffix(MARK)
    assert message.text == kept + MARK
    assert text.startswith(kept)
    # Each character of what is kept is one of the text, at its place.
    whole = regex.findall(r"\X", text)
    assert regex.findall(r"\X", kept) == whole[: len(regex.findall(r"\X", kept))]
    assert 270 <= appended.tokens == (message.tokens or 0) <= 300
    assert (message.truncated_from or 0) > 300


async def test_the_mark_is_seen_by_whoever_reads(memory: Memory) -> None:
    await memory.append([{"role": "user", "content": TEXTS["prose"], "metadata": {"page": 3}, "name": "ann"}])
    view = await memory.read()
    [message] = view.messages
    counted = (await make_counter(DEFAULT_COUNTING).count([Message.user(TEXTS["prose"], name="ann")]))[0].tokens
    assert message.to_dict()["truncated_from"] == message.truncated_from == counted
    assert (message.metadata, message.name) == ({"page": 3}, "ann")
    assert str(view.to_openai()[0]["content"]).endswith(MARK)
    assert sum((await memory.stats()).tokens.values()) == view.tokens == message.tokens


async def test_what_fits_is_left_alone(memory: Memory) -> None:
    await memory.append(["short", "also short"])
    assert [(message.content, message.truncated_from) for message in (await memory.read()).messages] == [
        ("short", None),
        ("also short", None),
    ]


async def test_every_message_of_a_batch_is_cut_by_itself(memory: Memory) -> None:
    appended = await memory.append([TEXTS["prose"], "short", TEXTS["japanese"]])
    assert (len(appended.ids), appended.evicted) == (3, 2)
    [last] = (await memory.read()).messages
    assert last.text.startswith("四つの")


async def test_a_result_is_cut_to_what_its_group_leaves(memory: Memory) -> None:
    await memory.append({"role": "assistant", "content": None, "tool_calls": [CALL, {**CALL, "id": "c2"}]})
    await memory.append({"role": "tool", "tool_call_id": "c2", "content": "a first result of some words " * 20})
    await memory.append({"role": "tool", "tool_call_id": "c1", "content": TEXTS["prose"]})
    view = await memory.read()
    call, first, result = view.messages
    assert call.tool_calls[0].arguments == CALL["function"]["arguments"]  # type: ignore[index] # a dict of dicts
    assert (first.truncated_from, first.text.endswith(MARK)) == (None, False)
    assert result.text.startswith("The parcel left the depot")
    assert result.text.endswith(MARK)
    assert 285 <= view.tokens <= 300


@pytest.mark.parametrize(
    ("fields", "share"),
    [({"role": "user"}, 800), ({"role": "user", "section": "notes"}, 100), ({"role": "system"}, 100)],
)
async def test_a_message_is_cut_to_the_share_of_its_section(
    connect: Connect, fields: dict[str, str], share: int
) -> None:
    memory = (await connect(DECLARED)).memory("divided", "key")
    appended = await memory.append([{**fields, "content": TEXTS["prose"]}])
    [message] = (await memory.read()).messages
    assert message.text.endswith(MARK)
    assert 0.9 * share <= appended.tokens <= share


@pytest.mark.parametrize("at_once", [True, False], ids=["in-one-append", "one-by-one"])
async def test_results_of_parallel_calls_share_what_their_group_leaves(memory: Memory, *, at_once: bool) -> None:
    ids = ["c1", "c2", "c3"]
    calls = {"role": "assistant", "content": None, "tool_calls": [{**CALL, "id": call_id} for call_id in ids]}
    turn: list[MessageInput] = [
        calls,
        *({"role": "tool", "tool_call_id": call_id, "content": TEXTS["prose"]} for call_id in ids),
    ]
    for messages in [turn] if at_once else [[message] for message in turn]:
        await memory.append(messages)
    view = await memory.read()
    assert [message.tool_call_id for message in view.messages] == [None, *ids]
    assert all(message.text.endswith(MARK) and len(message.text) > 200 for message in view.messages[1:])
    assert 270 <= view.tokens <= 300


async def test_tool_calls_are_never_cut(memory: Memory) -> None:
    long = {**CALL, "function": {"name": "search", "arguments": json.dumps({"q": TEXTS["prose"]})}}
    with pytest.raises(MemoryOversize, match="shorten it"):
        await memory.append({"role": "assistant", "content": TEXTS["prose"], "tool_calls": [long]})
    with pytest.raises(MemoryOversize, match="shorten it"):
        await memory.append({"role": "assistant", "content": None, "tool_calls": [long]})


async def test_a_text_beside_tool_calls_leaves_room_for_their_results(memory: Memory) -> None:
    await memory.append({"role": "assistant", "content": TEXTS["prose"], "tool_calls": [CALL]})
    await memory.append({"role": "tool", "tool_call_id": "c1", "content": TEXTS["japanese"]})
    call, result = (await memory.read()).messages
    assert call.text.endswith(MARK)
    assert result.text.endswith(MARK)
    assert call.tokens is not None
    assert 120 <= call.tokens <= 150


async def test_parts_are_cut_from_the_last_and_media_stays(memory: Memory) -> None:
    picture = {"type": "input_json", "data": [1, 2, 3]}
    parts = [{"type": "text", "text": "First."}, picture, {"type": "text", "text": TEXTS["prose"]}]
    await memory.append({"role": "user", "content": [*parts, {"type": "text", "text": "Last."}]})
    [message] = (await memory.read()).messages
    assert isinstance(message.content, tuple)
    first, second, third = message.content
    assert (first, second) == (parts[0], picture)
    assert str(third["text"]).endswith(MARK)


async def test_a_retry_is_applied_once_and_knows_what_was_sent(memory: Memory) -> None:
    first = await memory.append(TEXTS["prose"], operation_id="one")
    again = await memory.append(TEXTS["prose"], operation_id="one")
    assert (again.ids, again.already_applied) == (first.ids, True)
    assert len((await memory.read()).messages) == 1
    cut = (await memory.read()).messages[0].text
    with pytest.raises(MemoryOperationConflict):
        await memory.append(cut, operation_id="one")


async def test_attempts_at_once_are_applied_once(memory: Memory) -> None:
    results = await asyncio.gather(*(memory.append(TEXTS["prose"], operation_id="one") for _ in range(8)))
    assert len({result.ids for result in results}) == 1
    assert [result.already_applied for result in results].count(False) == 1
    assert (await memory.stats()).messages["short_term"] == 1


async def test_a_recorded_turn_and_a_write_hold_the_cut_text(memory: Memory) -> None:
    turn = await memory.record_turn(["What is it?", TEXTS["prose"]], operation_id="turn")
    assert turn.messages[1].text.endswith(MARK)
    again = await memory.record_turn(["What is it?", "other words"], operation_id="turn")
    assert [message.text for message in again.messages] == [turn.messages[1].text]
    await memory.write([TEXTS["japanese"]])
    [message] = (await memory.read()).messages
    assert message.text.endswith(MARK)
    assert message.truncated_from


async def test_a_caller_cannot_claim_that_a_message_was_cut(memory: Memory) -> None:
    await memory.append([{"role": "user", "content": "short", "truncated_from": 5_000}])
    assert (await memory.read()).messages[0].truncated_from is None


async def test_without_truncation_it_is_refused_and_nothing_changes(connect: Connect) -> None:
    memory = (await connect(DECLARED)).memory("refuses", "key")
    await memory.append("kept")
    with pytest.raises(MemoryOversize, match="may fill at most 300; shorten it"):
        await memory.append(TEXTS["prose"])
    assert [message.text for message in (await memory.read()).messages] == ["kept"]
