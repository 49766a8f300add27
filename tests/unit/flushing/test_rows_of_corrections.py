"""However many short corrections follow each other, a summary costs linear work, holds up nobody and fills its room."""

import asyncio
import time
from collections.abc import Callable

import pytest

from durable_memory.memory.flushing.rule_based.cover import Cover
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.rule_based.units import units_of
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

_COUNTER = TiktokenCounter()

_FACTS = [
    "My name is Petra Novak and I live in Ostrava.",
    "The invoice INV-88213 is due on 14 March.",
    "Our dog Bruno needs insulin twice a day.",
    "The flight leaves from gate B22.",
    "I am allergic to penicillin.",
]


def _one_message(count: int) -> list[Message]:
    return [Message.user(" ".join(f"No, {number}." for number in range(count)))]


def _many_messages(count: int) -> list[Message]:
    return [Message.user(f"No, {number}.") for number in range(count)]


def _one_value_again_and_again(count: int) -> list[Message]:
    asked = Message.assistant("Is that all that you know?")
    return [one for number in range(count // 2) for one in (Message.user(f"The party has {number} people."), asked)]


def _one_that_never_fits(count: int) -> list[Message]:
    long = "We would like to have 5 chairs, " + "and some of them rather soft " * 8
    return [Message.user(long), *_many_messages(count)]


def _identifiers_in_one_turn(count: int) -> list[Message]:
    return [Message.user("What is its number?"), Message.assistant(" ".join(f"Not WM-{n}." for n in range(count)))]


async def _summary(messages: list[Message], tokens: int) -> str:
    return await RuleBasedSummarizer().summarize(SummaryRequest(tuple(messages), tokens, _COUNTER))


async def _work(messages: list[Message]) -> float:
    """Returns the least processor time of some summaries, in seconds, of all threads."""
    spent = []
    for _ in range(3):
        before = time.process_time()
        await _summary(messages, 60)
        spent.append(time.process_time() - before)
    return min(spent)


@pytest.mark.parametrize(
    "talk",
    [_one_message, _many_messages, _one_value_again_and_again, _one_that_never_fits, _identifiers_in_one_turn],
)
async def test_four_times_as_many_corrections_cost_about_four_times_the_work(
    talk: Callable[[int], list[Message]],
) -> None:
    await _COUNTER.load()

    ratio = await _work(talk(4_000)) / await _work(talk(1_000))

    assert ratio < 9  # 16 if it were quadratic


async def test_the_event_loop_goes_on_while_corrections_are_compared() -> None:
    await _COUNTER.load()
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    heart = asyncio.create_task(beat())
    await _summary(_one_message(6_000), 600)
    heart.cancel()

    assert beats > 20  # of some hundreds; one or two where the loop itself compares


def test_no_unit_brings_more_than_a_few_others_along() -> None:
    cover = Cover(units_of(_one_message(400)))

    sizes = []
    while units := cover.next():
        sizes.append(len(units))

    assert max(sizes) <= 4


async def test_what_else_was_said_is_kept_beside_a_long_row_of_corrections() -> None:
    messages = [Message.user(fact, name="Petra") for fact in _FACTS]
    for number in range(160):
        messages += [
            Message.assistant("Is it higher?", agent="game"),
            Message.user(f"No, {number * 37 % 1_000}.", name="Petra"),
        ]

    text = await _summary(messages, 200)

    assert [fact for fact in _FACTS if fact not in text] == []


@pytest.mark.parametrize("room", [60, 300, 600])
async def test_a_row_of_corrections_fills_the_room(room: int) -> None:
    text = await _summary([Message.user(_FACTS[1]), *_one_message(700)], room)

    assert _FACTS[1] in text
    assert (await _COUNTER.count_text(text)).tokens >= 0.9 * room


async def test_what_never_fits_keeps_nothing_else_out() -> None:
    messages = [*_one_that_never_fits(60), *(Message.assistant(fact) for fact in _FACTS)]

    text = await _summary(messages, 55)

    assert sum(fact in text for fact in _FACTS) >= 3


@pytest.mark.parametrize("corrections", [2, 3, 6, 12, 40])
async def test_the_last_of_many_short_corrections_stands_with_what_it_corrects(corrections: int) -> None:
    older, last = "Our party has 5 people so far.", f"No, {corrections + 10}."
    row = [f"No, {number + 11}." for number in range(corrections)]
    messages = [Message.user("What a lovely garden."), Message.user(older), *map(Message.user, row)]

    summaries = [await _summary(messages, room) for room in range(14, 90, 4)]

    assert [text for text in summaries if older in text and last not in text] == []
    assert [text for text in summaries if any(one in text for one in row) and older not in text] == []
    assert any(older in text for text in summaries)
