"""A flush that is stopped at any step and tried again gives one summary, and loses nothing."""

from __future__ import annotations

import asyncio
import gc
from typing import Any, Literal

import pytest

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.port import Store
from durable_memory.memory.stores.values import Batch, FlushOptions
from durable_memory.memory.types import FlushResult
from tests.integration.flushing.scene import Gated, Scene, Step, wrapped

_STEPS: tuple[Step, ...] = ("begin", "content", "draft", "commit")
_WHEN: tuple[Literal["before", "after"], ...] = ("before", "after")

stopped_anywhere = pytest.mark.parametrize(("step", "when"), [(step, when) for step in _STEPS for when in _WHEN])


def breaks(store: Store, step: Step, when: Literal["before", "after"]) -> Store:
    """A store whose connection breaks once at a step: before it is sent, or when its reply is due."""
    broken = False

    async def once(*arguments: Any, **keywords: Any) -> Any:
        nonlocal broken
        first, broken = not broken, True
        if first and when == "before":
            raise MemoryUnavailable("the connection broke")
        answer = await getattr(store, step)(*arguments, **keywords)
        if first:
            raise MemoryUnavailable("the connection broke")
        return answer

    return wrapped(store, {step: once})


async def by_steps(scene: Scene, store: Store) -> FlushResult:
    """One attempt of each step, as a worker makes them that dies with its first error: nothing is given back."""
    flush = scene.flush(store=store)
    begun = await flush.begin(scene.memory, "round-1", scene.limits, FlushOptions(), attempt_ends_ms=scene.soon())
    if isinstance(begun, FlushResult):
        return begun
    assert await flush.summarize(scene.memory, begun, scene.limits) is None
    return await flush.commit(scene.memory, begun, scene.limits, deadline_ms=scene.soon())


@stopped_anywhere
async def test_a_round_that_dies_at_a_step_is_finished_by_its_next_attempt(
    scene: Scene, step: Step, when: Literal["before", "after"]
) -> None:
    texts = await scene.fill()
    with pytest.raises(MemoryUnavailable):
        await by_steps(scene, breaks(scene.store, step, when))
    result = await by_steps(scene, scene.store)
    assert result.outcome == "committed"
    assert [summary.id for summary in await scene.summaries()] == [result.summary_id]
    await scene.check_one_summary_and_no_loss(texts)


@stopped_anywhere
async def test_a_round_that_died_at_a_step_gives_way_to_another_once_its_lease_has_ended(
    scene: Scene, step: Step, when: Literal["before", "after"]
) -> None:
    texts = await scene.fill()
    with pytest.raises(MemoryUnavailable):
        await by_steps(scene, breaks(scene.store, step, when))
    await scene.expire_lease()
    other = await scene.run("another")
    # Where the commit's reply was lost, the flush is done and nothing is left to do.
    assert other.outcome == ("nothing" if (step, when) == ("commit", "after") else "committed")
    await scene.check_one_summary_and_no_loss(texts)


@stopped_anywhere
async def test_a_whole_flush_that_fails_at_a_step_may_be_called_again(
    scene: Scene, step: Step, when: Literal["before", "after"]
) -> None:
    texts = await scene.fill()
    with pytest.raises(MemoryUnavailable):
        await scene.run("manual", store=breaks(scene.store, step, when))
    result = await scene.run("manual", force=True)
    assert result.outcome == "committed"
    assert [summary.id for summary in await scene.summaries()] == [result.summary_id]
    await scene.check_one_summary_and_no_loss(texts)


async def test_after_the_commit_the_same_owner_gets_the_same_answer_and_nothing_changes(scene: Scene) -> None:
    await scene.fill()
    result = await scene.run("manual")
    before = await scene.state()
    again = await scene.run("manual")
    assert (again.outcome, again.summary_id, again.removed_ids) == (
        result.outcome,
        result.summary_id,
        result.removed_ids,
    )
    assert await scene.state() == before


@stopped_anywhere
async def test_a_flush_cancelled_at_a_step_gives_the_lease_back_at_once(
    scene: Scene, step: Step, when: Literal["before", "after"]
) -> None:
    texts = await scene.fill()
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*arguments: Any, **keywords: Any) -> Any:
        if when == "before":
            reached.set()
            await go_on.wait()
        answer = await getattr(scene.store, step)(*arguments, **keywords)
        reached.set()
        await go_on.wait()
        return answer

    running = asyncio.create_task(scene.run("cancelled", store=wrapped(scene.store, {step: slow})))
    await reached.wait()
    running.cancel()
    asyncio.get_running_loop().call_soon(go_on.set)
    with pytest.raises(asyncio.CancelledError):
        await running
    committed = (step, when) == ("commit", "after")
    assert len(await scene.summaries()) == (1 if committed else 0)
    assert (await scene.run("next")).outcome == ("nothing" if committed else "committed")
    await scene.check_one_summary_and_no_loss(texts)


async def test_a_flush_cancelled_while_it_is_giving_back_still_gives_back(scene: Scene) -> None:
    texts = await scene.fill()
    failing, go_on, failed = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def slow_fail(*arguments: Any, **keywords: Any) -> Any:
        failing.set()
        await go_on.wait()
        answer = await scene.store.fail(*arguments, **keywords)
        failed.set()
        return answer

    summarizer = Gated()
    store = wrapped(scene.store, {"fail": slow_fail})
    running = asyncio.create_task(scene.run("cancelled", summarizer=summarizer, store=store))
    await summarizer.reached.wait()
    running.cancel()
    await failing.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    go_on.set()
    await failed.wait()
    assert (await scene.run("next")).outcome == "committed"
    await scene.check_one_summary_and_no_loss(texts)


async def test_a_store_that_does_not_take_the_lease_back_holds_nobody_up(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    await scene.fill()
    monkeypatch.setattr("durable_memory.memory.flushing.steps._GIVE_BACK_SECONDS", 0.05)

    async def never(*_: Any, **__: Any) -> Any:
        await asyncio.Event().wait()

    summarizer = Gated()
    running = asyncio.create_task(
        scene.run("cancelled", summarizer=summarizer, store=wrapped(scene.store, {"fail": never}))
    )
    await summarizer.reached.wait()
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await scene.expire_lease()
    assert (await scene.run("next")).outcome == "committed"


@pytest.mark.parametrize("steps", [("begin",), ("draft", "fail")])
async def test_whatever_fails_last_the_flush_ends_with_its_first_error_and_no_trace_shows_a_text(
    scene: Scene, caplog: pytest.LogCaptureFixture, steps: tuple[str, ...]
) -> None:
    await scene.fill()

    def broken(step: str) -> Any:
        async def fails(*_: Any, **__: Any) -> Any:
            raise RuntimeError(f"{step} failed")

        return fails

    gc.collect()
    caplog.clear()  # of what earlier tests left
    with pytest.raises(RuntimeError, match=f"^{steps[0]} failed$"):
        await scene.run("broken", store=wrapped(scene.store, {step: broken(step) for step in steps}))
    await asyncio.sleep(0)
    gc.collect()  # a task whose error nobody looked at logs it with its trace when it goes
    expected = ["the lease of a flush could not be given back (RuntimeError)"] if "fail" in steps else []
    assert caplog.messages == expected


async def test_a_late_duplicate_of_each_step_after_the_commit_changes_nothing(scene: Scene) -> None:
    texts = await scene.fill()
    batch: Batch = await scene.begin("round-1")
    flush = scene.flush()
    assert await flush.summarize(scene.memory, batch, scene.limits) is None
    committed = await flush.commit(scene.memory, batch, scene.limits, deadline_ms=scene.soon())
    before = await scene.state()
    assert await flush.summarize(scene.memory, batch, scene.limits) == "stale"
    again = await flush.commit(scene.memory, batch, scene.limits, deadline_ms=scene.soon())
    assert (again.outcome, again.summary_id) == ("committed", committed.summary_id)
    assert await flush.fail(scene.memory, batch, error_type="Late", retry_after_ms=60_000) == "stale"
    assert await scene.state() == before
    await scene.check_one_summary_and_no_loss(texts)
