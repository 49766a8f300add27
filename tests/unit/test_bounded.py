"""Work on many things ends with the first error, as it was raised."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory.memory.bounded import for_each


async def by_cause(_: int) -> None:
    try:
        raise OSError("no route")  # noqa: TRY301 - what is tested
    except OSError as error:
        raise ValueError("told") from error


async def by_context(_: int) -> None:
    try:
        raise OSError("no route")  # noqa: TRY301 - what is tested
    except OSError:
        raise ValueError("met on the way")  # noqa: B904 - what is tested


async def test_the_first_error_keeps_its_cause() -> None:
    with pytest.raises(ValueError, match="told") as raised:
        await for_each([1], by_cause, at_once=1)
    assert isinstance(raised.value.__cause__, OSError)


async def test_the_first_error_keeps_its_context() -> None:
    with pytest.raises(ValueError, match="met on the way") as raised:
        await for_each([1], by_context, at_once=1)
    assert isinstance(raised.value.__context__, OSError)
    assert not raised.value.__suppress_context__


async def test_no_other_work_goes_on_when_the_error_is_told() -> None:
    ended: list[int] = []

    async def work(number: int) -> None:
        if number == 0:
            raise ValueError("the first")
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(number)

    with pytest.raises(ValueError, match="the first"):
        await for_each(range(1, -1, -1), work, at_once=2)
    assert ended == [1]
