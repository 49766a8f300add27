"""What becomes of the memories of one workflow: settled where it has ended, kept alive where it goes on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryUnknownResource
from durable_memory.memory.identity import MemoryId, WorkflowId
from durable_memory.memory.janitor.actions import note_failure, report, visit_each
from durable_memory.memory.janitor.chains import Runs, judge
from durable_memory.memory.janitor.settlement import Settlement
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.index_port import Binding
from durable_memory.memory.stores.values import ReadQuery


class Owners:
    """The workflows that own memories of one project. runs: knows how they go on."""

    def __init__(self, client: MemoryClient, runs: Runs) -> None:
        self._client = client
        self._runs = runs

    async def settle(self, workflow: WorkflowId) -> bool:
        """Settles what one workflow owned, if it has ended; tells whether it had, or owned nothing.

        What could not be settled then stays owned, for a sweep. Raises MemoryUnavailable if the index does not answer.
        """
        counts: Counter[str] = Counter()
        for backend in self._client.parts.backends.values():
            owned = await backend.index.bindings(self._client.project, workflow)
            if owned:
                # At the time 0 no workflow that Temporal does not know is old enough to have ended.
                await self.visit(backend, owned, 0, counts)
        report(counts)
        return not counts["living"] and not counts["unknown"]

    async def visit(self, backend: Backend, owned: Sequence[Binding], read_ms: int, counts: Counter[str]) -> None:
        """Does for one owner what is to be done, and counts it.

        owned: what its runs are bound to in one backend, as of read_ms by the clock there.
        """
        counts["owners"] += 1
        verdict = await judge(self._runs, owned, read_ms)
        counts["unknown"] += verdict.unknown
        counts["living"] += not verdict.unknown and any(each.owner.run_id not in verdict.ended for each in owned)
        workflow = owned[0].owner.workflow
        if verdict.ended:
            settlement = Settlement(self._client, backend, workflow, verdict.ended)
            settled = await settlement.run()
            counts.update(settled.counts)
            for fault in settled.faults:
                note_failure(fault, counts)
        if verdict.open_run is not None and any(each.owner.run_id != verdict.open_run for each in owned):
            await backend.index.release_gone(self._client.project, workflow, verdict.open_run)
        if verdict.open_run is not None and not verdict.unknown:
            living = {each.memory for each in owned if each.owner.run_id not in verdict.ended}
            await visit_each(living, partial(self._keep_alive, backend), counts)

    async def _keep_alive(self, backend: Backend, memory: MemoryId) -> None:
        """Restarts a lifetime that comes from the scope, while an owner is alive; a declared ttl is left alone.

        The scope's lifetime is there for what nobody settles, and a workflow that waits for days will be settled.
        """
        try:
            declared = self._client.registry.memory(memory.resource)
        except MemoryUnknownResource:
            return
        if declared.ttl is not None and not declared.ttl_is_declared:
            await backend.store.read(memory, ReadQuery(limit=0), replace(declared.limits(), refresh_on_read=True))
