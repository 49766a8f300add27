"""At a tenth of its length the summary of a conversation answers more than simpler ways to shorten it.

The conversation and its questions are written for this test; an answer counts if its words stand in the text.
"""

import importlib
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from durable_memory.memory.flushing.rule_based.cover import Rules
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

_FOLDER = Path(__file__).parent
_COUNTER = TiktokenCounter()


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Any]:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    return importlib.import_module


@pytest.fixture(scope="module")
def turns() -> list[str]:
    return (_FOLDER / "conversation.txt").read_text(encoding="utf-8").splitlines()


@pytest.fixture(scope="module")
def answers() -> list[str]:
    lines = (_FOLDER / "questions.txt").read_text(encoding="utf-8").splitlines()
    return [line.partition(" | ")[2] for line in lines]


async def _tokens(text: str) -> int:
    return (await _COUNTER.count_text(text)).tokens


async def _taken(turns: list[str], order: list[int], room: int, *, stop: bool) -> str:
    taken: list[int] = []
    for index in order:
        if await _tokens("\n".join(turns[i] for i in sorted([*taken, index]))) <= room:
            taken.append(index)
        elif stop:
            break
    return "\n".join(turns[index] for index in sorted(taken))


async def test_a_tenth_of_a_conversation_answers_more_than_its_ends_or_random_turns(
    turns: list[str], answers: list[str]
) -> None:
    def answered(text: str) -> int:
        return sum(answer in text for answer in answers)

    assert len(answers) == 20
    assert answered("\n".join(turns)) == 20
    room = await _tokens("\n".join(turns)) // 10
    count = len(turns)

    ends = [i // 2 if i % 2 == 0 else count - 1 - i // 2 for i in range(count)]
    first_and_last = answered(await _taken(turns, ends, room, stop=True))

    random_turns = []
    for seed in range(20):
        order = list(range(count))
        random.Random(seed).shuffle(order)
        random_turns.append(answered(await _taken(turns, order, room, stop=False)))

    spoken = [turn.partition(": ") for turn in turns]
    messages = tuple(
        Message.assistant(text) if speaker == "assistant" else Message.user(text, name=speaker)
        for speaker, _, text in spoken
    )
    cover = answered(await RuleBasedSummarizer().summarize(SummaryRequest(messages, room, _COUNTER)))

    assert cover > 2 * first_and_last
    assert cover > 2 * max(random_turns)
    assert cover >= 10


async def test_a_tenth_answers_what_the_benchmark_asks_and_more_than_a_plain_cover(
    benchmarks: Callable[[str], Any],
) -> None:
    summaries = benchmarks("summaries")

    rows = {row.name: row async for row in summaries.rows()}

    whole = [conversation.answered_by(conversation.text) for conversation in summaries.conversations()]
    assert whole == [len(conversation.questions) for conversation in summaries.conversations()]
    assert sum(whole) >= 40
    assert rows["questions a tenth answers, in %"].value >= 45
    assert rows["… above a plain cover"].value >= 5


@pytest.mark.parametrize("flushes", [1, 2])
@pytest.mark.parametrize("part", [10, 4])
@pytest.mark.parametrize("of", ["benchmark", "test"])
async def test_nothing_that_was_withdrawn_stands_alone_and_no_less_is_known(
    benchmarks: Callable[[str], Any], of: str, part: int, flushes: int
) -> None:
    corrections = benchmarks("corrections")
    cases = corrections.cases() if of == "benchmark" else corrections.cases(_FOLDER / "corrections.yaml")

    now = await corrections.score_of(cases, Rules(), flushes=flushes, part=part)
    before = await corrections.score_of(cases, Rules(revisions=False), flushes=flushes, part=part)

    assert all(question.current(case.text) for case in cases for question in case.questions)
    assert now.outdated == 0
    assert now.known >= before.known


@pytest.mark.parametrize("flushes", [1, 2])
@pytest.mark.parametrize("half", ["tuned", "held_out"])
async def test_where_much_is_said_again_a_tenth_still_answers_most_questions(
    benchmarks: Callable[[str], Any], half: str, flushes: int
) -> None:
    repetitive = benchmarks("repetitive")
    told = repetitive.cases(half)

    known = await repetitive.known_of(told, Rules(), flushes=flushes)

    assert sum(len(one.questions) for one in told) == 24
    assert known > 60
    assert known > await repetitive.known_of(told, Rules(alike=False), flushes=flushes) + 15


@pytest.mark.parametrize("of", ["benchmark", "test"])
async def test_without_the_rule_there_are_summaries_that_know_only_what_was_withdrawn(
    benchmarks: Callable[[str], Any], of: str
) -> None:
    corrections = benchmarks("corrections")
    cases = corrections.cases() if of == "benchmark" else corrections.cases(_FOLDER / "corrections.yaml")

    assert (await corrections.score_of(cases, Rules(revisions=False), flushes=2, part=4)).outdated > 20
