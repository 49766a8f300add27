"""Scenes of users' workflows: each way to end, and each way to use a memory."""

from __future__ import annotations

from durable_memory import MemoryRef
from durable_memory.activities import wire
from tests.histories.flows import RESOURCE, Borrowed, Ending, Methods, Turns
from tests.histories.stage import Runs, Stage, activity_runs, failed, has_event
from tests.integration.temporal.observing import activities_of, eventually


async def returns(stage: Stage) -> Runs:
    """A run that used a memory, and one that did not."""
    using = await stage.start(Ending.run, "returns", "return", name="returns")
    idle = await stage.start(Ending.run, "idles", "idle", name="idles")
    await using.result()
    await idle.result()
    return {"ending-return": using, "ending-return-without-memory": idle}


async def fails(stage: Stage) -> Runs:
    """A run that fails."""
    handle = await stage.start(Ending.run, "fails", "fail", name="fails")
    await failed(handle)
    return {"ending-failure": handle}


async def is_cancelled(stage: Stage) -> Runs:
    """Runs that are cancelled while they wait, and in an activity."""
    waits = await stage.start(Ending.run, "waits", "wait", name="waits")
    works = await stage.start(Ending.run, "works", "wait in an activity", name="works")
    # The append has come back, and the task in which the run began to wait is done.
    await eventually(lambda: has_event(waits, "activity_task_completed_event_attributes"))
    await eventually(lambda: activity_runs(works, "wait_for_cancellation"))
    for handle in (waits, works):
        await handle.cancel()
        await failed(handle)
    return {"ending-cancel": waits, "ending-cancel-in-an-activity": works}


async def continues_as_new(stage: Stage) -> Runs:
    """A run that used a memory, and the next one, which did not."""
    first = await stage.start(Ending.run, "continues", "continue as new", name="continues")
    last = await stage.latest("continues")
    assert wire.CLEANUP in await activities_of(last)
    return {"ending-continue-as-new": first, "ending-return-after-continue-as-new": last}


async def talks(stage: Stage) -> Runs:
    """Turns by reference, with a handle and without."""
    turns = await stage.start(Turns.run, "turns", ["Where is it?", "And now?"], name="turns")
    borrowed = await stage.start(Borrowed.run, MemoryRef(RESOURCE, key="borrowed"), "Where is it?", name="borrowed")
    await turns.result()
    await borrowed.result()
    return {"turns-by-reference": turns, "turn-by-a-borrowed-reference": borrowed}


async def calls_each_method(stage: Stage) -> Runs:
    """Every method of the handle."""
    handle = await stage.start(Methods.run, "methods", name="methods")
    await handle.result()
    return {"methods-of-the-handle": handle}


SCENES = (returns, fails, is_cancelled, continues_as_new, talks, calls_each_method)
