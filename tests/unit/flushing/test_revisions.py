"""Of two sentences that say different things of one matter, a summary never keeps the older one without the newer."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.memory.flushing.rule_based.cover import Rules
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.flushing.summary import earlier_summary
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

_COUNTER = TiktokenCounter()
_NEW = RuleBasedSummarizer()
_WITHOUT_THE_RULE = RuleBasedSummarizer(Rules(revisions=False))

_TALK = [
    Message.user(text, name=name)
    for name, text in (
        ("desk", "How lovely to hear your voice, the weather has been dreadful."),
        ("Ana", "Indeed, my garden looks like a pond and the ducks have noticed."),
        ("desk", "Ducks are good company, they complain less than most people."),
        ("Ana", "Ours complain all night, though in a friendly tone."),
        ("desk", "Let me write everything down while we talk."),
    )
]


def _around(older: Message, newer: Message) -> list[Message]:
    return [_TALK[0], older, *_TALK, newer, _TALK[2]]


async def _summaries(messages: list[Message], summarizer: RuleBasedSummarizer = _NEW) -> list[str]:
    """Returns the summary in each room from a few words to all of it."""
    whole = await _COUNTER.count(messages)
    rooms = range(12, sum(count.tokens for count in whole), 9)
    return [await summarizer.summarize(SummaryRequest(tuple(messages), room, _COUNTER)) for room in rooms]


_REVISED = [
    ("Our party has 5 people so far.", "Our party has 7 people in the end."),
    ("Please deliver the sofa on Tuesday.", "Please deliver the sofa on Friday."),
    ("The invoice goes to Marguerite.", "The invoice goes to Theodora."),
    ("Dinner is booked for 19:30 at the pier.", "Dinner is booked for 20:15 at the pier."),
    ("Please ring the bell at the gate.", "Do not ring the bell at the gate."),
    ("We take the ferry across the bay.", "We take the train instead."),
    ("Let us say that he comes on Tuesday.", "No, make that Thursday."),
    ("The printer from Osaka arrives on Thursday.", "Not on Thursday, the printer from Osaka arrives on Friday."),
    ("Der Wagen kommt am Mittwoch um neun.", "Der Wagen kommt am Samstag um neun, nicht am Mittwoch."),
    ("The hall has 80 seats for us.", "The hall has not 80 seats but 64 seats for us."),
    ("Order HX-5510 needs 36 boxes by Monday.", "Order HX-5510 needs 52 boxes by Friday."),
    ("Die Abholung ist am Dienstag um neun.", "Die Abholung ist am Freitag um neun."),
    ("El precio del viaje es 240 euros.", "El precio del viaje es 310 euros."),
    ("会議は3月14日に始まります。", "会議は3月21日に始まります。"),
]


@pytest.mark.parametrize(("older", "newer"), _REVISED)
async def test_what_was_corrected_stands_in_no_summary_without_what_holds_now(older: str, newer: str) -> None:
    messages = _around(Message.user(older, name="Ana"), Message.user(newer, name="Ana"))

    summaries = await _summaries(messages)

    assert [text for text in summaries if older in text and newer not in text] == []
    assert all(text.index(older) < text.index(newer) for text in summaries if older in text)
    assert any(newer in text for text in summaries)


@pytest.mark.parametrize(("older", "newer"), _REVISED)
async def test_a_new_message_corrects_what_a_summary_of_an_earlier_flush_says(older: str, newer: str) -> None:
    said = "\n".join(f"{message.name}: {message.text}" for message in (_TALK[0], _TALK[1]))
    earlier = earlier_summary(f"{said}\nAna: {older}\n{_TALK[2].name}: {_TALK[2].text}", 9)

    summaries = await _summaries([earlier, *_TALK[3:], Message.user(newer, name="Ana"), _TALK[0]])

    assert [text for text in summaries if older in text and newer not in text] == []
    assert any(newer in text for text in summaries)


async def test_a_correction_is_found_behind_much_talk_of_the_same_thing() -> None:
    older, newer = "The printer costs 310 euros.", "The printer costs 285 euros."
    talk = "What the printer costs in euros is {}, says my brother.".format
    between = [
        Message.user(talk(what), name="desk") for what in ["fine", "odd", "high", "low", "fair", "steep", "daft"] * 2
    ]
    messages = [_TALK[0], Message.user(older, name="Ana"), *between, *_TALK * 40, Message.user(newer, name="Ana")]

    summaries = [await _NEW.summarize(SummaryRequest(tuple(messages), room, _COUNTER)) for room in range(12, 300, 9)]

    assert [text for text in summaries if older in text and newer not in text] == []
    assert any(newer in text for text in summaries)


async def test_somebody_else_may_correct_too() -> None:
    older, newer = "The sofa weighs 52 kilos.", "The sofa weighs 47 kilos, I looked it up."

    summaries = await _summaries(_around(Message.user(older, name="Ana"), Message.user(newer, name="desk")))

    assert [text for text in summaries if older in text and newer not in text] == []


async def test_of_several_corrections_the_last_one_holds() -> None:
    said = [Message.user(f"Our arrival is on {day} May.", name="Ana") for day in (12, 15, 19)]
    messages = [_TALK[0], said[0], *_TALK[1:3], said[1], *_TALK[3:], said[2], _TALK[2]]

    summaries = await _summaries(messages)

    assert [text for text in summaries if ("12 May" in text or "15 May" in text) and "19 May" not in text] == []


async def test_who_goes_back_to_what_was_said_first_is_heard() -> None:
    said = [Message.user(f"Our arrival is on {day} May.", name="Ana") for day in (12, 15, 12)]
    messages = [_TALK[0], said[0], *_TALK[1:3], said[1], *_TALK[3:], said[2], _TALK[2]]

    summaries = await _summaries(messages)

    assert all(text.rindex("12 May") > text.rindex("15 May") for text in summaries if "15 May" in text)


_ALIKE = [
    ("Order HX-5510 goes out with 36 boxes.", "Order HX-5527 goes out with 52 boxes."),
    ("And then Pieternel arrives on Monday.", "And then Hamid arrives on Wednesday."),
    ("The washer is covered until 2027.", "The dryer is covered until 2028."),
    ("A room to the garden costs 97 euros.", "A room to the street costs 48 euros."),
    ("The landline is 0551 33820 before noon.", "The mobile is 0171 664902 for the afternoon."),
]


@pytest.mark.parametrize(("one", "other"), _ALIKE)
@pytest.mark.parametrize("apart", [False, True])
async def test_two_things_that_only_sound_alike_do_not_replace_each_other(one: str, other: str, *, apart: bool) -> None:
    first, second = Message.user(one, name="Ana"), Message.user(other, name="Ana")
    messages = [_TALK[0], first, *(_TALK if apart else []), second, *_TALK[2:]]

    assert await _summaries(messages) == await _summaries(messages, _WITHOUT_THE_RULE)


async def test_results_of_tools_do_not_replace_each_other() -> None:
    rows = [Message.tool(f"parcel weight: {number * 37} kilos in the store", f"c{number}") for number in range(6)]
    messages = [_TALK[0], *rows[:3], *_TALK, *rows[3:]]

    assert await _summaries(messages) == await _summaries(messages, _WITHOUT_THE_RULE)


@settings(max_examples=40)
@given(
    st.lists(st.integers(min_value=10, max_value=99), min_size=2, max_size=4, unique=True),
    st.integers(min_value=10, max_value=120),
)
async def test_whatever_the_room_no_older_number_stands_without_the_last(numbers: list[int], room: int) -> None:
    messages: list[Message] = []
    for number in numbers:
        messages += [*_TALK[:3], Message.user(f"The budget for the garden is {number} euros.", name="Ana"), _TALK[4]]

    text = await _NEW.summarize(SummaryRequest(tuple(messages), room, _COUNTER))

    older = [number for number in numbers[:-1] if f"is {number} euros" in text]
    assert older == [] or f"is {numbers[-1]} euros" in text


async def test_without_the_rule_older_statements_do_stand_alone() -> None:
    alone = 0
    for older, newer in _REVISED:
        messages = _around(Message.user(older, name="Ana"), Message.user(newer, name="Ana"))
        texts = await _summaries(messages, _WITHOUT_THE_RULE)
        alone += any(older in text and newer not in text for text in texts)
    assert alone > len(_REVISED) / 3
