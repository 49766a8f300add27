"""Rows about what was corrected later: whether a summary knows what holds now, or only what was withdrawn."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml
from table import Row

from durable_memory.memory.flushing.rule_based.cover import Rules
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.flushing.summary import earlier_summary
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message

_FILE: Final = Path(__file__).with_name("summaries") / "corrections.yaml"
_TENTH, _QUARTER = 10, 4

_Wordings = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked later. answers: wordings of what holds now; stale: of what was withdrawn, none for a look-alike.

    Of one wording all words must stand in the text.
    """

    ask: str
    answers: _Wordings
    stale: _Wordings

    def current(self, text: str) -> bool:
        """Tells whether `text` has the answer, and nothing withdrawn after it."""
        return (said := _last(self.answers, text)) >= 0 and said > _last(self.stale, text)

    def outdated(self, text: str) -> bool:
        """Tells whether `text` has what was withdrawn, and not the answer after it."""
        return (said := _last(self.stale, text)) >= 0 and said >= _last(self.answers, text)


@dataclass(frozen=True, slots=True)
class Case:
    """A conversation with what is asked about it."""

    name: str
    messages: tuple[Message, ...]
    questions: tuple[Asked, ...]

    @property
    def text(self) -> str:
        """All that is said."""
        return "\n".join(message.text for message in self.messages)


@dataclass(frozen=True, slots=True)
class Score:
    """In percent. known: corrections whose newest state is known. outdated: of which only an older state is known.

    both: pairs that look like a correction and are none, of which both stayed.
    """

    known: float
    outdated: float
    both: float


def cases(file: Path = _FILE) -> list[Case]:
    """Reads the conversations of a file."""
    data: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return [
        Case(
            name=one["name"],
            messages=tuple(Message.from_dict({"role": "user", **said}) for said in one["messages"]),
            questions=tuple(map(asked_of, one["questions"])),
        )
        for one in data["conversations"]
    ]


def asked_of(question: Mapping[str, Any]) -> Asked:
    """Returns a question as it stands in a file."""
    return Asked(question["ask"], _wordings(question["answers"]), _wordings(question.get("stale", [])))


async def rows() -> AsyncIterator[Row]:
    """Summarises each conversation to a tenth and to a quarter, at once and in two flushes."""
    asked = cases()
    for part in (_TENTH, _QUARTER):
        for flushes in (1, 2):
            score = await score_of(asked, Rules(), flushes=flushes, part=part)
            plain = await score_of(asked, Rules(revisions=False), flushes=flushes, part=part)
            detail = f"1/{part} of the length, {'one flush' if flushes == 1 else 'two flushes'}; without the rule "
            yield Row("corrections known, in %", score.known, None, f"{detail}{plain.known:.0f}")
            yield Row("… only what was withdrawn", score.outdated, None, f"{detail}{plain.outdated:.0f}")
            yield Row("… pairs that only look alike, both kept", score.both, None, f"{detail}{plain.both:.0f}")


async def score_of(asked: Sequence[Case], rules: Rules, *, flushes: int = 1, part: int = _TENTH) -> Score:
    """Returns how well summaries of a `part`-th of the length know what holds now."""
    known = outdated = corrections = both = pairs = 0
    for one in asked:
        text = await summary_of(one, rules, flushes=flushes, part=part)
        for question in one.questions:
            if question.stale:
                corrections += 1
                known += question.current(text)
                outdated += question.outdated(text)
            else:
                pairs += 1
                both += question.current(text)
    return Score(100 * known / corrections, 100 * outdated / corrections, 100 * both / pairs)


async def summary_of(case: Case, rules: Rules, *, flushes: int = 1, part: int = _TENTH) -> str:
    """Returns a summary of a `part`-th of the conversation's length, which is flushed in so many equal parts."""
    counter = TiktokenCounter()
    room = (await counter.count_text(case.text)).tokens // part
    size = -(-len(case.messages) // flushes)
    earlier: tuple[Message, ...] = ()
    text = ""
    for start in range(0, len(case.messages), size):
        messages = (*earlier, *case.messages[start : start + size])
        text = await RuleBasedSummarizer(rules).summarize(SummaryRequest(messages, room, counter))
        earlier = (earlier_summary(text, start + size),)
    return text


def _last(wordings: _Wordings, text: str) -> int:
    """Returns where the last of the wordings that `text` has stands, -1 if it has none."""
    text = text.casefold()
    places = [min(text.rfind(word.casefold()) for word in words) for words in wordings]
    return max(places, default=-1)


def _wordings(written: Sequence[Sequence[object]]) -> _Wordings:
    return tuple(tuple(map(str, words)) for words in written)
