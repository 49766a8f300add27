"""At a tenth of its length the summary of a conversation answers more than simpler ways to shorten it.

The conversation and its questions are written for this test; an answer counts if its words stand in the text.
"""

import importlib
import random
from pathlib import Path

import pytest

from durable_memory.memory.flushing.rule_based import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

_FOLDER = Path(__file__).parent
_COUNTER = TiktokenCounter()


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
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
    summaries = importlib.import_module("summaries")

    rows = {row.name: row async for row in summaries.rows()}

    whole = [conversation.answered_by(conversation.text) for conversation in summaries.conversations()]
    assert whole == [len(conversation.questions) for conversation in summaries.conversations()]
    assert sum(whole) >= 40
    assert rows["questions a tenth answers, in %"].value >= 45
    assert rows["… above a plain cover"].value >= 5
