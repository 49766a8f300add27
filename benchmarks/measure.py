"""Measures pairs side by side: both in every round, turn about, so that a noisy machine disturbs both alike."""

from __future__ import annotations

import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

Work = Callable[[int], Awaitable[object]]
"""One call of what is measured; its argument counts the calls."""


@dataclass(frozen=True, slots=True)
class Ratio:
    """How a subject compares with its floor: the median over rounds of the ratio of their times; medians in µs."""

    ratio: float
    subject_us: float
    floor_us: float


async def compare(subject: Work, floor: Work, *, calls: int = 200, rounds: int = 15) -> Ratio:
    """Runs `calls` of each per round, after one round to warm up; who goes first changes from round to round."""
    subject_times: list[float] = []
    floor_times: list[float] = []
    for number in range(rounds + 1):
        pair = [(subject, subject_times), (floor, floor_times)]
        for work, times in pair if number % 2 else reversed(pair):
            started = time.perf_counter()
            for call in range(calls):
                await work(number * calls + call)
            if number:
                times.append((time.perf_counter() - started) / calls * 1e6)
    ratios = [mine / theirs for mine, theirs in zip(subject_times, floor_times, strict=True)]
    return Ratio(statistics.median(ratios), statistics.median(subject_times), statistics.median(floor_times))
