"""What becomes of memories when their owners have ended: one way, whether they end by themselves or not."""

from __future__ import annotations

import logging
from collections.abc import Collection
from typing import Final

from durable_memory.memory.audit import audited
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.declarations.resource import OnWorkflowEnd
from durable_memory.memory.errors import MemoryBusy, MemoryConflict, MemoryUnknownResource
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.inventory import is_gone
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.port import Backend
from durable_memory.memory.stores.values import ABSENT, Operation

_log = logging.getLogger(__name__)
_ATTEMPTS: Final = 5
_PATIENCE_MS: Final = 600_000


class Settlement:
    """Settles what ended runs of one workflow own in one backend, then forgets them as owners of it.

    A memory is settled at the end of its last owner, as its resource's on_workflow_end says. Repeatable: a settlement
    that died half-way is repeated from the start, since owners are forgotten last. A memory whose resource is not
    declared here keeps its owner: a worker of newer declarations knows what to do.

    runs: those that have ended. What another run of the workflow has written to as well is left alone.
    """

    def __init__(
        self, client: MemoryClient, backend: Backend, namespace: str, workflow_id: str, runs: Collection[str]
    ) -> None:
        self._client = client
        self._backend = backend
        self._workflow = (client.project, namespace, workflow_id)
        self._runs = runs

    async def run(self) -> dict[str, int]:
        """Returns whether the workflow was `released`, of all that it owned, and how many memories it was released of
        were `kept`, `flushed` or `cleared`.

        Raises MemoryBusy if a memory is written to all the time, MemoryUnavailable; then the owner stays.
        """
        owned = await self._backend.index.ending(*self._workflow, self._runs)
        wanted: dict[OnWorkflowEnd | None, list[MemoryId]] = {"keep": [], "flush": [], "clear": [], None: []}
        for memory, is_last_owner in owned.items():
            if is_last_owner:
                wanted[await self._action(memory)].append(memory)
        cleared = await self._clear(wanted["clear"])
        for memory in wanted["flush"]:
            await self._client.at(memory).flush(force=True, wait=False)
        # What is settled must not stay owned: it would be cleared again, with all that others appended meanwhile.
        settled = owned.keys() - wanted[None]
        if settled:
            await self._backend.index.release(*self._workflow, settled)
        return {
            "released": int(bool(owned) and not wanted[None]),
            "kept": len(wanted["keep"]),
            "flushed": len(wanted["flush"]),
            "cleared": cleared,
        }

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

    async def _clear(self, memories: Collection[MemoryId]) -> int:
        """Clears the memories that no new owner has joined; returns how many.

        An owner is registered before it appends: one that is registered by now is seen when the index is asked again,
        and the append of a later one changes the version.
        """
        cleared = 0
        for _ in range(_ATTEMPTS):
            if not memories:
                return cleared
            versions = {memory: await self._version(memory) for memory in memories}
            owned = await self._backend.index.ending(*self._workflow, self._runs)
            left = [memory for memory, version in versions.items() if version != ABSENT and owned.get(memory)]
            memories = [memory for memory in left if not await self._cleared(memory, versions[memory])]
            cleared += len(left) - len(memories)
        raise MemoryBusy("clear: a memory whose workflows have ended is written to all the time; it is tried again")

    async def _version(self, memory: MemoryId) -> str:
        limits = self._client.registry.memory(memory.resource).limits()
        return (await self._backend.store.stats(memory, limits)).version

    async def _cleared(self, memory: MemoryId, version: str) -> bool:
        deadline_ms = self._client.wiring.clock.now_ms() + _PATIENCE_MS
        operation = Operation(f"settle/{version}", deadline_ms, "")
        with audited("cleanup", self._client.caller, memory) as record:
            record.named(operation.id)
            try:
                result = await self._backend.store.clear(memory, operation, if_version=version)
            except MemoryConflict:
                return False  # a new owner has joined: the memory is looked at again
            record.done(already_applied=result.already_applied, removed=result.cleared, version_before=version)
            return True
