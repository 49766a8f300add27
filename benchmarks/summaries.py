"""Rows about summaries: how many questions a tenth of a conversation still answers, and what each rule adds to that."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from table import Row

from durable_memory.memory.flushing.rule_based.cover import Rules
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

_FOLDER: Final = Path(__file__).with_name("summaries")
_ASKED: Final = ("debugging", "meeting", "support_desk")
_DESK: Final = Path(__file__).parents[1] / "examples" / "support_desk" / "conversation.yaml"
_TENTH: Final = 10
_SEEDS: Final = 10

PLAIN: Final = Rules(number=4.0, repeated=False, name=3.0, tool_share=1.0, unit_cost=3.0, revisions=False, alike=False)
"""The greedy cover of rare words by word of length, numbers and names before other words: what is to be beaten."""

ABLATIONS: Final = {
    "numbers like other words": Rules(number=1.0),
    "numbers that come again like others": Rules(repeated=False),
    "names like other words": Rules(name=1.0),
    "tools like people": Rules(tool_share=1.0),
    "no price for a new place": Rules(unit_cost=0.0),
    "withdrawn like valid": Rules(revisions=False),
    "alike like others": Rules(alike=False),
}


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked later. answers: the wordings that count; of one of them all words must stand in the text."""

    ask: str
    answers: tuple[tuple[str, ...], ...]

    def answered_by(self, text: str) -> bool:
        """Tells whether `text` holds one of the answers, whatever its case."""
        text = text.casefold()
        return any(all(word.casefold() in text for word in words) for words in self.answers)


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation with what is asked about it. text: all that is said, called and answered."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]

    @property
    def text(self) -> str:
        """All that is said, and what tools are asked."""
        return "\n".join("\n".join((m.text, *(call.arguments for call in m.tool_calls))) for m in self.messages)

    def answered_by(self, text: str) -> int:
        """Returns how many of the questions `text` answers."""
        return sum(question.answered_by(text) for question in self.questions)


def conversations() -> list[Conversation]:
    """Reads the three conversations: a support case, a meeting, a debugging session."""
    return [_conversation(_FOLDER / f"{name}.yaml") for name in _ASKED]


async def rows() -> AsyncIterator[Row]:
    """Summarises each conversation to a tenth in several ways; values are percent of all questions."""
    asked = conversations()
    ours = await _share(asked, RuleBasedSummarizer())
    plain = await _share(asked, RuleBasedSummarizer(PLAIN))
    number = sum(len(one.questions) for one in asked)
    yield Row("questions a tenth answers, in %", ours, 45, f"{number} questions to 3 conversations", at_least=True)
    detail = f"points above a plain greedy cover of rare words, which answers {plain:.0f} %"
    yield Row("… above a plain cover", ours - plain, 5, detail, at_least=True)
    yield Row("… first and last messages", await _ends(asked), None, "as many as fit, from both ends")
    yield Row("… random messages", await _random(asked), None, f"mean of {_SEEDS} draws")
    for name, rules in ABLATIONS.items():
        yield Row("… without a rule", await _share(asked, RuleBasedSummarizer(rules)), None, name)


async def _share(asked: Sequence[Conversation], summarizer: RuleBasedSummarizer) -> float:
    counter, texts = TiktokenCounter(), []
    for one in asked:
        request = SummaryRequest(one.messages, await _room(one, counter), counter)
        texts.append(await summarizer.summarize(request))
    return _percent(asked, texts)


async def _ends(asked: Sequence[Conversation]) -> float:
    texts = []
    for one in asked:
        last = len(one.messages) - 1
        order = [place // 2 if place % 2 == 0 else last - place // 2 for place in range(last + 1)]
        texts.append(await _taken(one, order))
    return _percent(asked, texts)


async def _random(asked: Sequence[Conversation]) -> float:
    shares = []
    for seed in range(_SEEDS):
        texts = []
        for one in asked:
            order = list(range(len(one.messages)))
            random.Random(seed).shuffle(order)
            texts.append(await _taken(one, order))
        shares.append(_percent(asked, texts))
    return sum(shares) / len(shares)


async def _taken(conversation: Conversation, order: Sequence[int]) -> str:
    """Returns the messages of `order` that fit a tenth, in their own order."""
    counter = TiktokenCounter()
    room, taken = await _room(conversation, counter), set[int]()
    for index in order:
        cost = (await counter.count_text(conversation.messages[index].text)).tokens
        if cost <= room:
            room -= cost
            taken.add(index)
    return "\n".join(conversation.messages[index].text for index in sorted(taken))


async def _room(conversation: Conversation, counter: TiktokenCounter) -> int:
    return (await counter.count_text(conversation.text)).tokens // _TENTH


def _percent(asked: Sequence[Conversation], texts: Sequence[str]) -> float:
    answered = sum(one.answered_by(text) for one, text in zip(asked, texts, strict=True))
    return 100 * answered / sum(len(one.questions) for one in asked)


def _conversation(path: Path) -> Conversation:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    said = data["messages"] if "messages" in data else _desk()
    return Conversation(
        name=path.stem,
        messages=tuple(Message.from_dict({"role": "user", **one}) for one in said),
        questions=tuple(
            Question(one["ask"], tuple(tuple(map(str, words)) for words in one["answers"])) for one in data["questions"]
        ),
    )


def _desk() -> list[dict[str, Any]]:
    """The conversation of the demo, turn by turn."""
    data = yaml.safe_load(_DESK.read_text(encoding="utf-8"))
    said: list[dict[str, Any]] = []
    for session in data["sessions"]:
        for turn in session["turns"]:
            said.append({"content": turn["text"], "name": turn["from"]})
            said += ({"agent": turn["agent"], **recorded} for recorded in turn["record"])
    return said
