"""The circuit breaker: what opens it, what closes it, and what says nothing about the store."""

from __future__ import annotations

import asyncio
from collections.abc import Generator

import pytest
from redis import exceptions

from durable_memory.memory.errors import MemoryOversize, MemoryUnavailable
from durable_memory.memory.limits import BreakerLimits
from durable_memory.memory.stores.breaker import Breaker
from durable_memory.memory.stores.redis.attempts import Attempts

LIMITS = BreakerLimits(timeout_seconds=0.05, max_failures=3, reset_seconds=20)


class Watch:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def breaker(watch: Watch) -> Breaker:
    return Breaker("desk", LIMITS, watch)


async def answer() -> str:
    return "answer"


async def fail() -> str:
    raise MemoryUnavailable("nobody answers")


async def refuse() -> str:
    raise MemoryOversize("too large")


async def hang() -> str:
    await asyncio.sleep(30)
    return "too late"


def state_of(breaker: Breaker) -> str:
    return breaker.state


async def make_fail(breaker: Breaker, times: int) -> None:
    for _ in range(times):
        with pytest.raises(MemoryUnavailable):
            await breaker.call(fail)


async def make_open(breaker: Breaker) -> None:
    await make_fail(breaker, LIMITS.max_failures)
    assert state_of(breaker) == "open"


async def test_so_many_failures_in_a_row_open_it_and_no_fewer(breaker: Breaker) -> None:
    await make_fail(breaker, 2)
    assert await breaker.call(answer) == "answer"
    await make_fail(breaker, 2)
    assert state_of(breaker) == "closed"
    await make_fail(breaker, 1)
    assert state_of(breaker) == "open"


async def test_while_it_is_open_no_call_reaches_the_store(breaker: Breaker, watch: Watch) -> None:
    await make_open(breaker)
    watch.seconds = 7.5
    calls: list[str] = []

    async def reach() -> None:
        calls.append("reached")

    with pytest.raises(MemoryUnavailable, match=r"^desk: the circuit breaker is open.*after 12\.5 s") as refused:
        await breaker.call(reach)
    assert (calls, refused.value.retry_after_ms) == ([], 12_500)


async def test_a_call_without_an_answer_in_time_is_a_failure_that_names_the_timeout(breaker: Breaker) -> None:
    for _ in range(3):
        with pytest.raises(MemoryUnavailable, match="within 50 ms"):
            await breaker.call(hang)
    assert state_of(breaker) == "open"


async def test_a_store_that_is_silent_after_a_refusal_does_not_answer(breaker: Breaker) -> None:
    refusals = [exceptions.ReadOnlyError("You can't write against a read only replica.")]
    met = refusals.copy()

    async def refuse_then_hang() -> str:
        if met:
            raise met.pop()
        return await hang()

    attempts = Attempts("redis://here")
    for _ in range(3):
        met[:] = refusals
        with pytest.raises(MemoryUnavailable, match=r"^desk: the store did not answer within 50 ms") as silent:
            await breaker.call(lambda: attempts.until_answered(refuse_then_hang))
        assert not silent.value.answered
    assert state_of(breaker) == "open"


@pytest.mark.parametrize(
    ("error", "words", "answered"),
    [
        (exceptions.ReadOnlyError("You can't write"), "is a read-only replica.*", True),
        (exceptions.TryAgainError("Multiple keys"), "moves the part of its cluster where this is kept", False),
        (TimeoutError(), "cannot be reached: no answer", False),
    ],
)
async def test_what_does_not_pass_is_told_with_its_resource_and_one_time(
    breaker: Breaker, error: Exception, words: str, *, answered: bool
) -> None:
    async def meet() -> str:
        raise error

    attempts = Attempts("redis://here")
    text = rf"^desk: Redis at redis://here {words}; that did not pass within 50 ms \("
    with pytest.raises(MemoryUnavailable, match=text) as refused:
        await breaker.call(lambda: attempts.until_answered(meet))
    assert refused.value.answered == answered


async def test_refusals_are_answers(breaker: Breaker) -> None:
    await make_fail(breaker, 2)
    for _ in range(10):
        with pytest.raises(MemoryOversize):
            await breaker.call(refuse)
    await make_fail(breaker, 2)
    assert state_of(breaker) == "closed"


async def test_after_the_reset_time_one_call_tries_and_its_answer_closes_it(breaker: Breaker, watch: Watch) -> None:
    await make_open(breaker)
    watch.seconds = 20
    gate = asyncio.Event()

    async def slow() -> str:
        await gate.wait()
        return "answer"

    trying = asyncio.create_task(breaker.call(slow))
    await asyncio.sleep(0)
    with pytest.raises(MemoryUnavailable, match="a call is trying it now"):
        await breaker.call(answer)
    gate.set()
    assert await trying == "answer"
    assert state_of(breaker) == "closed"


async def test_a_try_that_fails_opens_it_for_another_reset_time(breaker: Breaker, watch: Watch) -> None:
    await make_open(breaker)
    watch.seconds = 25
    await make_fail(breaker, 1)
    watch.seconds = 44.9
    with pytest.raises(MemoryUnavailable, match="is open"):
        await breaker.call(answer)
    watch.seconds = 45
    assert await breaker.call(answer) == "answer"


async def test_a_try_that_is_cancelled_leaves_its_place_to_the_next_call(breaker: Breaker, watch: Watch) -> None:
    await make_open(breaker)
    watch.seconds = 20
    trying = asyncio.create_task(breaker.call(hang))
    await asyncio.sleep(0)
    trying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trying
    assert await breaker.call(answer) == "answer"


async def test_a_try_that_is_closed_leaves_its_place_to_the_next_call(breaker: Breaker, watch: Watch) -> None:
    await make_open(breaker)
    watch.seconds = 20

    class Pause:
        def __await__(self) -> Generator[None]:
            yield

    async def wait() -> None:
        await Pause()

    trying = breaker.call(wait)
    trying.send(None)
    assert state_of(breaker) == "half_open"
    trying.close()
    assert await breaker.call(answer) == "answer"
    assert state_of(breaker) == "closed"


async def test_cancelled_calls_say_nothing_about_the_store(breaker: Breaker) -> None:
    for _ in range(10):
        waiting = asyncio.create_task(breaker.call(hang))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    assert state_of(breaker) == "closed"


async def test_calls_that_began_before_it_opened_decide_nothing_when_they_end(breaker: Breaker, watch: Watch) -> None:
    gates = [asyncio.Event(), asyncio.Event()]

    async def late_answer() -> str:
        await gates[0].wait()
        return "late"

    async def late_failure() -> str:
        await gates[1].wait()
        raise MemoryUnavailable("late")

    answering, failing = (asyncio.create_task(breaker.call(call)) for call in (late_answer, late_failure))
    await asyncio.sleep(0)
    await make_open(breaker)
    gates[0].set()
    assert await answering == "late"
    assert state_of(breaker) == "open"
    watch.seconds = 20
    assert await breaker.call(answer) == "answer"
    gates[1].set()
    with pytest.raises(MemoryUnavailable, match="late"):
        await failing
    await make_fail(breaker, 2)
    assert state_of(breaker) == "closed"


async def test_of_calls_that_fail_side_by_side_one_counts(breaker: Breaker) -> None:
    for number in range(1, LIMITS.max_failures + 1):
        assert state_of(breaker) == "closed"
        done = await asyncio.gather(*(breaker.call(hang) for _ in range(50)), return_exceptions=True)
        assert [type(one) for one in done] == [MemoryUnavailable] * 50, number
    assert state_of(breaker) == "open"


async def test_a_failure_of_a_call_that_ran_while_another_was_answered_says_nothing(breaker: Breaker) -> None:
    for _ in range(10):
        hanging = asyncio.create_task(breaker.call(hang))
        await asyncio.sleep(0)
        assert await breaker.call(answer) == "answer"
        with pytest.raises(MemoryUnavailable, match="within 50 ms"):
            await hanging
    assert state_of(breaker) == "closed"
