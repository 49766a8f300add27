"""What is counted of a wait: time in which the store was asked and the process listened, and nothing else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import pytest

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.patience import Patience, Wait, current_wait

SECONDS = 0.1


async def is_ended(wait: Callable[[Wait], Awaitable[None]]) -> bool:
    try:
        with Patience(SECONDS)() as call:
            await wait(call)
    except TimeoutError:
        return True
    return False


async def test_patience_ends_what_takes_longer_and_nothing_before() -> None:
    started = time.perf_counter()
    assert await is_ended(lambda _: asyncio.sleep(30))
    assert SECONDS * 0.9 < time.perf_counter() - started < 10
    assert not await is_ended(lambda _: asyncio.sleep(SECONDS / 4))


async def test_a_call_that_begins_later_than_others_has_its_whole_time() -> None:
    patience = Patience(SECONDS)

    async def hang() -> float:
        started = time.perf_counter()
        with pytest.raises(TimeoutError), patience():
            await asyncio.sleep(30)
        return time.perf_counter() - started

    first = asyncio.create_task(hang())
    await asyncio.sleep(SECONDS * 0.15)
    took = await asyncio.gather(first, hang())
    assert min(took) > SECONDS * 0.9


async def test_time_in_which_the_process_does_not_listen_is_not_the_stores() -> None:
    with Patience(SECONDS)():
        for _ in range(3):
            await asyncio.sleep(0)
            time.sleep(SECONDS)  # noqa: ASYNC251 - a busy event loop is what this is about


async def test_an_answer_that_came_in_while_the_process_was_busy_is_taken() -> None:
    answered: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def be_busy_until_it_is_there() -> None:
        await asyncio.sleep(SECONDS * 0.8)
        answered.get_loop().call_later(SECONDS * 0.3, answered.set_result, "there")
        time.sleep(SECONDS)  # noqa: ASYNC251 - the same

    busy = asyncio.create_task(be_busy_until_it_is_there())
    with Patience(SECONDS)():
        assert await answered == "there"
    await busy


async def test_waiting_in_line_takes_none_of_it_while_others_are_answered() -> None:
    answers = 0

    async def be_served() -> None:
        nonlocal answers
        for _ in range(12):
            await asyncio.sleep(SECONDS / 4)
            answers += 1

    with Patience(SECONDS)() as call:
        call.wait_in_line(lambda: answers)
        await be_served()
        call.take_turn()

    async def be_in_a_line_that_stands(call: Wait) -> None:
        call.wait_in_line(lambda: 7)
        await asyncio.sleep(30)

    async def be_no_longer_in_line(call: Wait) -> None:
        call.wait_in_line(lambda: answers)
        call.take_turn()
        await be_served()

    assert await is_ended(be_in_a_line_that_stands)
    assert await is_ended(be_no_longer_in_line)


async def test_a_connection_begins_the_time_anew_once() -> None:
    with Patience(SECONDS)() as call:
        await asyncio.sleep(SECONDS * 0.7)
        call.connected()
        await asyncio.sleep(SECONDS * 0.7)

    async def connect_again_and_again(call: Wait) -> None:
        for _ in range(100):
            await asyncio.sleep(SECONDS / 4)
            call.connected()

    assert await is_ended(connect_again_and_again)


async def test_the_current_wait_is_known_only_inside_its_block() -> None:
    assert current_wait() is None
    with Patience(SECONDS)() as call:
        assert current_wait() is call
    assert current_wait() is None


async def test_what_an_attempt_met_holds_until_the_next_one_is_silent_for_a_slice() -> None:
    wait, met = Patience(1)(), MemoryUnavailable("is a replica")
    wait.tell(met)
    wait.count_slice()
    wait.count_slice()
    between = wait.told
    wait.asks()
    wait.count_slice()
    just_sent = wait.told
    wait.count_slice()
    assert (between, just_sent, wait.told) == (met, met, None)
