"""A model is opened beside the event loop, with its first question and once."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from durable_memory.memory.flushing.llm.model import Answer, Question
from durable_memory.memory.flushing.llm.opening import OpenedLater

QUESTION = Question("Say something.", "", 10)


class Ready:
    name = "a:model"

    def __init__(self) -> None:
        self.closed = False

    async def ask(self, question: Question) -> Answer:
        return Answer(question.instructions, "complete")

    async def close(self) -> None:
        self.closed = True


async def test_what_takes_long_to_open_holds_up_nobody_and_is_opened_once() -> None:
    loop_goes_on, opened = threading.Event(), list[Ready]()

    def open_model() -> Ready:
        assert loop_goes_on.wait(20)
        opened.append(Ready())
        return opened[-1]

    model = OpenedLater("a:model", open_model)
    asking = [asyncio.create_task(model.ask(QUESTION)) for _ in range(3)]
    await asyncio.sleep(0)
    loop_goes_on.set()
    assert [answer.text for answer in await asyncio.gather(*asking)] == ["Say something."] * 3
    assert len(opened) == 1
    await model.close()
    assert opened[0].closed


async def test_what_could_not_be_opened_is_tried_again() -> None:
    attempts: Iterator[OSError | Ready] = iter([OSError("no file handle is free"), Ready()])

    def open_model() -> Ready:
        result = next(attempts)
        if isinstance(result, OSError):
            raise result
        return result

    model = OpenedLater("a:model", open_model)
    with pytest.raises(OSError, match="no file handle"):
        await model.ask(QUESTION)
    assert (await model.ask(QUESTION)).ending == "complete"
    await OpenedLater("never:asked", open_model).close()
