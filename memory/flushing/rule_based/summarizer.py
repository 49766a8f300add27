"""The rule-based summariser: picks sentences, invents nothing, costs nothing, and gives the same text every time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import groupby
from typing import Final

from durable_memory.memory.cutting import cut
from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.rule_based.cover import Cover, Rules
from durable_memory.memory.flushing.rule_based.units import Unit, units_of
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.types import LONG_TERM

_SHARE: Final = 1 / 3
"""Of the room: what earlier summaries keep at least, and what new messages get at least, where both have that much."""

_WORD: Final = re.compile(r"\S+")

_ENDED: Final = re.compile(r"[.!?\u2026,;:\u3002\uff01\uff1f][\"')\]\u201d\u2019\u00bb]*$")

_GAP: Final = "\u2026"
"""Stands before a sentence that did not follow the one before it."""

_MISFITS: Final = 4
"""The search ends after so many units that do not fit the room that is left."""

_BEGUN: Final = 8
"""So many units are tried, the newest first, for a start that fits where none fits whole."""


class RuleBasedSummarizer:
    """A Summarizer that takes over the sentences which cover most rare words, names and numbers for their length.

    Sentences stand in their order, a line for each message, with who said it. Of what one speaker says again and again
    with other numbers the last stands for all, with how many they are. Work grows with the length of the input alone,
    so no input is too large; it is done in a thread.
    """

    def __init__(self, rules: Rules = Rules()) -> None:  # noqa: B008 - it is immutable
        self._rules = rules

    @property
    def max_input_tokens(self) -> int | None:
        """See Summarizer: any size."""
        return None

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer. Raises MemorySummaryRejected if there is nothing to summarise, or no room for one word."""
        if not request.messages:
            raise MemorySummaryRejected("there is nothing to summarise: a summary needs at least one message")
        units = await asyncio.to_thread(units_of, request.messages)
        cover = await asyncio.to_thread(Cover, units, self._rules)
        selection = _Selection(request, cover.alike.others)
        both = len({unit.earlier for unit in units}) == 2  # noqa: PLR2004 - earlier and new
        await selection.share(cover, request.max_tokens, both=both)
        # Units of one message share a label, so there is room left.
        await selection.share(cover, await selection.unused(), both=False)
        # What was said before its correction, or before the last of its kind, is worth more than nothing.
        await asyncio.to_thread(cover.count_the_rest)
        await selection.share(cover, await selection.unused(), both=both)
        while await selection.fill(cover, selection.tokens + await selection.unused(), earlier=None):
            pass  # labels were shared again
        return await selection.text(units)


class _Selection:
    """The units taken so far, and what they cost."""

    def __init__(self, request: SummaryRequest, alike: Mapping[int, Sequence[Unit]]) -> None:
        """alike: by the position of a unit, those that it stands for unless they are taken as well."""
        self._request = request
        self._alike = alike
        self._summaries = sum(message.section == LONG_TERM for message in request.messages)
        self._units: list[Unit] = []
        self.tokens = 0

    async def share(self, cover: Cover, room: int, *, both: bool) -> None:
        """Takes units for `room` tokens more. both: old and new units have a share of it each."""
        max_tokens = self.tokens + room
        for earlier in (True, False) if both else ():
            await self.fill(cover, self.tokens + round(room * _SHARE), earlier=earlier)
        await self.fill(cover, max_tokens, earlier=None)

    async def fill(self, cover: Cover, max_tokens: int, *, earlier: bool | None) -> bool:
        """Takes units until `max_tokens` are used. Returns whether it took any."""
        before = len(self._units)
        # In a thread: until it is clear which unit is best, any number of others may have to be compared.
        while rows := await asyncio.to_thread(cover.take_while, self._surely(max_tokens), earlier=earlier):
            costs = await self._request.counter.count_texts([self._costing(unit) for units in rows for unit in units])
            self.tokens += sum(cost.tokens for cost in costs)
            for units in rows:
                self._keep(units)
        misfits = 0
        while misfits < _MISFITS and (units := await asyncio.to_thread(cover.next, earlier=earlier)):
            first, *others = await self._request.counter.count_texts([self._costing(unit) for unit in units])
            tokens = first.tokens + sum(cost.tokens for cost in others)
            if self.tokens + tokens <= max_tokens:
                cover.take(units)
                self._keep(units)
                self.tokens += tokens
            else:
                # That others which have to come along are too long says nothing about the room for what is next.
                alone = self.tokens + first.tokens <= max_tokens
                misfits += not alone
                cover.put_off(units[0], max(units[1:], key=lambda unit: len(unit.text)) if alone else None)
        await asyncio.to_thread(cover.offer_again)
        return len(self._units) > before

    def _surely(self, max_tokens: int) -> Callable[[Sequence[Unit]], bool]:
        """Returns what tells whether units fit beside those that it was told of before, without counting tokens.

        No text has more tokens than bytes.
        """
        room = max_tokens - self.tokens

        def fit(units: Sequence[Unit]) -> bool:
            nonlocal room
            room -= sum(len(self._costing(unit).encode("utf-8", "replace")) for unit in units)
            return room >= 0

        return fit

    def _keep(self, units: Sequence[Unit]) -> None:
        # The newest first: if the text is too long, the oldest goes, since it must not stand alone.
        self._units += sorted(units, key=lambda unit: -unit.position)

    def _costing(self, unit: Unit) -> str:
        """Returns what a unit adds to the text if it is alone on its line."""
        return _line(unit.speaker, self._counted(unit)) + "\n"

    async def unused(self) -> int:
        """Returns how many tokens of the request the units leave."""
        return self._request.max_tokens - await self._tokens(self._joined())

    async def text(self, units: list[Unit]) -> str:
        """Returns the summary, within the tokens of the request."""
        while self._units:
            text = self._joined()
            if await self._fits(text):
                return text
            self._units.pop()
        # Not one sentence fits: the start of the last that has a start that fits, since what is older may not hold.
        for unit in reversed(units[-_BEGUN:]):
            for whole in (_line(unit.speaker, unit.text), unit.text):
                if start := await self._start_that_fits(whole):
                    return start
        raise MemorySummaryRejected(
            f"a summary of at most {self._request.max_tokens} tokens has no room for a word; raise summary_tokens"
        )

    async def _start_that_fits(self, text: str) -> str:
        # By words, and by characters where not even the first word fits: counts grow with words, but not always with
        # characters, since half a word may have more tokens than the whole.
        for ends in ([word.end() for word in _WORD.finditer(text)], range(1, len(text) + 1)):
            fitting, too_long = 0, len(ends) + 1
            while too_long - fitting > 1:
                middle = (fitting + too_long) // 2
                if await self._fits(cut(text, ends[middle - 1])):
                    fitting = middle
                else:
                    too_long = middle
            if fitting and (start := cut(text, ends[fitting - 1])):
                return start
        return ""

    def _joined(self) -> str:
        units = sorted(self._units, key=lambda unit: unit.position)
        taken = {unit.position for unit in units}
        return "\n".join(
            _line(speaker, _together((unit.position, self._counted(unit, taken)) for unit in group))
            for (_, speaker), group in groupby(units, key=lambda unit: (unit.line, unit.speaker))
        )

    def _counted(self, unit: Unit, taken: AbstractSet[int] = frozenset()) -> str:
        row = (unit, *self._alike.get(unit.position, ()))
        # An earlier summary without a count of these had no room for it, or for them: nobody knows how many there were.
        at_least = any(one.at_least for one in row) or sum(one.times > 1 for one in row) < self._summaries
        times = unit.times + sum(one.times for one in row[1:] if one.position not in taken)
        return unit.counted(times, at_least=at_least)

    async def _fits(self, text: str) -> bool:
        return await self._tokens(text) <= self._request.max_tokens

    async def _tokens(self, text: str) -> int:
        return (await self._request.counter.count_text(text)).tokens


def _together(said: Iterable[tuple[int, str]]) -> str:
    """Joins what stands at these positions of a message. Marks show where one ends, and where others are left out."""
    parts: list[str] = []
    next_position = 0
    for position, text in said:
        if parts:
            parts.append(" " if _ENDED.search(parts[-1]) else "; ")
            parts.append(_GAP if position > next_position and not text.startswith(_GAP) else "")
        parts.append(text)
        next_position = position + 1
    return "".join(parts)


def _line(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text
