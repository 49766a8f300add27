"""Measures works side by side: all in every round, turn about, so that a noisy machine disturbs them alike.

A machine that others use changes its speed within tenths of a second. So rounds are short and many.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final

_ROUND_SECONDS: Final = 1.0

Work = Callable[[int], Awaitable[object]]
"""One call of what is measured; its argument counts the calls."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How a subject compares with a floor: the median over rounds of the ratio of their times; median times in µs."""

    ratio: float
    subject_us: float
    floor_us: float


async def compare(subject: Work, floor: Work, *, calls: int = 20, rounds: int = 150) -> Ratio:
    """Runs `calls` of each per round, after one round to warm up; who goes first changes from round to round."""
    [ratio] = await compare_all(subject, [floor], calls=calls, rounds=rounds)
    return ratio


async def compare_all(subject: Work, floors: Sequence[Work], *, calls: int = 20, rounds: int = 150) -> list[Ratio]:
    """Compares one subject with several floors, all in every round."""
    works = [subject, *floors]
    times: list[list[float]] = [[] for _ in works]
    for number in range(rounds + 1):
        order = list(enumerate(works))
        for place, work in order if number % 2 else reversed(order):
            started = time.perf_counter()
            for call in range(calls):
                await work(number * calls + call)
            if number:
                times[place].append((time.perf_counter() - started) / calls * 1e6)
    mine, *theirs = times
    return [
        Ratio(
            statistics.median(one / other for one, other in zip(mine, floor, strict=True)),
            statistics.median(mine),
            statistics.median(floor),
        )
        for floor in theirs
    ]


async def throughput(writers: Sequence[Work]) -> float:
    """Lets all writers call again and again for a second; returns the calls that were answered, per second."""
    started = time.perf_counter()
    answered = 0

    async def write(work: Work) -> None:
        nonlocal answered
        call = 0
        while time.perf_counter() - started < _ROUND_SECONDS:
            await work(call)
            call += 1
            answered += 1

    await asyncio.gather(*map(write, writers))
    return answered / (time.perf_counter() - started)


async def compare_throughput(
    subject: Sequence[Work], floor: Sequence[Work], *, rounds: int = 5
) -> tuple[float, float, float]:
    """Returns the median ratio of two throughputs, and both in calls a second; the first round only warms up."""
    mine: list[float] = []
    theirs: list[float] = []
    for number in range(rounds + 1):
        pair = [(subject, mine), (floor, theirs)]
        for writers, found in pair if number % 2 else reversed(pair):
            per_second = await throughput(writers)
            if number:
                found.append(per_second)
    ratios = [one / other for one, other in zip(mine, theirs, strict=True)]
    return statistics.median(ratios), statistics.median(mine), statistics.median(theirs)
