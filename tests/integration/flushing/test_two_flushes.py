"""Of two flushes at once one wins and the other is refused; a flush that lost its lease writes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.values import FlushOptions
from durable_memory.memory.types import FlushResult
from tests.integration.flushing.scene import Gated, Scene, wrapped


async def test_of_two_flushes_at_once_one_wins_and_the_other_is_refused(scene: Scene) -> None:
    texts = await scene.fill()
    first = Gated()
    running = asyncio.create_task(scene.run("first", summarizer=first))
    await first.reached.wait()
    refused = await scene.run("second")
    assert refused.outcome == "busy"
    assert refused.retry_after_ms > 0
    first.gate.set()
    assert (await running).outcome == "committed"
    await scene.check_one_summary_and_no_loss(texts)


async def test_ten_flushes_at_once_commit_once_for_the_same_messages(scene: Scene) -> None:
    texts = await scene.fill()
    results = await asyncio.gather(*(scene.run(f"flush-{i}") for i in range(10)))
    assert [result.outcome for result in results].count("committed") == 1
    assert {result.outcome for result in results} <= {"committed", "busy", "nothing"}
    await scene.check_one_summary_and_no_loss(texts)


async def test_two_attempts_of_one_flush_at_once_give_one_summary(scene: Scene) -> None:
    texts = await scene.fill()
    results = await asyncio.gather(scene.run("same"), scene.run("same"))
    assert [result.outcome for result in results] == ["committed", "committed"]
    assert len({result.summary_id for result in results}) == 1
    await scene.check_one_summary_and_no_loss(texts)


async def test_an_attempt_whose_flush_another_attempt_has_committed_answers_its_result(scene: Scene) -> None:
    texts = await scene.fill()
    slow = Gated()
    running = asyncio.create_task(scene.run("same", summarizer=slow))
    await slow.reached.wait()
    committed = await scene.run("same")
    slow.gate.set()
    late = await running
    assert (late.outcome, late.summary_id) == ("committed", committed.summary_id)
    await scene.check_one_summary_and_no_loss(texts)


async def test_a_flush_longer_than_its_lease_keeps_it(scene: Scene) -> None:
    scene = scene.with_limits(lease_ms=2_400)
    texts = await scene.fill()
    renewals = 0

    async def renew(*arguments: Any) -> bool:
        nonlocal renewals
        renewals += 1
        return await scene.store.renew(*arguments)

    summarizer = Gated()
    running = asyncio.create_task(
        scene.run("long", summarizer=summarizer, store=wrapped(scene.store, {"renew": renew}))
    )
    await summarizer.reached.wait()
    owners = set()
    while renewals < 4:  # four thirds of its lifetime
        owners.add((await scene.store.stats(scene.memory, scene.limits)).flushing_owner)
        await asyncio.sleep(0.01)
    assert owners == {"long"}
    await scene.busy()
    summarizer.gate.set()
    assert (await running).outcome == "committed"
    await scene.check_one_summary_and_no_loss(texts)


async def test_losing_the_lease_cancels_the_work(scene: Scene) -> None:
    scene = scene.with_limits(lease_ms=600)
    texts = await scene.fill()
    summarizer = Gated()
    running = asyncio.create_task(scene.run("slow", summarizer=summarizer))
    await summarizer.reached.wait()
    # Another takes over between two renewals.
    await _takeover(scene)
    assert (await running).outcome == "stale"
    assert summarizer.cancelled
    assert await scene.conversation() == texts
    assert await scene.summaries() == []


async def test_a_flush_that_slept_through_its_lease_writes_nothing_after_another_began(scene: Scene) -> None:
    scene = scene.with_limits(lease_ms=600)
    texts = await scene.fill()
    before = await scene.messages()

    async def unreachable(*_: Any) -> bool:
        raise MemoryUnavailable("no renewal gets through")

    summarizer = Gated()
    running = asyncio.create_task(
        scene.run("sleeper", summarizer=summarizer, store=wrapped(scene.store, {"renew": unreachable}))
    )
    await summarizer.reached.wait()
    await _takeover(scene)
    summarizer.gate.set()
    result = await running
    assert (result.outcome, result.summary_id, result.removed_ids) == ("stale", None, ())
    assert await scene.messages() == before
    assert (await scene.run("another")).outcome == "committed"
    await scene.check_one_summary_and_no_loss(texts)


@pytest.mark.parametrize("step", ["draft", "commit"])
async def test_each_later_step_of_a_flush_that_was_overtaken_is_refused(scene: Scene, step: str) -> None:
    texts = await scene.fill()
    flush = scene.flush()
    batch = await scene.begin("overtaken")
    drafted = step == "commit"
    assert not drafted or await flush.summarize(scene.memory, batch, scene.limits) is None
    before = await scene.messages()
    await _takeover(scene)
    assert await flush.summarize(scene.memory, batch, scene.limits) == "stale"
    assert (await flush.commit(scene.memory, batch, scene.limits, deadline_ms=scene.soon())).outcome == "stale"
    assert await scene.messages() == before
    assert (await scene.run("another")).outcome == "committed"
    await scene.check_one_summary_and_no_loss(texts)


async def test_a_lease_that_ended_with_nobody_else_beginning_stops_nobody(scene: Scene) -> None:
    texts = await scene.fill()
    flush = scene.flush()
    batch = await scene.begin("slow")
    assert await flush.summarize(scene.memory, batch, scene.limits) is None
    await scene.expire_lease()
    assert (await flush.commit(scene.memory, batch, scene.limits, deadline_ms=scene.soon())).outcome == "committed"
    await scene.check_one_summary_and_no_loss(texts)


async def _takeover(scene: Scene) -> None:
    """Begins as `another` as soon as the store lets it."""
    while True:
        await scene.expire_lease()
        begun = await scene.flush().begin(
            scene.memory, "another", scene.limits, FlushOptions(), attempt_ends_ms=scene.soon()
        )
        if not isinstance(begun, FlushResult):
            return
