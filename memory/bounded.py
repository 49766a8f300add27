"""Work on many things, a few at a time, none of which goes on after the whole has failed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


async def for_each(
    items: Iterable[_Item], work: Callable[[_Item], Awaitable[_Result]], *, at_once: int
) -> list[_Result]:
    """Returns what the work on each item gave, in their order.

    The first error cancels the others, and is raised as it is when they have ended.
    """
    slots = asyncio.Semaphore(at_once)

    async def one(item: _Item) -> _Result:
        async with slots:
            return await work(item)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(item)) for item in items]
        return [task.result() for task in tasks]
    except BaseExceptionGroup as failed:
        first = failed.exceptions[0]
    raise first  # not in the block above, which would make the group its context
