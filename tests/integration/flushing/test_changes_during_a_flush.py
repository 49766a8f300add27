"""What happens to a memory while it is flushed: appends stay, deletes are final, a late commit changes nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from durable_memory.memory.types import Message, ToolCall
from durable_memory.testing.contracts.rigs import RedisRig
from tests.integration.flushing.scene import Gated, Scene

_WORD = "Zanzibar"


async def test_appends_during_a_slow_summary_all_stay(scene: Scene) -> None:
    texts = await scene.fill()
    summarizer = Gated()
    running = asyncio.create_task(scene.run(summarizer=summarizer))
    await summarizer.reached.wait()
    news = [f"News {i}" for i in range(20)]
    for text in news:
        await scene.append(Message.user(text))
    summarizer.gate.set()
    assert (await running).outcome == "committed"
    # Some of them may wait for the next summary; none is lost, none is summarised yet.
    view, omitted_messages, *_ = await scene.state()
    shown = [message.text for message in view if message.section == "short_term"]
    assert len(shown) + omitted_messages == 20 + len(texts) - int(str(view[0].metadata["covers_messages"]))
    assert shown == (texts + news)[-len(shown) :]
    assert (await scene.run("next", force=True)).outcome == "committed"
    assert (await scene.state())[1] == 0


async def _everything_in_redis(raw: Any) -> bytes:
    found: list[bytes] = []
    async for key in raw.scan_iter(match="*", count=1_000):
        found.append(key)
        match await raw.type(key):
            case b"hash":
                found += [part for pair in (await raw.hgetall(key)).items() for part in pair]
            case b"zset":
                found += await raw.zrange(key, 0, -1)
            case b"string":
                found.append(await raw.get(key) or b"")
            case b"set":
                found += await raw.smembers(key)
            case b"list":
                found += await raw.lrange(key, 0, -1)
            case b"none":
                pass  # another test's key that ended since it was listed
            case other:
                pytest.fail(f"a key of type {other!r} is not searched")
    return b"\n".join(found)


@pytest.mark.parametrize("drafted", [False, True])
async def test_a_word_deleted_during_a_flush_is_nowhere_in_redis_afterwards(
    redis_rig: RedisRig, *, drafted: bool
) -> None:
    scene = Scene(redis_rig)
    secret = await scene.append(Message.user(f"My sister {_WORD} has code 4711."))
    texts = await scene.fill()
    batch = await scene.begin()
    flush = scene.flush()
    assert not drafted or await flush.summarize(scene.memory, batch, scene.limits) is None
    assert (await _everything_in_redis(redis_rig.raw)).count(_WORD.encode()) == (2 if drafted else 1)

    deleted = await scene.store.delete(scene.memory, secret.ids, scene.operation(), scene.limits)
    assert deleted.removed == secret.ids
    assert _WORD.encode() not in await _everything_in_redis(redis_rig.raw)

    assert await flush.summarize(scene.memory, batch, scene.limits) == "stale"
    assert (await flush.commit(scene.memory, batch, scene.limits, deadline_ms=scene.soon())).outcome == "stale"
    assert (await scene.run("next")).outcome == "committed"
    assert _WORD.encode() not in await _everything_in_redis(redis_rig.raw)
    await scene.check_one_summary_and_no_loss(texts)


async def test_a_whole_flush_during_which_a_message_is_deleted_ends_stale_without_its_word(scene: Scene) -> None:
    secret = await scene.append(Message.user(f"My sister {_WORD} has code 4711."))
    await scene.fill()
    summarizer = Gated()
    running = asyncio.create_task(scene.run(summarizer=summarizer))
    await summarizer.reached.wait()
    await scene.store.delete(scene.memory, secret.ids, scene.operation(), scene.limits)
    summarizer.gate.set()
    assert (await running).outcome == "stale"
    assert (await scene.run("next")).outcome == "committed"
    assert all(_WORD not in message.text for message in await scene.messages())


@pytest.mark.parametrize("end", ["cleared", "expired"])
@pytest.mark.parametrize("born_again", [False, True])
async def test_a_late_commit_after_the_end_of_a_memory_changes_nothing(
    scene: Scene, end: str, *, born_again: bool
) -> None:
    await scene.fill()
    flush = scene.flush()
    batch = await scene.begin()
    assert await flush.summarize(scene.memory, batch, scene.limits) is None
    if end == "cleared":
        await scene.store.clear(scene.memory, scene.operation(), mode="read-write")
    else:
        await scene.expire()
    for text in ["Hello again", "Who is there?"] if born_again else []:
        await scene.append(Message.user(text))
    before = await scene.state()

    expected = "stale" if born_again else "gone"
    assert await flush.summarize(scene.memory, batch, scene.limits) == expected
    late = await flush.commit(scene.memory, batch, scene.limits, deadline_ms=scene.soon())
    assert (late.outcome, late.removed_ids, late.summary_id) == (expected, (), None)
    assert await flush.fail(scene.memory, batch, error_type="Late", retry_after_ms=60_000) == expected
    assert await scene.state() == before


async def test_a_whole_flush_during_which_the_memory_is_cleared_ends_gone(scene: Scene) -> None:
    await scene.fill()
    summarizer = Gated()
    running = asyncio.create_task(scene.run(summarizer=summarizer))
    await summarizer.reached.wait()
    await scene.store.clear(scene.memory, scene.operation(), mode="read-write")
    summarizer.gate.set()
    assert (await running).outcome == "gone"
    assert await scene.messages() == []


async def test_a_late_result_during_a_flush_follows_its_call_into_the_next_summary(scene: Scene) -> None:
    scene = scene.with_limits(target_tokens=0)
    await scene.append(Message.assistant(tool_calls=[ToolCall("c1", "weigh")]))
    await scene.fill()
    summarizer = Gated()
    running = asyncio.create_task(scene.run(summarizer=summarizer))
    await summarizer.reached.wait()
    await scene.append(Message.tool("The piano weighs 240 kilos.", "c1"))
    summarizer.gate.set()
    first = await running
    assert (first.outcome, first.flush_due) == ("committed", True)
    assert all(message.role != "tool" for message in await scene.messages())
    assert (await scene.run("next")).outcome == "committed"
    assert any("240 kilos" in summary.text for summary in await scene.summaries())
