"""Each call that removes or replaces what is stored leaves exactly one record, whichever way it ends."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from durable_memory import Memory, MemoryClient
from durable_memory.memory.access import Mode
from durable_memory.memory.errors import (
    MemoryAccessDenied,
    MemoryConflict,
    MemoryFault,
    MemoryInvalid,
    MemoryUnavailable,
)
from durable_memory.memory.hashing import memory_hash
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.forwarding import ForwardingStore
from durable_memory.memory.stores.values import Operation
from durable_memory.memory.types import ClearResult, DeleteResult
from tests.integration.audit.conftest import unique
from tests.integration.audit.declared import registry
from tests.integration.audit.recorded import ALWAYS, Recorded
from tests.wrapped_stores import through

Call = Callable[[Memory, str], Awaitable[Any]]

CALLS: dict[str, Call] = {
    "write": lambda memory, op: memory.write(["New.", "Newer."], operation_id=op),
    "delete": lambda memory, op: memory.delete(["0123456789abcdef-1-0000"], operation_id=op),
    "clear": lambda memory, op: memory.clear(confirm=True, operation_id=op),
    "restore": lambda memory, op: memory.restore("", operation_id=op),
    "flush": lambda memory, op: memory.flush(force=True, operation_id=op),
}


async def filled(client: MemoryClient, resource: str = "ring") -> Memory:
    memory = client.memory(resource, unique("user"))
    await memory.append(["One.", "Two.", "Three."])
    return memory


async def restorable(memory: Memory) -> Call:
    """A call that restores a backup of this memory, which it has made."""
    backup = str((await memory.clear(confirm=True, backup=True)).backup_id)
    return lambda one, op: one.restore(backup, operation_id=op)


def known(record: dict[str, Any]) -> dict[str, Any]:
    """A record without what every line has, and where it came from."""
    return {name: value for name, value in record.items() if name not in ALWAYS}


@pytest.mark.parametrize("operation", CALLS)
async def test_a_call_is_recorded_once_and_its_repetition_as_applied_before(
    client: MemoryClient, recorded: Recorded, operation: str
) -> None:
    memory = await filled(client)
    call = await restorable(memory) if operation == "restore" else CALLS[operation]
    recorded.lines.clear()
    await call(memory, "once")
    await call(memory, "once")
    first, again = map(known, recorded.of(client.project))
    common = {
        "operation": operation,
        "project": client.project,
        "resource": "ring",
        "memory_hash": memory_hash(memory.id),
        "caller": "process",
        "operation_hash": first["operation_hash"],
    }
    assert {**common, "outcome": "applied"}.items() <= first.items()
    assert isinstance(first["removed"], int)
    assert again == {**common, "outcome": "already_applied"}


async def test_counts_versions_and_backups_are_those_of_the_call(client: MemoryClient, recorded: Recorded) -> None:
    memory = await filled(client)
    before = (await memory.read()).version
    written = await memory.write(["New.", "Newer."], if_version=before)
    await memory.delete(written.ids[:1])
    cleared = await memory.clear(confirm=True, backup=True)
    restored = await memory.restore(str(cleared.backup_id), if_version="absent")
    await memory.flush(force=True)
    named = {"operation", "outcome", "removed", "added", "version_before", "version_after", "backup_id"}
    assert [{name: one[name] for name in one if name in named} for one in recorded.of(client.project)] == [
        {
            "operation": "write",
            "outcome": "applied",
            "removed": 3,
            "added": 2,
            "version_before": before,
            "version_after": written.version,
        },
        {"operation": "delete", "outcome": "applied", "removed": 1},
        {"operation": "clear", "outcome": "applied", "removed": 1, "backup_id": cleared.backup_id},
        {
            "operation": "restore",
            "outcome": "applied",
            "removed": 0,
            "added": 1,
            "backup_id": cleared.backup_id,
            "version_before": "absent",
            "version_after": restored.version,
        },
        {"operation": "flush", "outcome": "applied", "removed": 1},
    ]


@pytest.mark.parametrize("operation", CALLS)
async def test_what_a_mode_does_not_allow_is_recorded_as_refused(
    client: MemoryClient, recorded: Recorded, operation: str
) -> None:
    memory = client.memory("desk", unique("user"), agent="reader")
    expected = [f"{operation} refused MemoryAccessDenied reader"]
    with pytest.raises(MemoryAccessDenied):
        await CALLS[operation](memory, "once")
    found = [
        f"{one['operation']} {one['outcome']} {one['error']} {one['agent']}" for one in recorded.of(client.project)
    ]
    # A flush of a memory that summarises removes nothing for good.
    assert found == ([] if operation == "flush" else expected)


async def test_a_memory_that_is_denied_is_recorded_though_no_operation_was_named(
    client: MemoryClient, recorded: Recorded
) -> None:
    with pytest.raises(MemoryAccessDenied):
        client.memory("vault", "user:1")
    with pytest.raises(MemoryAccessDenied):
        client.memory("ring", "user:1", agent="reader")
    programs, agents = recorded.of(client.project)
    assert (programs["operation"], programs["outcome"], programs["error"]) == ("open", "refused", "MemoryAccessDenied")
    assert (programs["resource"], agents["resource"], agents["agent"]) == ("vault", "ring", "reader")
    assert agents["memory_hash"] == memory_hash(client.memory("ring", "user:1").id)


@pytest.mark.parametrize("key", [b"user:1", {"user:1"}, object(), 1, "", "a" * 10_000, "\ud800", "user:\n", None])
async def test_a_denied_memory_is_denied_whatever_was_given_as_its_key(
    client: MemoryClient, recorded: Recorded, key: Any
) -> None:
    with pytest.raises(MemoryAccessDenied):
        client.memory("vault", key)
    [record] = recorded.of(client.project)
    assert (record["operation"], record["outcome"], record["resource"]) == ("open", "refused", "vault")
    assert "memory_hash" not in record


async def test_a_denied_memory_has_the_hash_that_it_has_in_other_records(
    client: MemoryClient, recorded: Recorded
) -> None:
    composed = "user:caf\u00e9"
    for key in (composed, "user:cafe\u0301"):
        with pytest.raises(MemoryAccessDenied):
            client.memory("ring", key, agent="reader")
    hashed = memory_hash(client.memory("ring", composed).id)
    assert [record["memory_hash"] for record in recorded.of(client.project)] == [hashed, hashed]


async def test_other_refusals_are_recorded_with_their_type(client: MemoryClient, recorded: Recorded) -> None:
    memory = await filled(client)
    refused: list[tuple[type[MemoryFault], Awaitable[object]]] = [
        (MemoryConflict, memory.write("New.", if_version="absent")),
        (MemoryInvalid, memory.write("New.", if_version="")),
        (MemoryInvalid, memory.delete(["x"], operation_id="")),
        (MemoryInvalid, memory.clear(confirm=False)),
        (MemoryInvalid, memory.restore("nonsense")),
        (MemoryConflict, memory.restore("0" * 16, if_version="absent")),
        (MemoryInvalid, memory.flush(max_messages=0)),
    ]
    for error, call in refused:
        with pytest.raises(error):
            await call
    found = [(one["operation"], one["outcome"], one["error"]) for one in recorded.of(client.project)]
    operations = ["write", "write", "delete", "clear", "restore", "restore", "flush"]
    assert found == [(name, "refused", error.type) for name, (error, _) in zip(operations, refused, strict=True)]
    assert len((await memory.read()).messages) == 3


async def test_what_removes_nothing_by_itself_leaves_no_record(client: MemoryClient, recorded: Recorded) -> None:
    memory = await filled(client)
    appended = await memory.append("Four.")
    await memory.record_turn(["Five.", "Six."])
    await memory.touch(appended.ids)
    await memory.pin(appended.ids)
    await memory.unpin(appended.ids)
    await memory.read()
    await memory.stats()
    await memory.health()
    await memory.flush(force=True, dry_run=True)
    await client.purge("ring")
    await (await filled(client, "desk")).flush(force=True)
    assert recorded.of(client.project) == []


async def test_a_purge_is_recorded_for_each_memory_and_as_a_whole(client: MemoryClient, recorded: Recorded) -> None:
    one, other = await filled(client, "desk"), await filled(client, "desk")
    await other.clear(confirm=True, backup=True)
    recorded.lines.clear()
    before = (await one.read()).version
    assert (await client.purge("desk", prefix="", dry_run=False, confirm=True)).memories == 1
    *each, whole = map(known, recorded.of(client.project))
    by_memory = {record["memory_hash"]: record for record in each}
    common = {"operation": "purge_memory", "outcome": "applied", "project": client.project, "resource": "desk"}
    assert by_memory == {
        (mine := memory_hash(one.id)): {
            **common,
            "caller": "process",
            "memory_hash": mine,
            "removed": 3,
            "backups": 0,
            "version_before": before,
        },
        (its := memory_hash(other.id)): {
            **common,
            "caller": "process",
            "memory_hash": its,
            "removed": 0,
            "backups": 1,
        },
    }
    assert whole == {
        "operation": "purge",
        "outcome": "applied",
        "project": client.project,
        "resource": "desk",
        "caller": "process",
        "removed": 3,
        "memories": 1,
        "backups": 1,
        "by_prefix": False,
    }
    recorded.lines.clear()
    await client.purge("desk", dry_run=False, confirm=True)
    assert recorded.brief(client.project) == ["purge applied"]


async def test_a_purge_that_asks_is_recorded_once_it_was_told_to(client: MemoryClient, recorded: Recorded) -> None:
    await filled(client)
    await client.purge("ring", dry_run=False, confirm=lambda _: False)
    assert recorded.of(client.project) == []

    def interrupted(_: object) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await client.purge("ring", dry_run=False, confirm=interrupted)
    assert recorded.of(client.project) == []
    await client.purge("ring", dry_run=False, confirm=lambda _: True)
    assert recorded.brief(client.project) == ["purge_memory applied", "purge applied"]


async def test_a_purge_that_is_refused_is_recorded(client: MemoryClient, recorded: Recorded) -> None:
    wrong: tuple[dict[str, Any], ...] = (
        {"confirm": True},
        {"resource": "marley", "confirm": True},
        {"resource": "desk"},
    )
    for options in wrong:
        with pytest.raises(MemoryFault):
            await client.purge(**options, dry_run=False)
    records = recorded.of(client.project)
    assert [one["error"] for one in records] == ["MemoryInvalid", "MemoryUnknownResource", "MemoryInvalid"]
    assert {one["outcome"] for one in records} == {"refused"}
    assert "marley" not in str(records)  # what is no resource may be anything


class _Silent(ForwardingStore):
    """A store that does what is asked, and does not answer."""

    async def clear(
        self, memory: MemoryId, operation: Operation, if_version: str | None = None, *, backup: bool = False, mode: Mode
    ) -> ClearResult:
        await super().clear(memory, operation, if_version, backup=backup, mode=mode)
        raise MemoryUnavailable("no answer")

    async def delete(self, memory: MemoryId, ids: Sequence[str], operation: Operation, limits: Limits) -> DeleteResult:
        await asyncio.sleep(60)
        return await super().delete(memory, ids, operation, limits)


async def test_what_nobody_answered_is_recorded_as_failed_and_its_repetition_tells(
    redis_url: str, recorded: Recorded
) -> None:
    async with await MemoryClient.connect(redis_url, memories=registry(), project=unique("audit")) as client:
        silent = through(client, _Silent)
        memory = await filled(client)
        with pytest.raises(MemoryUnavailable):
            await silent.at(memory.id).clear(confirm=True, operation_id="once")
        await memory.clear(confirm=True, operation_id="once")
        deleting = asyncio.create_task(silent.at(memory.id).delete(["0123456789abcdef-1-0000"]))
        await asyncio.sleep(0.01)
        deleting.cancel()
        await asyncio.wait([deleting])
        found = recorded.of(client.project)
    assert [f"{one['operation']} {one['outcome']} {one.get('error')}" for one in found] == [
        "clear failed MemoryUnavailable",
        "clear already_applied None",
        "delete failed cancelled",
    ]
    assert found[0]["operation_hash"] == found[1]["operation_hash"]
