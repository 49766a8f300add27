"""Rows about what is said again and again with other numbers: whether a summary tells that, and what was said once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml
from corrections import Case, asked_of, summary_of
from table import Row

from durable_memory.memory.flushing.rule_based.cover import Rules
from durable_memory.memory.types import Message

_FILE: Final = Path(__file__).with_name("summaries") / "repetitive.yaml"
HALVES: Final = ("tuned", "held_out")


def cases(half: str) -> list[Case]:
    """Reads the conversations of a half: `tuned`, which the rules were made with, or `held_out`."""
    data: dict[str, Any] = yaml.safe_load(_FILE.read_text(encoding="utf-8"))
    return [
        Case(
            name=one["name"],
            messages=tuple(Message.from_dict({"role": "user", **said}) for said in _written_out(one["messages"])),
            questions=tuple(map(asked_of, one["questions"])),
        )
        for one in data["conversations"]
        if one["half"] == half
    ]


async def rows() -> AsyncIterator[Row]:
    """Summarises each conversation to a tenth, at once and in two flushes; values are percent of all questions."""
    for half in HALVES:
        for flushes in (1, 2):
            told, detail = cases(half), "one flush" if flushes == 1 else "two flushes"
            known = await known_of(told, Rules(), flushes=flushes)
            plain = await known_of(told, Rules(alike=False), flushes=flushes)
            name = "… where much is said again, in %" if half == HALVES[0] else "… the same, held out"
            yield Row(name, known, None, f"{detail}; without the rule {plain:.0f}")


async def known_of(told: Sequence[Case], rules: Rules, *, flushes: int = 1) -> float:
    """Returns the percent of questions that summaries of a tenth of the length answer, with what holds now."""
    known = asked = 0
    for one in told:
        text = await summary_of(one, rules, flushes=flushes)
        known += sum(question.current(text) for question in one.questions)
        asked += len(one.questions)
    return 100 * known / asked


def _written_out(messages: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        if "each" not in message:
            yield dict(message)
            continue
        each = message["each"]
        items = [[number] for number in range(each["from"], each["to"] + 1)] if isinstance(each, dict) else each
        for item in items:
            yield from (_filled_in(one, item) for one in message["messages"])


def _filled_in(message: Any, item: Sequence[object]) -> Any:
    if isinstance(message, str):
        for number, value in enumerate(item, 1):
            message = message.replace(f"${number}", str(value))
        return message
    if isinstance(message, Mapping):
        return {key: _filled_in(value, item) for key, value in message.items()}
    return [_filled_in(value, item) for value in message] if isinstance(message, list) else message
