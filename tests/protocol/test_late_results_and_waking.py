"""R10 to R15 of docs/protocol.md: late results, when a flush is due, who learns of it, and an end to all waiting."""

from __future__ import annotations

import pytest

from durable_memory.memory.errors import MemoryBackpressure, MemoryOrphanResult, MemoryOversize
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.testing.contracts.builders import call, dropping, result, tiny, user
from durable_memory.testing.contracts.driven import Driven, fresh_memory
from durable_memory.testing.contracts.rigs import StoreRig, drive

FLUSH_AT_TWO: Limits = tiny(due_tokens=2, target_tokens=0, ttl_ms=60_000)


@pytest.fixture
def limits() -> Limits:
    """A flush is due at 2 tokens and leaves none, so that it takes an open group too."""
    return FLUSH_AT_TWO


async def call_in_a_batch(memory: Driven) -> None:
    await memory.append(user("a", 1), call("C", "1", tokens=1))


async def test_r10_a_result_that_comes_before_the_commit_of_its_call_follows_it(memory: Driven) -> None:
    await call_in_a_batch(memory)
    batch = await memory.batch()
    assert await memory.summarise(batch) == "a C"
    assert (await memory.append(result("r", "1", 1))).late == 0
    committed = await memory.commit(batch)
    view = await memory.read()
    assert (await memory.texts(), view.omitted_messages, view.omitted_tokens) == (["a C"], 1, 1)
    assert (committed.tokens_after, committed.messages_after) == (1, 1)
    assert await memory.waiting() == ["r"]


async def test_r10_a_result_that_comes_after_the_commit_of_its_call_follows_it(memory: Driven) -> None:
    await call_in_a_batch(memory)
    await memory.flush()
    appended = await memory.append(result("r", "1", 1))
    view = await memory.read()
    assert (appended.late, await memory.texts(), view.omitted_messages) == (1, ["a C"], 1)
    assert await memory.waiting() == ["r"]


async def test_r10_a_late_result_is_part_of_the_next_summary(memory: Driven) -> None:
    await call_in_a_batch(memory)
    await memory.flush("flusher/1")
    await memory.append(result("r", "1", 1))
    await memory.flush("flusher/2")
    assert await memory.texts() == ["a C r"]
    with pytest.raises(MemoryOrphanResult):
        await memory.append(result("again", "1", 1))


async def test_r10_a_late_result_of_a_memory_that_drops_is_dropped_and_counted(rig: StoreRig) -> None:
    memory = drive(rig, dropping(due_tokens=20, target_tokens=0))
    await memory.append(user("a"), call("C", "1"))
    await memory.drop()
    appended = await memory.append(result("r", "1"))
    assert (appended.late, appended.messages, await memory.texts()) == (1, 0, [])


async def test_r10_a_result_for_a_call_never_seen_is_refused(memory: Driven) -> None:
    await call_in_a_batch(memory)
    with pytest.raises(MemoryOrphanResult):
        await memory.append(result("r", "2", 1))


async def test_r11_a_late_result_alone_makes_a_flush_due(memory: Driven) -> None:
    await call_in_a_batch(memory)
    await memory.flush("flusher/1")
    assert (await memory.read()).flush_due is False
    assert (await memory.append(result("r", "1", 1))).flush_due is True
    assert ((await memory.read()).flush_due, (await memory.stats()).flush_due) == (True, True)
    assert await memory.content_texts(await memory.batch("flusher/2")) == ["a C", "r"]


async def test_r12_a_retry_is_told_that_a_flush_is_due_though_it_is_no_crossing(memory: Driven) -> None:
    lost = await memory.append(user("a", 1), user("b", 1), op="one")
    again = await memory.append(user("a", 1), user("b", 1), op="one")
    assert (lost.flush_due, again.already_applied, again.flush_due) == (True, True, True)
    assert (await memory.append(user("c", 1))).flush_due is True


async def test_r12_a_retry_is_told_also_while_a_lease_is_held(memory: Driven) -> None:
    await memory.append(user("a", 1), user("b", 1), op="one")
    await memory.batch("a duplicate whose reply was lost")
    assert (await memory.append(user("a", 1), user("b", 1), op="one")).flush_due is True
    assert (await memory.append(user("c", 1))).flush_due is True


async def test_r12_who_is_refused_by_a_full_overflow_can_wake_the_flusher(memory: Driven) -> None:
    for number in range(11):
        await memory.append(user(str(number), 1))
    with pytest.raises(MemoryBackpressure):
        await memory.append(user("one more", 1))
    assert (await memory.stats()).flush_due is True
    await memory.flush()
    assert (await memory.append(user("one more", 1))).already_applied is False


async def test_r12_a_write_and_a_repeated_write_tell_that_a_flush_is_due(memory: Driven) -> None:
    assert (await memory.write(user("a", 1), user("b", 1), op="one")).flush_due is True
    assert (await memory.write(user("a", 1), user("b", 1), op="one")).flush_due is True


async def test_r12_a_commit_that_leaves_a_late_result_tells_that_a_flush_is_due(rig: StoreRig) -> None:
    memory = drive(rig, tiny(due_tokens=9, target_tokens=0, open_group_ms=0))
    await memory.append(user("a", 1), call("C", "1", tokens=1))
    batch = await memory.batch("by hand", force=True)
    assert await memory.summarise(batch) == "a C"
    await memory.append(result("r", "1", 1))
    committed = await memory.commit(batch)
    assert (committed.flush_due, (await memory.commit(batch)).flush_due) == (True, True)


async def test_r13_what_is_appended_after_the_flusher_found_nothing_is_found_by_its_next_look(memory: Driven) -> None:
    await memory.append(user("a", 1))
    assert (await memory.refused_begin("flusher/1")).outcome == "nothing"
    assert (await memory.append(user("b", 1))).flush_due is True
    assert await memory.content_texts(await memory.batch("flusher/2")) == ["a", "b"]


async def test_r14_a_sweep_finds_what_is_due_though_nobody_was_woken(rig: StoreRig) -> None:
    project = fresh_memory().key.replace(":", "-")
    due, idle = (drive(rig, FLUSH_AT_TWO, MemoryId(project, "desk", key)) for key in ("due", "idle"))
    for memory in (due, idle):
        await rig.backend.index.register(memory.memory, None)
    await due.append(user("a", 1), user("b", 1))
    await idle.append(user("a", 1))

    async def sweep() -> list[MemoryId]:
        limits = FLUSH_AT_TWO
        candidates = await rig.backend.index.registered(project, None, 100)
        return [one for one in candidates.memories if (await rig.backend.store.stats(one, limits)).flush_due]

    assert await sweep() == [due.memory]
    await due.flush()
    assert await sweep() == []
    await idle.append(user("b", 1))
    assert await sweep() == [idle.memory]


async def test_r15_giants_inside_keep_last_pass_after_a_flush(rig: StoreRig) -> None:
    memory = drive(rig, tiny(keep_last=1, due_tokens=2, target_tokens=0))
    refused = 0
    for number in range(12):
        giant = user(str(number), 3)
        try:
            await memory.append(giant)
        except MemoryBackpressure:
            refused += 1
            await memory.flush(f"flusher/{number}")
            await memory.append(giant)
    assert refused > 0
    assert (await memory.texts())[-1] == "11"


async def test_r15_a_group_that_grows_inside_keep_last_passes_or_is_refused_for_good(rig: StoreRig) -> None:
    memory = drive(rig, tiny(keep_last=1, due_tokens=2, target_tokens=0))
    await memory.append(call("C", "1", tokens=2))
    with pytest.raises(MemoryOversize):
        await memory.append(result("long", "1", 2))
    await memory.append(result("r", "1", 1))
    assert await memory.texts() == ["C", "r"]
    assert (await memory.append(user("a", 3))).evicted == 2


@pytest.mark.parametrize("waiting", [0, 5], ids=["empty overflow", "filled overflow"])
async def test_r15_what_would_not_fit_an_empty_overflow_is_refused_for_good(memory: Driven, waiting: int) -> None:
    await memory.append_each(*(user(str(number), 1) for number in range(3 + waiting)))
    before = await memory.state()
    with pytest.raises(MemoryOversize):
        await memory.append(*(user(f"x{number}", 1) for number in range(9)))
    assert await memory.state() == before
    await memory.append(*(user(f"y{number}", 1) for number in range(3)))
