"""The counters of one client: one for each way of counting that its resources declare."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from durable_memory.memory.tokens.calibration import Calibration
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.tokens.counting import DEFAULT_COUNTING, Counting
from durable_memory.memory.tokens.estimating import ByteCounter, ScaledCounter
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter


class Counted(NamedTuple):
    """A way of counting, as it is carried out.

    calibration: is to be offered messages that were stored; None where no provider corrects the counter.
    """

    counter: TokenCounter
    calibration: Calibration | None = None


class Counters:
    """Hands out counters. Resources that count in the same way share one."""

    def __init__(self, default: TokenCounter | None = None) -> None:
        """default: what counts for resources that declare no token_provider; by o200k_base if it is not given."""
        self._default = Counted(make_counter(DEFAULT_COUNTING) if default is None else default)
        self._made: dict[Counting, Counted] = {}

    def of(self, counting: Counting | None) -> Counted:
        """Returns the counter for a way of counting, with its calibration; None: for resources that declare no way."""
        if counting is None:
            return self._default
        made = self._made.get(counting)
        if made is None:
            made = self._made[counting] = _counted(counting)
        return made

    def use(self, countings: Iterable[Counting | None]) -> None:
        """Lets go of all ways to count but these. May be called in any thread.

        Who holds a counter goes on with it; its estimates are not corrected any more.
        """
        declared = set(countings)
        for counting in [each for each in list(self._made) if each not in declared]:  # others may come meanwhile
            calibration = self._made.pop(counting).calibration
            if calibration is not None:
                calibration.end()

    async def close(self) -> None:
        """Gives up requests to providers."""
        for _, calibration in list(self._made.values()):  # another thread may `use` others meanwhile
            if calibration is not None:
                await calibration.close()


def _counted(counting: Counting) -> Counted:
    counter = make_counter(counting)
    if counting.endpoint is None or not isinstance(counter, ScaledCounter):
        return Counted(counter)
    return Counted(counter, Calibration(counting.endpoint, counter))


def make_counter(counting: Counting) -> TokenCounter:
    """Returns a counter; loads nothing yet."""
    counter = ByteCounter() if counting.encoding is None else TiktokenCounter(counting.encoding)
    return counter if counting.factor is None else ScaledCounter(counter, counting.factor)


def begin_to_load(countings: Iterable[Counting]) -> None:
    """Begins to load the tokenizers of these ways to count in the background, so that no count has to wait for them."""
    for encoding in sorted({counting.encoding for counting in countings if counting.encoding is not None}):
        TiktokenCounter(encoding).begin_to_load()
