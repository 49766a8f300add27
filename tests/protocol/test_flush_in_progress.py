"""R5 to R9 of docs/protocol.md: one batch, taken once, intact or dropped, and the room that is kept for its summary."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable

import pytest

from durable_memory.testing.contracts.builders import tiny, user
from durable_memory.testing.contracts.driven import Driven
from durable_memory.testing.contracts.rigs import StoreRig, drive


async def append_abc(memory: Driven) -> list[str]:
    return await memory.append_each(user("a", 1), user("b", 1), user("c", 1))


async def test_r5_a_second_attempt_of_a_round_gets_the_same_batch(memory: Driven) -> None:
    await append_abc(memory)
    first = await memory.batch("flusher/1")
    await memory.append(user("d", 1))
    second = await memory.batch("flusher/1")
    assert second == first
    assert await memory.summarise(first) == "a b"
    assert (await memory.commit(second)).outcome == "committed"
    assert await memory.texts() == ["a b", "c", "d"]
    assert (await memory.read()).omitted_messages == 0


async def test_r5_a_second_attempt_after_the_commit_is_told_that_the_round_is_done(memory: Driven) -> None:
    await append_abc(memory)
    committed = await memory.flush("flusher/1")
    await memory.append(user("d", 1), user("e", 1))
    again = await memory.refused_begin("flusher/1")
    assert (again.outcome, again.summary_id) == ("committed", committed.summary_id)
    assert await memory.texts() == ["a b", "c", "d", "e"]


async def test_r6_a_commit_whose_reply_was_lost_adds_its_summary_once(memory: Driven) -> None:
    await append_abc(memory)
    batch = await memory.batch("flusher/1")
    await memory.summarise(batch)
    lost = await memory.commit(batch)
    again = await memory.commit(batch)
    assert (again.outcome, again.summary_id, again.removed_ids) == ("committed", lost.summary_id, lost.removed_ids)
    assert await memory.texts() == ["a b", "c"]


async def test_r6_a_commit_repeated_during_the_next_round_leaves_that_round_alone(memory: Driven) -> None:
    await append_abc(memory)
    batch = await memory.batch("flusher/1")
    await memory.summarise(batch)
    await memory.commit(batch)
    await memory.append(user("d", 1), user("e", 1))
    following = await memory.batch("flusher/2")
    assert await memory.summarise(following) == "a b c d"
    assert (await memory.commit(batch)).outcome == "committed"
    assert await memory.texts() == ["a b", "c", "d", "e"]
    assert (await memory.commit(following)).outcome == "committed"
    assert await memory.texts() == ["a b c d", "e"]


async def test_r7_what_was_evicted_during_the_flush_is_covered_once_and_counted_right(memory: Driven) -> None:
    await append_abc(memory)
    batch = await memory.batch()
    assert (await memory.append(user("d", 1))).evicted == 1
    assert await memory.summarise(batch) == "a b"
    await memory.commit(batch)
    view = await memory.read()
    assert (await memory.texts(), view.omitted_messages, view.omitted_tokens) == (["a b", "c", "d"], 0, 0)
    await memory.check_counters()


Intrusion = Callable[[Driven, list[str]], Awaitable[object]]

INTRUSIONS: dict[str, Intrusion] = {
    "delete": lambda memory, ids: memory.delete(ids[1]),
    "write": lambda memory, _: memory.write(user("w", 1)),
    "clear": lambda memory, _: memory.clear(),
}


@pytest.mark.parametrize("intrusion", INTRUSIONS)
async def test_r8_a_summary_never_brings_back_what_was_removed_meanwhile(memory: Driven, intrusion: str) -> None:
    ids = await append_abc(memory)
    batch = await memory.batch()
    assert await memory.summarise(batch) == "a b"
    await INTRUSIONS[intrusion](memory, ids)
    left = await memory.texts()
    assert "b" not in left
    assert (await memory.commit(batch)).outcome in {"gone", "stale"}
    assert await memory.texts() == left
    await memory.append(user("d", 1), user("e", 1), user("f", 1))
    assert "b" not in " ".join(await memory.content_texts(await memory.batch("flusher/2"))).split()


async def test_r8_deleting_a_batched_summary_drops_the_batch(memory: Driven) -> None:
    await append_abc(memory)
    first = await memory.flush("flusher/1")
    await memory.append(user("d", 1), user("e", 1))
    batch = await memory.batch("flusher/2")
    assert await memory.summarise(batch) == "a b c d"
    await memory.delete(str(first.summary_id))
    assert (await memory.commit(batch)).outcome == "stale"
    assert await memory.texts() == ["c", "d", "e"]


async def test_r8_deleting_a_batched_message_that_was_evicted_meanwhile_drops_the_batch(memory: Driven) -> None:
    ids = await append_abc(memory)
    batch = await memory.batch()
    await memory.append(user("d", 1))
    await memory.delete(ids[0])
    assert await memory.store.content(memory.memory, batch, 0) == "stale"
    assert (await memory.stats()).flushing_owner is None


async def test_r9_a_commit_fits_and_hides_nothing_that_came_during_the_flush(memory: Driven) -> None:
    await append_abc(memory)
    batch = await memory.batch()
    await memory.append(user("d", 1), user("e", 1), user("f", 1))
    assert await memory.texts() == ["d", "e", "f"]
    assert await memory.summarise(batch) == "a b"
    committed = await memory.commit(batch)
    view = await memory.read()
    assert (await memory.texts(), view.tokens, committed.tokens_after) == (["a b", "d", "e", "f"], 4, 4)
    assert (view.omitted_messages, await memory.waiting()) == (1, ["c"])


async def test_r9_messages_never_borrow_the_room_of_the_summary(memory: Driven) -> None:
    for number in range(8):
        assert (await memory.append(user(str(number), 1))).tokens <= 3
    await memory.flush()
    assert (await memory.append(user("x", 1), user("y", 1), user("z", 1))).tokens == 4
    assert (await memory.append(user("q", 1))).tokens == 4


async def test_r9_the_last_message_is_kept_for_the_summary_too(rig: StoreRig) -> None:
    memory = drive(rig, tiny(max_tokens=100, summary_tokens=10, max_messages=3, due_messages=2, target_messages=0))
    await memory.append(user("a", 1), user("b", 1))
    batch = await memory.batch()
    await memory.append(user("c", 1), user("d", 1), user("e", 1))
    await memory.summarise(batch)
    assert (await memory.commit(batch)).messages_after == 3
    assert await memory.texts() == ["a b", "d", "e"]


async def test_r9_summaries_that_outgrow_their_room_are_summarised_together(memory: Driven) -> None:
    for flush in range(4):
        await memory.append(*(user(f"{flush}{name}", 1) for name in "abc"))
        batch = await memory.batch(f"flusher/{flush}")
        await memory.summarise(batch)
        await memory.commit(batch)
        view = await memory.read()
        assert view.tokens <= 4
        assert [entry.section for entry in view.entries].count("long_term") == 1
    summary = json.loads((await memory.read()).entries[0].payload)["content"].split()
    everything = [f"{flush}{name}" for flush in range(4) for name in "abc"]
    assert [*summary, *(await memory.texts())[1:]] == everything


async def test_r9_a_batch_never_allows_a_summary_larger_than_its_room(memory: Driven) -> None:
    await append_abc(memory)
    batch = await memory.batch()
    assert batch.summary_max == memory.limits.summary_tokens
