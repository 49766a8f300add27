"""The rule-based summariser: picks sentences, invents nothing, costs nothing, and gives the same text every time."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from itertools import groupby
from typing import Final

from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.cover import Cover
from durable_memory.memory.flushing.cutting import cut
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.flushing.units import Unit, units_of

_SHARE: Final = 1 / 3
"""Of the room: what earlier summaries keep at least, and what new messages get at least, where both have that much."""

_MISFITS: Final = 20
"""So many units that do not fit the room that is left end the search."""


class RuleBasedSummarizer:
    """A Summarizer that takes over the sentences which cover most rare words, names and numbers for their length.

    Sentences stand in their order, each line with who said it. Work grows with the length of the input alone, so no
    input is too large; it is done in a thread.
    """

    @property
    def max_input_tokens(self) -> int | None:
        """See Summarizer: any size."""
        return None

    async def summarize(self, request: SummaryRequest) -> str:
        """See Summarizer. Raises MemorySummaryRejected if there is nothing to summarise, or no room for one word."""
        if not request.messages:
            raise MemorySummaryRejected("there is nothing to summarise: a summary needs at least one message")
        units = await asyncio.to_thread(units_of, request.messages)
        cover = await asyncio.to_thread(Cover, units)
        selection = _Selection(request)
        both = len({unit.earlier for unit in units}) == 2  # noqa: PLR2004 - earlier and new
        if both:
            await selection.fill(cover, round(request.max_tokens * _SHARE), earlier=True)
            await selection.fill(cover, round(request.max_tokens * _SHARE) + selection.tokens, earlier=False)
        await selection.fill(cover, request.max_tokens, earlier=None)
        return await selection.text(units)


class _Selection:
    """The units taken so far, and what they cost."""

    def __init__(self, request: SummaryRequest) -> None:
        self._request = request
        self._units: list[Unit] = []
        self.tokens = 0

    async def fill(self, cover: Cover, max_tokens: int, *, earlier: bool | None) -> None:
        """Takes units until `max_tokens` are used."""
        misfits = 0
        while misfits < _MISFITS and self.tokens < max_tokens:
            unit = cover.next(earlier=earlier)
            if unit is None:
                return
            cost = (await self._request.counter.count_text(_line(unit.speaker, unit.text) + "\n")).tokens
            if self.tokens + cost <= max_tokens:
                self._units.append(unit)
                self.tokens += cost
            else:
                misfits += 1

    async def text(self, units: list[Unit]) -> str:
        """Returns the summary, within the tokens of the request."""
        while self._units:
            text = _lines(sorted(self._units, key=lambda unit: unit.position))
            if await self._fits(text):
                return text
            self._units.pop()
        # Not one sentence fits: the start of the first that has a start that fits.
        for unit in units[:_MISFITS]:
            start = await self._start_that_fits(_line(unit.speaker, unit.text)) or await self._start_that_fits(
                unit.text
            )
            if start:
                return start
        raise MemorySummaryRejected(
            f"a summary of at most {self._request.max_tokens} tokens has no room for a word; raise summary_tokens"
        )

    async def _start_that_fits(self, text: str) -> str:
        fits, too_long = 0, len(text) + 1
        while too_long - fits > 1:
            middle = (fits + too_long) // 2
            if await self._fits(cut(text, middle)):
                fits = middle
            else:
                too_long = middle
        return cut(text, fits).strip()

    async def _fits(self, text: str) -> bool:
        return (await self._request.counter.count_text(text)).tokens <= self._request.max_tokens


def _line(speaker: str, text: str) -> str:
    return f"{speaker}: {text}" if speaker else text


def _lines(units: Iterable[Unit]) -> str:
    return "\n".join(
        _line(speaker, " ".join(unit.text for unit in group))
        for speaker, group in groupby(units, key=lambda unit: unit.speaker)
    )
