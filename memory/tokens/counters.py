"""The counters of one client: one for each way of counting that its resources declare."""

from __future__ import annotations

from collections.abc import Iterable

from durable_memory.memory.tokens.calibration import Calibration
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.tokens.counting import DEFAULT_COUNTING, Counting
from durable_memory.memory.tokens.estimating import ByteCounter, ScaledCounter
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter


class Counters:
    """Hands out counters. Resources that count in the same way share one."""

    def __init__(self, default: TokenCounter | None = None) -> None:
        """default: what counts for resources that declare no token_provider; by o200k_base if it is not given."""
        self._default = make_counter(DEFAULT_COUNTING) if default is None else default
        self._made: dict[Counting, TokenCounter] = {}
        self._calibrations: dict[Counting, Calibration] = {}

    def of(self, counting: Counting | None) -> TokenCounter:
        """Returns the counter for a way of counting; None is that of resources which declare none."""
        if counting is None:
            return self._default
        counter = self._made.get(counting)
        if counter is None:
            counter = self._made[counting] = make_counter(counting)
            if counting.endpoint is not None and isinstance(counter, ScaledCounter):
                self._calibrations[counting] = Calibration(counting.endpoint, counter)
        return counter

    def calibration(self, counting: Counting | None) -> Calibration | None:
        """Returns what is to be offered messages that were stored, for a way of counting that a provider corrects."""
        return None if counting is None else self._calibrations.get(counting)

    def use(self, countings: Iterable[Counting | None]) -> None:
        """Lets go of all ways to count but these. May be called in any thread.

        Who holds a counter goes on with it; its estimates are not corrected any more.
        """
        declared = set(countings)
        for counting in [each for each in list(self._made) if each not in declared]:  # others may come meanwhile
            del self._made[counting]
            calibration = self._calibrations.pop(counting, None)
            if calibration is not None:
                calibration.end()

    async def close(self) -> None:
        """Gives up requests to providers."""
        for calibration in list(self._calibrations.values()):  # another thread may `use` others meanwhile
            await calibration.close()


def make_counter(counting: Counting) -> TokenCounter:
    """Returns a counter; loads nothing yet."""
    counter = ByteCounter() if counting.encoding is None else TiktokenCounter(counting.encoding)
    return counter if counting.factor is None else ScaledCounter(counter, counting.factor)


def begin_to_load(countings: Iterable[Counting]) -> None:
    """Begins to load the tokenizers of these ways to count in the background, so that no count has to wait for them."""
    for encoding in sorted({counting.encoding for counting in countings if counting.encoding is not None}):
        TiktokenCounter(encoding).begin_to_load()
