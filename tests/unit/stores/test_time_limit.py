"""One time limit for many calls: each has its own time, and what somebody else cancels stays cancelled."""

from __future__ import annotations

import asyncio
import time

import pytest

from durable_memory.memory.stores.time_limit import TimeLimit


async def hang(limit: TimeLimit, seconds: float = 30) -> str:
    with limit():
        await asyncio.sleep(seconds)
    return "in time"


async def test_a_call_that_takes_too_long_ends_with_a_timeout_and_its_task_goes_on() -> None:
    limit = TimeLimit(0.02)
    with pytest.raises(TimeoutError):
        await hang(limit)
    assert await hang(limit, 0) == "in time"


async def test_each_call_has_its_own_time() -> None:
    limit = TimeLimit(0.4)

    async def time_of_one() -> float:
        started = time.perf_counter()
        with pytest.raises(TimeoutError):
            await hang(limit)
        return time.perf_counter() - started

    first = asyncio.create_task(time_of_one())
    await asyncio.sleep(0.2)
    second = asyncio.create_task(time_of_one())
    assert min(await asyncio.gather(first, second)) > 0.9 * 0.4


async def test_a_call_is_bounded_also_after_the_one_that_set_the_timer() -> None:
    limit = TimeLimit(0.2)
    assert await hang(limit, 0) == "in time"
    await asyncio.sleep(0.05)
    async with asyncio.timeout(30):
        with pytest.raises(TimeoutError):
            await hang(limit, 60)


async def test_calls_that_hang_together_all_end() -> None:
    limit = TimeLimit(0.02)
    ends = await asyncio.gather(*(hang(limit) for _ in range(5)), return_exceptions=True)
    assert list(map(type, ends)) == [TimeoutError] * 5


async def test_a_cancelled_call_stays_cancelled_and_leaves_nothing() -> None:
    limit = TimeLimit(0.05)
    task = asyncio.create_task(hang(limit))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_who_is_cancelled_while_its_time_ends_is_cancelled() -> None:
    limit = TimeLimit(0.02)

    async def call() -> None:
        with limit():
            try:
                await asyncio.sleep(30)
            finally:
                task.cancel()

    task = asyncio.create_task(call())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_inside_comes_through() -> None:
    limit = TimeLimit(5)
    with pytest.raises(ValueError, match="inside"), limit():
        raise ValueError("inside")


async def test_no_call_ends_as_long_as_others_are_answered() -> None:
    loop = asyncio.get_running_loop()
    answered_at = loop.time()
    limit = TimeLimit(0.4, lambda: answered_at)
    waiting = asyncio.create_task(hang(limit))
    for _ in range(5):
        await asyncio.sleep(0.2)
        answered_at = loop.time()
    assert not waiting.done()
    with pytest.raises(TimeoutError):
        await waiting
    assert loop.time() - answered_at >= 0.4
