"""What becomes of memories when their owners have ended: one way, whether they end by themselves or not."""

from __future__ import annotations

import logging
import random
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from durable_memory.memory.client import MemoryClient
from durable_memory.memory.declarations.scopes import OnWorkflowEnd
from durable_memory.memory.errors import (
    MemoryBusy,
    MemoryConflict,
    MemoryFault,
    MemoryUnavailable,
    MemoryUnknownResource,
)
from durable_memory.memory.identity import MemoryId, WorkflowId
from durable_memory.memory.inventory import is_gone
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations.audit import AuditedCall
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.values import ABSENT, Operation

_log = logging.getLogger(__name__)
_ATTEMPTS: Final = 5
_PATIENCE_MS: Final = 600_000

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Settled:
    """What a settlement did.

    counts: whether the workflow was `released`, of all that it owned, and how many memories were `kept`, `flushed` or
    `cleared`. faults: of memories that could not be settled, so that they stay owned.
    """

    counts: Mapping[str, int]
    faults: tuple[MemoryFault, ...]


class Settlement:
    """Settles what ended runs of one workflow own in one backend, then forgets them as owners of it.

    A memory is settled at the end of its last owner, as its resource's on_workflow_end says. Repeatable: a settlement
    that died half-way is repeated from the start, since owners are forgotten last. A memory whose resource is not
    declared here keeps its owner: a worker of newer declarations knows what to do. So does a memory that cannot be
    settled, and keeps no other from its turn.

    runs: those that have ended. What another run of the workflow has written to as well is left alone.
    """

    def __init__(self, client: MemoryClient, backend: Backend, workflow: WorkflowId, runs: Collection[str]) -> None:
        self._client = client
        self._backend = backend
        self._workflow = (client.project, workflow)
        self._runs = runs
        self._faults: list[MemoryFault] = []

    async def run(self) -> Settled:
        """Settles; raises MemoryUnavailable if the index does not answer, then all stay owned."""
        self._faults.clear()
        owned = await self._backend.index.ending(*self._workflow, self._runs)
        actions = await self._each([memory for memory, is_last_owner in owned.items() if is_last_owner], self._action)
        wanted: dict[OnWorkflowEnd | None, list[MemoryId]] = {"keep": [], "flush": [], "clear": [], None: []}
        for memory, action in actions.items():
            wanted[action].append(memory)
        cleared = await self._clear(wanted["clear"])
        flushed = await self._each(wanted["flush"], self._flush)
        # What is settled must not stay owned: it would be cleared again, with all that others appended meanwhile.
        others = [memory for memory, is_last_owner in owned.items() if not is_last_owner]
        settled = {*others, *wanted["keep"], *flushed, *cleared}
        if settled:
            await self._backend.index.release(*self._workflow, settled)
        counts = {
            "released": int(bool(owned) and settled == owned.keys()),
            "kept": len(wanted["keep"]),
            "flushed": len(flushed),
            "cleared": sum(cleared.values()),
        }
        return Settled(counts, tuple(self._faults))

    async def _each(
        self, memories: Iterable[MemoryId], step: Callable[[MemoryId], Awaitable[_T]]
    ) -> dict[MemoryId, _T]:
        """Takes a step for each memory, and returns the answers of those that did not fail.

        The fault of one keeps no other from its turn, unless nobody answers: then the others are left to the next
        settlement, since each would wait as long. Their order changes, so that what is out of reach for long, as on a
        part of a cluster, does not come first each time.
        """
        done: dict[MemoryId, _T] = {}
        in_any_order = list(memories)
        random.shuffle(in_any_order)
        for memory in in_any_order:
            try:
                done[memory] = await step(memory)
            except MemoryUnavailable as fault:
                self._faults.append(fault)
                break
            except MemoryFault as fault:
                self._faults.append(fault)
        return done

    async def _action(self, memory: MemoryId) -> OnWorkflowEnd | None:
        """Returns what is declared; None if this process does not know it, and the memory is there."""
        try:
            return self._client.registry.memory(memory.resource).workflow_end_action
        except MemoryUnknownResource:
            if is_gone(await self._backend.store.stats(memory, Limits.unlimited())):
                return "keep"
            _log.warning(
                "a memory whose workflow has ended is left to a worker that declares its resource, or to a purge",
                extra={"resource": memory.resource},
            )
            return None

    async def _flush(self, memory: MemoryId) -> None:
        await self._client.at(memory).flush(force=True, wait=False)

    async def _clear(self, memories: Collection[MemoryId]) -> dict[MemoryId, bool]:
        """Clears the memories that no new owner has joined; returns which are settled.

        Each with whether it was cleared. An owner is registered before it appends: one that is registered by now is
        seen when the index is asked again, and the append of a later one changes the version.
        """
        settled: dict[MemoryId, bool] = {}
        for _ in range(_ATTEMPTS):
            if not memories:
                return settled
            versions = await self._each(memories, self._version)
            owned = await self._backend.index.ending(*self._workflow, self._runs)
            left = [memory for memory, version in versions.items() if version != ABSENT and owned.get(memory)]
            settled |= dict.fromkeys(versions.keys() - left, False)
            cleared = await self._each(left, partial(self._cleared, versions))
            settled |= {memory: True for memory, is_cleared in cleared.items() if is_cleared}
            memories = [memory for memory, is_cleared in cleared.items() if not is_cleared]
        self._faults += [_busy(memory) for memory in memories]
        return settled

    async def _version(self, memory: MemoryId) -> str:
        limits = self._client.registry.memory(memory.resource).limits()
        return (await self._backend.store.stats(memory, limits)).version

    async def _cleared(self, versions: Mapping[MemoryId, str], memory: MemoryId) -> bool:
        """Clears a memory, unless it has changed since its version was read; tells whether it did."""
        version = versions[memory]
        deadline_ms = self._client.parts.clock.now_ms() + _PATIENCE_MS
        operation = Operation(f"settle/{version}", deadline_ms, "")
        with AuditedCall("cleanup", self._client.caller, memory) as record:
            record.named(operation.id)
            try:
                result = await self._backend.store.clear(memory, operation, if_version=version, mode="read-write")
            except MemoryConflict:
                return False  # a new owner has joined: the memory is looked at again
            record.done(already_applied=result.already_applied, removed=result.cleared, version_before=version)
            return True


def _busy(memory: MemoryId) -> MemoryBusy:
    return MemoryBusy(
        f"{memory.resource}: clear: a memory whose workflows have ended is written to all the time; it is tried again"
    )
