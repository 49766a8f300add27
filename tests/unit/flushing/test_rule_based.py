"""The rule-based summariser keeps what is asked for later, inside its room, the same every time."""

import json
import os
import subprocess
import sys
import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.rule_based.cover import Cover, Rules
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.rule_based.units import Unit, units_of
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.flushing.summary import earlier_summary
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message, ToolCall

_COUNTER = TiktokenCounter()


async def _summary(*messages: Message, tokens: int) -> str:
    text = await RuleBasedSummarizer().summarize(SummaryRequest(messages, tokens, _COUNTER))
    assert (await _COUNTER.count_text(text)).tokens <= tokens
    return text


def _earlier(text: str) -> Message:
    return earlier_summary(text, covers=10)


# Words as rare as those of the facts: rarity alone does not tell them apart.
_SMALL_TALK = [
    Message.user(text, name="Ana")
    for text in (
        "what a lovely morning outside my window",
        "thank you kindly for replying rather quickly",
        "honestly nobody ever listens when somebody complains",
        "perhaps we should simply begin once again",
        "that sounds perfectly reasonable if you ask me",
        "never mind such silly little troubles today",
        "goodness gracious how wonderfully patient everyone seems",
        "let us hope things improve before evening",
    )
]


async def test_a_short_conversation_is_kept_whole_with_its_speakers() -> None:
    assert (
        await _summary(
            Message.user("I cannot log in.", name="Ana"),
            Message.assistant("Which address do you use?", agent="triage"),
            Message.user("ana@example.com"),
            tokens=200,
        )
        == "Ana: I cannot log in.\ntriage: Which address do you use?\nuser: ana@example.com"
    )


async def test_what_an_agent_signed_is_its_own_only_if_it_said_it_as_the_assistant() -> None:
    call = ToolCall("1", "find_seat", '{"row": 12}')
    said = [
        Message.system("The desk opens at 8."),
        Message.user("I am allergic to nuts."),
        Message.user("I want an aisle seat.", name="Ana"),
        Message.assistant(None, tool_calls=[call]),
        Message.tool("Only 12C and 12F are free.", "1"),
        Message.assistant("I booked 12C."),
    ]

    assert await _summary(*(replace(message, agent="desk") for message in said), tokens=200) == (
        "system: The desk opens at 8.\nuser: I am allergic to nuts.\nAna: I want an aisle seat.\n"
        "desk: calls find_seat row: 12\nfind_seat result: Only 12C and 12F are free.\ndesk: I booked 12C."
    )


async def test_each_message_has_a_line_of_its_own() -> None:
    assert await _summary(Message.user("My plan is Pro. It costs 40 euros."), Message.user("Why?"), tokens=50) == (
        "user: My plan is Pro. It costs 40 euros.\nuser: Why?"
    )


async def test_what_did_not_follow_each_other_is_not_joined_and_stays_apart_in_later_summaries() -> None:
    said = "Zoe Lund gets room 41. Well, so be it, whatever anybody says about such things. Ben Okafor pays 730 euros."

    first = await _summary(Message.user(said), tokens=26)
    second = await _summary(_earlier(first), Message.user("Thanks!"), tokens=60)

    assert first == "user: Zoe Lund gets room 41. \u2026Ben Okafor pays 730 euros."
    assert second == f"{first}\nuser: Thanks!"


@pytest.mark.parametrize(
    "fact",
    [
        "The invoice INV-3391 is over 42.50 euros.",
        "It was paid on 2026-03-14 at 10:30.",
        "Please call Dr. Okafor in Lagos about it.",
        "発送日は3月14日です。",
        "Доставка будет в Казань 17 мая.",
    ],
)
async def test_numbers_dates_and_names_are_kept_where_small_talk_is_not(fact: str) -> None:
    summary = await _summary(*_SMALL_TALK[:4], Message.user(f"Well. {fact}", name="Bo"), *_SMALL_TALK[4:], tokens=22)
    assert [line[:4] for line in summary.splitlines() if fact in line] == ["Bo: "]


async def test_calls_and_results_are_told_with_the_name_of_the_tool() -> None:
    summary = await _summary(
        Message.user("Is it paid?"),
        Message.assistant(tool_calls=[ToolCall("c1", "find_invoice", '{"number": "INV-3391", "deep": {"x": [1, 2]}}')]),
        Message.tool(json.dumps({"status": "paid", "amount": 42.5, "card": None}), "c1"),
        tokens=100,
    )
    assert "assistant: calls find_invoice number: INV-3391; deep.x: 1; deep.x: 2" in summary
    assert "find_invoice result: status: paid; amount: 42.5; card: null" in summary


async def test_a_tool_result_of_a_megabyte_leaves_room_for_the_conversation() -> None:
    rows = json.dumps([{"row": i, "value": f"item {i * 7919}"} for i in range(25_000)])
    assert len(rows) > 900_000
    summary = await _summary(
        Message.user("Where does Wim live?"),
        Message.assistant(tool_calls=[ToolCall("c1", "query", "{}")]),
        Message.tool(rows, "c1"),
        Message.assistant("Wim lives in Mechelen, at Sleepstraat 117."),
        tokens=400,
    )
    assert "Sleepstraat 117" in summary


async def test_a_second_summary_neither_loses_nor_multiplies_the_first() -> None:
    first = await _summary(
        Message.user("The keys come on 14 June.", name="Marta"),
        Message.user("The piano weighs 240 kilos.", name="Marta"),
        tokens=60,
    )
    second = await _summary(_earlier(first), Message.user("The van costs 2,150 euros.", name="Pieter"), tokens=60)
    third = await _summary(_earlier(second), _earlier(second), Message.assistant("Noted."), tokens=60)
    for fact in (
        "Marta: The keys come on 14 June.",
        "The piano weighs 240 kilos.",
        "Pieter: The van costs 2,150 euros.",
    ):
        assert second.count(fact) == 1
        assert third.count(fact) == 1
    assert "earlier messages" not in third


async def test_neither_old_nor_new_messages_crowd_the_others_out() -> None:
    old = _earlier("\n".join(f"Marta: Room {i} has {i * 37} boxes." for i in range(200)))
    new = [Message.user(f"Van {i} costs {i * 41} euros.") for i in range(200)]
    summary = await _summary(old, *new, tokens=300)
    assert summary.count("boxes") >= 5
    assert summary.count("Van") >= 5


async def test_summaries_of_summaries_stay_within_their_room() -> None:
    summary = "Marta: I live in Ghent."
    for flush in range(30):
        news = [Message.user(f"On day {flush} order {flush * 1013 + i} arrived.") for i in range(20)]
        summary = await _summary(_earlier(summary), *news, tokens=120)
    assert "On day 29" in summary


_SUMMARISE = """
import asyncio
from durable_memory.memory.flushing.rule_based.cover import Cover, Rules
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message
# Many units of the same gain, made of other words each: sums in another order would differ in the last bit.
shares = dict(zip("abcdefghijklmnop", (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 17, 19, 23, 29)))
messages = tuple(
    Message.user(" ".join(f"{letter}{i // share}" for letter, share in shares.items())) for i in range(300)
)
counter = TiktokenCounter(load_wait_seconds=60)
print(asyncio.run(RuleBasedSummarizer().summarize(SummaryRequest(messages, 900, counter))))
"""


def test_the_same_messages_give_the_same_text_in_every_process() -> None:
    texts = {
        subprocess.run(
            [sys.executable, "-c", _SUMMARISE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        ).stdout
        for seed in ("0", "1", "2")
    }
    assert len(texts) == 1


async def test_a_stored_summary_without_a_first_line_is_read_whole() -> None:
    plain = Message.system("The keys come on 14 June.", section="long_term")
    assert await _summary(plain, Message.user("Thanks!"), tokens=50) == "The keys come on 14 June.\nuser: Thanks!"


async def test_nothing_to_summarise_is_refused() -> None:
    with pytest.raises(MemorySummaryRejected, match="nothing to summarise"):
        await _summary(tokens=100)


@pytest.mark.parametrize(
    "message",
    [
        Message.user("👍"),
        Message.user("?!"),
        Message.user("   "),
        Message.tool("", "c1"),
        Message.user([{"type": "image_url", "image_url": {"url": "data:x"}}]),
        Message.user([{"type": "text", "text": ""}]),
        Message.tool("[" * 100_000, "c1"),
        Message.tool("{}", "c1"),
        Message.assistant(tool_calls=[ToolCall("c1", "", "")]),
        Message.user("x" * 100_000),
        Message.user("漢" * 10_000),
        Message.user("a\u0301\u0302" * 5_000),
    ],
)
async def test_whatever_a_message_holds_it_has_a_summary(message: Message) -> None:
    assert (await _summary(message, tokens=60)).strip()


async def test_a_room_too_small_for_a_sentence_holds_the_start_of_one() -> None:
    message = Message.user("Everything depends on the permit.")
    assert await _summary(message, tokens=3) == "user: Everything"
    assert await _summary(message, tokens=1) == "user"


async def test_a_room_that_holds_no_character_is_refused_with_advice() -> None:
    with pytest.raises(MemorySummaryRejected, match=r"at most 1 tokens.*raise summary_tokens"):
        await _summary(Message.user("𓀀𓂀", name="𓀀"), tokens=1)


_TEXTS = st.text(
    st.sampled_from("ab Cd12.,!?\n'\"{}[]: é\u0301日本。👍🏽👩\u200d👧🇩🇪ก็"),
    min_size=1,
    max_size=400,
)


@settings(max_examples=200)
@given(st.lists(_TEXTS, min_size=1, max_size=6), st.integers(min_value=8, max_value=80))
async def test_every_summary_is_valid_text_within_its_room(texts: list[str], tokens: int) -> None:
    summary = await _summary(*(Message.user(text) for text in texts), tokens=tokens)
    assert summary.strip()
    summary.encode()
    # No cut through a character: no line starts with what only continues one.
    for line in summary.splitlines():
        assert unicodedata.category(line[0]) not in ("Mn", "Me")


def test_the_number_of_a_list_stays_with_what_it_numbers() -> None:
    text = "Two things:\n1. The difference of 383.52 EUR is yours.\n2. The pickup is on 16 March."
    said = [unit.text for unit in units_of([Message.user(text)])]
    assert said == ["Two things:", "1. The difference of 383.52 EUR is yours.", "2. The pickup is on 16 March."]


def _first_choice(units: list[Unit], rules: Rules) -> str:
    best, *_ = Cover(units, rules).next()
    return best.text


def _units(*texts: str) -> list[Unit]:
    return [Unit(position, "", text, earlier=False) for position, text in enumerate(texts)]


def test_a_number_is_taken_before_a_word_as_rare() -> None:
    units = _units("the parcel of Zoe is late", "the parcel number 17 is late")

    assert _first_choice(units, Rules(name=1.0)) == "the parcel number 17 is late"
    assert _first_choice(units, Rules(name=1.0, number=1.0)) == "the parcel of Zoe is late"


def test_a_name_is_taken_before_a_word_as_rare() -> None:
    units = _units("they met bo near a mill", "they met Anna near a river")

    assert _first_choice(units, Rules()) == "they met Anna near a river"
    assert _first_choice(units, Rules(name=1.0)) == "they met bo near a mill"


def test_a_number_that_comes_again_is_taken_before_one_that_was_said_once() -> None:
    small_talk = ["and so we talked and talked about it"] * 200
    units = _units(*small_talk, "it took 45 days", "it took 27 weeks", "and again 27 weeks or so")

    assert _first_choice(units, Rules()) == "it took 27 weeks"
    assert _first_choice(units, Rules(repeated=False)) == "it took 45 days"


def test_what_people_say_is_taken_before_the_same_from_a_tool() -> None:
    units = [
        Unit(0, "lookup result", "invoice 4711 is paid", earlier=False, by_tool=True),
        Unit(1, "Ana", "invoice 4712 is paid already", earlier=False),
    ]

    assert _first_choice(units, Rules()) == "invoice 4712 is paid already"
    assert _first_choice(units, Rules(tool_share=1.0)) == "invoice 4711 is paid"


def test_a_short_sentence_is_no_cheaper_than_the_jump_to_it() -> None:
    units = _units("yes, 41", "parcel A-42 weighs 27 kilos")

    assert _first_choice(units, Rules()) == "parcel A-42 weighs 27 kilos"
    assert _first_choice(units, Rules(unit_cost=0.0)) == "yes, 41"


async def test_two_messages_of_one_speaker_do_not_read_as_one_sentence() -> None:
    said = [Message.user("Hotel Ritz, 3 nights", name="Ana"), Message.user("Two nights in Lyon.", name="Ana")]

    assert await _summary(*said, tokens=100) == "Ana: Hotel Ritz, 3 nights\nAna: Two nights in Lyon."


async def test_two_lines_of_a_message_do_not_read_as_one_sentence() -> None:
    said = Message.user("Hotel Ritz, 3 nights\nTwo nights in Lyon.", name="Ana")

    assert await _summary(said, tokens=100) == "Ana: Hotel Ritz, 3 nights; Two nights in Lyon."


async def test_a_document_of_plain_text_is_read_and_any_other_is_named() -> None:
    source = {"type": "text", "media_type": "text/plain", "data": "The gate code of the depot in Ghent is 4711."}
    paper = {"type": "document", "title": "Bill", "source": {"type": "url", "url": "https://example.com/a.pdf"}}
    shared = Message.user([{"type": "document", "title": "Depots", "source": source}, paper], name="Ana")
    told = [unit.text for unit in units_of([shared])]
    assert told == ["Depots", "The gate code of the depot in Ghent is 4711.", "Bill", "[document]"]
    assert "4711" in await _summary(*_SMALL_TALK, shared, tokens=60)
