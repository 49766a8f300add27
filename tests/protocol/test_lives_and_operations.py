"""R1 to R4 and R17 of docs/protocol.md: each is played by the shortest schedule that breaks it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from durable_memory.memory.errors import MemoryConflict, MemoryOperationExpired, MemoryOrphanResult
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.values import Operation
from durable_memory.testing.contracts.builders import dropping, result, summary, system, tiny, user
from durable_memory.testing.contracts.driven import Driven
from durable_memory.testing.contracts.rigs import StoreRig, drive

End = Callable[[StoreRig, Driven], Awaitable[object]]

ENDS: dict[str, End] = {
    "expiry": lambda rig, memory: rig.expire(memory),
    "clear": lambda _, memory: memory.clear(),
}
each_end = pytest.mark.parametrize("end", ENDS)


@each_end
async def test_r1_an_old_flush_changes_nothing_in_a_memory_born_again(rig: StoreRig, memory: Driven, end: str) -> None:
    await memory.append(user("a", 1), user("b", 1), user("c", 1))
    old = await memory.batch("flusher/1")
    await memory.summarise(old)
    await ENDS[end](rig, memory)
    await memory.append(user("d", 1), user("e", 1), user("f", 1))
    new = await memory.batch("flusher/1")
    assert await memory.store.draft(memory.memory, old, summary("a b", 1)) == "stale"
    assert (await memory.commit(old)).outcome == "stale"
    assert await memory.texts() == ["d", "e", "f"]
    assert await memory.summarise(new) == "d e"
    assert (await memory.commit(new)).outcome == "committed"
    assert await memory.texts() == ["d e", "f"]


@each_end
async def test_r1_an_old_delete_hits_nothing_in_a_memory_born_again(rig: StoreRig, memory: Driven, end: str) -> None:
    old = (await memory.append(user("a", 1))).ids
    await ENDS[end](rig, memory)
    await memory.append(user("d", 1))
    assert (await memory.delete(*old)).not_found == old
    assert await memory.texts() == ["d"]


@each_end
async def test_r1_an_old_version_never_matches_a_memory_born_again(rig: StoreRig, memory: Driven, end: str) -> None:
    await memory.append(user("a", 1), op="one")
    version = (await memory.read()).version
    await ENDS[end](rig, memory)
    await memory.append(user("b", 1), op="two")
    with pytest.raises(MemoryConflict):
        await memory.write(user("w", 1), if_version=version)
    assert await memory.texts() == ["b"]


async def test_r2_a_late_second_attempt_is_known_however_much_came_between(rig: StoreRig) -> None:
    memory = drive(rig, dropping())
    await memory.append(user("once"), op="one")
    for number in range(300):
        await memory.append(user(str(number), 1))
    before = await memory.texts()
    assert (await memory.append(user("once"), op="one")).already_applied is True
    assert await memory.texts() == before


async def test_r2_a_late_second_clear_leaves_what_came_after_the_first(memory: Driven) -> None:
    await memory.append(user("a", 1))
    await memory.clear(op="clear")
    await memory.append(user("b", 1))
    await memory.clear(op="clear")
    assert await memory.texts() == ["b"]


async def test_r2_an_attempt_after_the_deadline_is_refused(memory: Driven) -> None:
    operation = Operation("one", memory.clock.now_ms() - 1, "digest")
    with pytest.raises(MemoryOperationExpired):
        await memory.store.append(memory.memory, [user("a", 1)], operation, memory.limits)
    assert (await memory.stats()).exists is False


@each_end
async def test_r3_an_old_attempt_brings_nothing_back_after_the_end(rig: StoreRig, memory: Driven, end: str) -> None:
    first = await memory.append(user("a", 1), op="one")
    await ENDS[end](rig, memory)
    second = await memory.append(user("a", 1), op="one")
    assert (second.already_applied, second.ids) == (True, first.ids)
    assert (await memory.stats()).exists is False
    await memory.append(user("b", 1))
    assert (await memory.append(user("a", 1), op="one")).already_applied is True
    assert await memory.texts() == ["b"]


async def test_r4_an_applied_write_never_answers_conflict(memory: Driven) -> None:
    version = (await memory.append(user("a", 1))).version
    first = await memory.write(user("w", 1), op="one", if_version=version)
    second = await memory.write(user("w", 1), op="one", if_version=version)
    assert (second.already_applied, second.ids) == (True, first.ids)


async def test_r4_what_is_refused_at_its_last_message_has_written_nothing(memory: Driven) -> None:
    await memory.append(user("a", 1), user("b", 1), user("c", 1))
    before = await memory.state()
    with pytest.raises(MemoryOrphanResult):
        await memory.append(system("s", 1), user("d", 1), result("r", "never-called", 1), op="one")
    assert await memory.state() == before
    passed = await memory.append(user("d", 1), op="one")
    assert (passed.already_applied, await memory.texts()) == (False, ["b", "c", "d"])


async def test_r17_an_old_commit_finds_no_batch_of_its_own_after_lost_data(rig: StoreRig) -> None:
    memory = drive(rig, _flush_at_two())
    await memory.append(user("d", 1), user("e", 1))
    persisted = await rig.persist(memory)
    await memory.append(user("a", 1))
    old = await memory.batch("flusher/1")
    assert await memory.summarise(old) == "d e a"
    memory = await rig.lose(memory, persisted)
    new = await memory.batch("flusher/1")
    assert (new.incarnation, new.fence, new.flush_id) == (old.incarnation, old.fence, old.flush_id)
    assert await memory.store.draft(memory.memory, old, summary("d e a", 1)) == "stale"
    assert (await memory.commit(old)).outcome == "stale"
    assert await memory.texts() == ["d", "e"]
    assert await memory.summarise(new) == "d e"
    assert (await memory.commit(new)).outcome == "committed"


async def test_r17_a_number_given_out_again_names_another_message_and_version(rig: StoreRig, memory: Driven) -> None:
    await memory.append(user("a", 1))
    persisted = await rig.persist(memory)
    lost = await memory.append(user("b", 1))
    memory = await rig.lose(memory, persisted)
    again = await memory.append(user("c", 1))
    assert again.ids != lost.ids
    assert (await memory.delete(*lost.ids)).not_found == lost.ids
    with pytest.raises(MemoryConflict):
        await memory.write(user("w", 1), if_version=lost.version)
    assert await memory.texts() == ["a", "c"]


def _flush_at_two() -> Limits:
    return tiny(due_tokens=2, target_tokens=0, ttl_ms=60_000)
