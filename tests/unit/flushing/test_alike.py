"""What one speaker says again and again, with other numbers or none, is told once, with how often it was said."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.memory.flushing.rule_based.cover import Cover, Rules
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.rule_based.units import Unit
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.flushing.summary import earlier_summary
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

_COUNTER = TiktokenCounter()
_FACTS = [
    Message.user("My name is Mara Lind and I prefer mail to the phone.", name="Mara"),
    Message.user("We decided to replace the printer with one from Brother.", name="Mara"),
]


def _ticket(number: int) -> Message:
    return Message.user(
        f"Ticket T-{number}: customer Mara reports that the printer on floor 3 is offline. Priority high.", name="desk"
    )


def _log(count: int, *, first: int = 1041) -> list[Message]:
    return [_ticket(first + number) for number in range(count)]


async def _summary(*messages: Message, tokens: int, rules: Rules = Rules()) -> str:  # noqa: B008 - it is immutable
    text = await RuleBasedSummarizer(rules).summarize(SummaryRequest(messages, tokens, _COUNTER))
    assert (await _COUNTER.count_text(text)).tokens <= tokens
    return text


def _told(text: str, what: str) -> int:
    """Returns how many such sentences a summary tells of: those that stand for others count for all of these."""
    counts = re.findall(rf"(?:(\d+) like this: )?{what}", text)
    return sum(int(count or 1) for count in counts)


@pytest.mark.parametrize("room", [70, 200, 1_000])
@pytest.mark.parametrize("count", [5, 40, 400])
async def test_a_log_is_told_once_with_its_count_beside_the_facts(count: int, room: int) -> None:
    log = _log(count)
    text = await _summary(*log[: count // 2], *_FACTS, *log[count // 2 :], tokens=room)

    ticket, priority = _ticket(1040 + count).text.split(". ")
    assert text.splitlines() == [
        "Mara: My name is Mara Lind and I prefer mail to the phone.",
        "Mara: We decided to replace the printer with one from Brother.",
        f"desk: {count} like this: {ticket}. {count} like this: {priority}",
    ]


async def test_without_the_rule_a_log_fills_the_summary_with_its_numbers() -> None:
    text = await _summary(*_log(40), *_FACTS, tokens=200, rules=Rules(alike=False))

    assert text.count("the printer on floor 3 is offline") > 3


def test_what_is_said_again_and_again_is_taken_before_what_is_said_once() -> None:
    said = ["my old cat was so ill now", *["the door is out of paint"] * 5]
    units = [Unit(position, "desk", text, earlier=False, line=position) for position, text in enumerate(said)]

    assert [unit.text for unit in Cover(units).next()] == ["the door is out of paint"]
    assert [unit.text for unit in Cover(units, Rules(often=1.0)).next()] == ["my old cat was so ill now"]


async def test_the_same_word_for_word_is_told_once() -> None:
    hello = "Thank you for calling Lumen Lights, we are here from 8 to 18."
    said = [Message.assistant(f"{hello} {answer}") for answer in ("One.", "Two!", "Three?", "Four.", "Five.", "Six.")]

    text = await _summary(*said, tokens=200)

    assert f"6 like this: {hello}" in text
    assert text.count("Lumen") == 1


@pytest.mark.parametrize(("room", "told"), [(20, "30 like this: House 2 has 49.5"), (16, "House 2 has 49.5")])
async def test_the_last_reading_stands_for_all(room: int, told: str) -> None:
    readings = [Message.user(f"House 2 has {20 + number}.5 degrees.", name="sensor") for number in range(30)]

    assert await _summary(*readings, tokens=room) == f"sensor: {told} degrees."


async def test_each_speaker_has_a_count_of_its_own() -> None:
    said = [
        Message.user(f"Round {number}: I rolled {number % 6 + 1}.", name=("Ana", "Bo")[number % 2])
        for number in range(20)
    ]

    text = await _summary(*said, tokens=40)

    assert "Ana: 10 like this: Round 18" in text
    assert "Bo: 10 like this: Round 19" in text


async def test_four_answers_to_different_questions_are_four_facts() -> None:
    asked = ("How many chairs?", "How many tables?", "How many lamps?", "How many beds?")
    talk = [Message.user(f"We need {number}.", name="Ana") for number in (17, 23, 35, 41)]
    messages = [one for pair in zip(map(Message.assistant, asked), talk, strict=True) for one in pair]

    texts = [await _summary(*messages, tokens=room) for room in range(12, 60, 4)]

    assert [text for text in texts if "like this" in text] == []


async def test_a_list_in_one_message_is_no_repetition() -> None:
    prices = " ".join(f"Room {number} costs {number * 17} euros." for number in range(1, 8))

    texts = [await _summary(Message.user(prices), tokens=room) for room in range(12, 100, 4)]

    assert [text for text in texts if "like this" in text] == []
    assert texts[-1] == f"user: {prices}"


async def test_an_identifier_that_something_else_refers_to_keeps_its_weight() -> None:
    orders = [Message.user(f"Order HX-{5500 + number} goes out today.", name="store") for number in range(20)]
    talk = [Message.user(text, name="desk") for text in ("nobody waits for green tea", "somebody waits for HX-5507")]

    text = await _summary(*orders, *talk, tokens=29)

    assert text == "store: 20 like this: Order HX-5519 goes out today.\ndesk: somebody waits for HX-5507"


async def test_room_that_is_left_goes_to_those_with_other_numbers() -> None:
    rooms = [Message.user(f"Room {number} has {number * 37} boxes.", name="Ana") for number in range(10, 90)]

    text = await _summary(*rooms, tokens=200)

    assert text.count("boxes") > 10
    assert _told(text, "Room") == 80


@settings(max_examples=60)
@given(st.integers(min_value=5, max_value=60), st.integers(min_value=20, max_value=300))
async def test_whatever_the_room_counts_add_up(count: int, room: int) -> None:
    said = [Message.user(f"Van {number} costs {number * 41} euros.", name="Ana") for number in range(count)]

    text = await _summary(*said, tokens=room)

    assert _told(text, "Van") == count
    assert f"Van {count - 1} costs" in text


@pytest.mark.parametrize("room", [60, 120, 400])
async def test_counts_add_up_over_flushes(room: int) -> None:
    text = await _summary(*_FACTS, *_log(20), tokens=room)
    for flush in range(1, 12):
        text = await _summary(earlier_summary(text, 22), *_log(20, first=1041 + 20 * flush), tokens=room)

    assert _told(text, "Ticket") == 240
    assert "T-1280" in text
    assert "My name is Mara Lind" in text


async def test_one_more_is_counted_with_those_of_an_earlier_summary() -> None:
    earlier = earlier_summary(await _summary(*_log(20), tokens=60), 20)

    text = await _summary(earlier, *_log(1, first=2000), tokens=60)

    assert text.startswith("desk: 21 like this: Ticket T-2000: ")


@pytest.mark.parametrize(
    ("earlier", "told"),
    [
        ("desk: 20 like this: Ticket T-1060: the printer is offline.", "25"),
        ("desk: at least 20 like this: Ticket T-1060: the printer is offline.", "at least 25"),
        ("desk: Ticket T-1060: the printer is offline.", "at least 6"),
        ("Mara: I live in Ghent.", "at least 5"),
    ],
)
async def test_a_count_says_at_least_once_an_earlier_one_may_have_been_left_out(earlier: str, told: str) -> None:
    said = [Message.user(f"Ticket T-{2000 + number}: the printer is offline.", name="desk") for number in range(5)]

    text = await _summary(earlier_summary(earlier, 20), *said, tokens=35)

    assert f"desk: {told} like this: Ticket T-2004: the printer is offline." in text


async def test_what_one_of_two_earlier_summaries_did_not_count_may_have_been_said_more_often() -> None:
    earlier = ["desk: 20 like this: Ticket T-1060: the printer is offline.", "Mara: I live in Ghent."]

    text = await _summary(*(earlier_summary(one, 20) for one in earlier), Message.user("Thanks!"), tokens=60)

    assert text.startswith("desk: at least 20 like this: ")


async def test_what_is_told_of_a_log_is_never_more_than_was_said_and_exact_only_if_it_is_all() -> None:
    text, told, said = "", [], 0
    for flush in range(8):
        log = _log(20, first=1041 + 20 * flush) if flush % 3 else _FACTS
        said += len(log) if flush % 3 else 0
        earlier = [earlier_summary(text, said)] if text else []
        text = await _summary(*earlier, *log, tokens=(70, 25)[flush % 2])
        told += [(least, int(count), said) for least, count in re.findall(r"(at least )?(\d+) like this: Ticket", text)]

    assert [one for one in told if one[1] > one[2] or (not one[0] and one[1] < one[2])] == []
    assert any(count < total for _, count, total in told)


async def test_a_count_without_a_speaker_stays_one() -> None:
    earlier = earlier_summary("12 like this: The keys come on 14 June.\nMarta: I live in Ghent.", 13)

    assert await _summary(earlier, Message.user("Thanks!"), tokens=60) == (
        "12 like this: The keys come on 14 June.\nMarta: I live in Ghent.\nuser: Thanks!"
    )


async def test_what_was_said_many_times_does_not_stand_without_its_correction() -> None:
    said = [Message.user("The party has 5 people.", name="Ana") for _ in range(6)]
    messages = [*said, Message.assistant("Is that all?"), Message.user("Sorry, the party has 7 people.", name="Ana")]

    texts = [await _summary(*messages, tokens=room) for room in range(14, 80, 3)]

    assert [text for text in texts if "5 people" in text and "7 people" not in text] == []
    assert any("7 people" in text for text in texts)
