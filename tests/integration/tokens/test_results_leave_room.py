"""`oversize: truncate`: whatever the results of parallel calls are, and however they come, each finds room."""

from __future__ import annotations

import itertools
from typing import Any, Final

import pytest

from durable_memory import Message
from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.memory import Memory
from durable_memory.memory.operations.oversize import MARK
from durable_memory.memory.tokens.counters import make_counter
from durable_memory.memory.tokens.counting import DEFAULT_COUNTING
from durable_memory.memory.types import MessageInput
from tests.integration.tokens.conftest import Connect

DECLARED: Final = """
resource: memory
id: common
max_tokens: 400
oversize: truncate
persistence: PERSISTENCE
flushing: {type: drop}
---
resource: memory
id: divided
max_tokens: 800
oversize: truncate
token_allocation: {short_term: 0.5, long_term: 0.3, system: 0.1, user_defined: {notes: 0.1}}
persistence: PERSISTENCE
---
resource: memory
id: refuses
max_tokens: 400
persistence: PERSISTENCE
flushing: {type: drop}
"""
ROOM: Final = 400
IDS: Final = [f"call_{letter}Xq7nTz0aWb3LkPd9Rv2Ym5" for letter in "ABCDEF"]
SHORT: Final = "it is done"
LONG: Final = "the parcel left the depot for Ghent " * 100


def calls(count: int, text: str | None = None, **fields: Any) -> Message:
    made = [
        {"id": call_id, "type": "function", "function": {"name": "f", "arguments": "{}"}} for call_id in IDS[:count]
    ]
    return Message.from_dict({"role": "assistant", "content": text, "tool_calls": made, **fields})


def answer(number: int, text: str) -> Message:
    return Message.from_dict({"role": "tool", "content": text, "tool_call_id": IDS[number]})


async def size(*messages: Message) -> int:
    return sum(count.tokens for count in await make_counter(DEFAULT_COUNTING).count(messages))


async def filling(number: int, tokens: int) -> Message:
    """A result of exactly so many tokens."""
    return answer(number, " word" * (tokens - await size(answer(number, " word")) + 1))


async def complete(memory: Memory) -> list[Message]:
    """Returns the results in the view, which shows them only if none of them is missing."""
    view = await memory.read()
    found = [message for message in view.messages if message.role == "tool"]
    assert all(message.text.endswith(MARK) for message in found if message.truncated_from)
    return found


@pytest.mark.parametrize("resource", ["common", "divided"])
@pytest.mark.parametrize("pinned", [{}, {"pinned": True}], ids=["free", "pinned"])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 6])
async def test_results_of_any_sizes_in_any_order_are_all_stored(
    connect: Connect, resource: str, pinned: dict[str, Any], count: int
) -> None:
    client = await connect(DECLARED)
    beside = Message.user("kept " * 40)
    left = ROOM - await size(calls(count)) - (await size(beside) if pinned else 0)
    # As large as all that is left, nearly so, far larger, or small: at each place, one after the other or at once.
    large = [await filling(0, left - less) for less in (0, 1, 7, 8, 30, 63)]
    texts = [[message.text] + [SHORT] * (count - 1) for message in large]
    texts += [[LONG] * count, [LONG, *[SHORT] * (count - 1)], [large[3].text, *[LONG] * (count - 1)]]
    for number, (sizes, turned) in enumerate(itertools.product(texts, range(count))):
        memory = client.memory(resource, f"key-{number}")
        if pinned:
            await memory.append(Message.from_dict({**beside.to_dict(), "pinned": True}))
        results = [answer(one, sizes[one - turned]) for one in range(count)]
        cut_at = (1, count // 2, count)[number % 3]
        await memory.append(calls(count, **pinned))
        for first in range(0, count, cut_at):
            await memory.append(results[first : first + cut_at])
        found = await complete(memory)
        assert [message.tool_call_id for message in found] == IDS[:count]
        assert all(
            message.text == SHORT for message in found if results[IDS.index(message.tool_call_id or "")].text == SHORT
        )
        assert sum((await memory.stats()).tokens.values()) <= ROOM


@pytest.mark.parametrize("resource", ["common", "divided"])
async def test_a_turn_that_fits_is_stored_as_it_is(connect: Connect, resource: str) -> None:
    memory = (await connect(DECLARED)).memory(resource, "key")
    others = [answer(1, SHORT), answer(2, SHORT)]
    text = "I shall look that up. " * 4
    left = ROOM - await size(calls(3, text), *others)
    turn: list[MessageInput] = [calls(3, text), await filling(0, left), *others]
    await memory.append(turn)
    view = await memory.read()
    assert (view.tokens, [message.truncated_from for message in view.messages]) == (ROOM, [None] * 4)


async def test_only_what_is_large_is_cut_for_a_turn_at_once(connect: Connect) -> None:
    memory = (await connect(DECLARED)).memory("common", "key")
    await memory.append([calls(3), answer(0, LONG), answer(1, SHORT), answer(2, SHORT)])
    found = await complete(memory)
    assert [message.truncated_from is not None for message in found] == [True, False, False]
    assert (await memory.read()).tokens >= 0.95 * ROOM


@pytest.mark.parametrize("at_once", [False, True], ids=["one-by-one", "at-once"])
async def test_long_results_have_even_parts(connect: Connect, *, at_once: bool) -> None:
    memory = (await connect(DECLARED)).memory("common", "key")
    await memory.append(calls(4))
    results: list[MessageInput] = [answer(number, LONG) for number in range(4)]
    for sent in [results] if at_once else [[one] for one in results]:
        await memory.append(sent)
    sizes = [message.tokens or 0 for message in await complete(memory)]
    assert max(sizes) - min(sizes) < 10
    assert (await memory.read()).tokens >= 0.95 * ROOM


async def test_a_result_that_leaves_the_others_enough_is_kept_whole(connect: Connect) -> None:
    memory = (await connect(DECLARED)).memory("common", "key")
    await memory.append(calls(2))
    left = ROOM - await size(calls(2))
    await memory.append(await filling(0, left - 64))
    await memory.append(answer(1, LONG))
    first, second = await complete(memory)
    assert (first.truncated_from, first.tokens) == (None, left - 64)
    assert second.text.endswith(MARK)
    assert second.tokens is not None
    assert 55 <= second.tokens <= 64


@pytest.mark.parametrize("count", [1, 2, 6])
async def test_text_beside_calls_leaves_their_results_room(connect: Connect, count: int) -> None:
    memory = (await connect(DECLARED)).memory("common", "key")
    text = "word " * (ROOM - await size(calls(count)) - 8)
    await memory.append(calls(count, text))
    for number in range(count):
        await memory.append(answer(number, LONG))
    call, *results = (await memory.read()).messages
    assert call.text.endswith(MARK)
    assert [message.tool_call_id for message in results] == IDS[:count]


async def test_calls_that_leave_little_are_stored_and_short_results_with_them(connect: Connect) -> None:
    memory = (await connect(DECLARED)).memory("common", "key")
    long = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '"' + "word " * 370 + '"'}}
    await memory.append({"role": "assistant", "content": None, "tool_calls": [long]})
    await memory.append({"role": "tool", "content": "done", "tool_call_id": "c1"})
    assert [message.text for message in (await memory.read()).messages] == ["", "done"]


@pytest.mark.parametrize("text", [[], [{"type": "text", "text": "Found:"}]], ids=["none", "little"])
async def test_a_result_without_text_to_cut_takes_what_others_keep_if_it_fits(
    connect: Connect, text: list[dict[str, str]]
) -> None:
    memory = (await connect(DECLARED)).memory("common", "key")
    parts = [*text, {"type": "input_json", "data": "word " * 265}]
    await memory.append(calls(2))
    await memory.append({"role": "tool", "content": parts, "tool_call_id": IDS[0]})
    await memory.append(answer(1, SHORT))
    first, second = await complete(memory)
    assert (first.content, second.text) == (tuple(parts), SHORT)
    assert (await memory.read()).tokens >= ROOM - 30


async def test_text_is_cut_beside_a_result_that_cannot_be_cut(connect: Connect) -> None:
    memory = (await connect(DECLARED)).memory("common", "key")
    data = {"type": "input_json", "data": "word " * 200}
    fits_alone = await filling(0, ROOM - await size(calls(2)) - 20)
    await memory.append(calls(2))
    await memory.append([fits_alone, {"role": "tool", "content": [data], "tool_call_id": IDS[1]}])
    first, second = await complete(memory)
    assert first.text.endswith(MARK)
    assert second.content == (data,)


async def test_where_nothing_is_cut_a_result_may_take_all(connect: Connect) -> None:
    memory = (await connect(DECLARED)).memory("refuses", "key")
    await memory.append(calls(2))
    await memory.append(await filling(0, ROOM - await size(calls(2))))
    with pytest.raises(MemoryOversize, match="may fill at most 400; send a shorter result"):
        await memory.append(answer(1, SHORT))
