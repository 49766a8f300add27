"""What happens to memories when the workflow that owned them ends by itself."""

from __future__ import annotations

from collections import Counter
from typing import Final

from temporalio import activity

from durable_memory.activities import internal_requests, operations
from durable_memory.activities.answers import JsonObject
from durable_memory.activities.current import current_memory_client
from durable_memory.activities.defining import Activities
from durable_memory.activities.runs import TemporalRuns
from durable_memory.memory.errors import MemoryFault
from durable_memory.memory.identity import WorkflowId
from durable_memory.memory.janitor.chains import judge_own_end
from durable_memory.memory.janitor.settlement import Settlement

ACTIVITIES: Final = Activities()


@ACTIVITIES.serve(operations.CLEANUP)
async def cleanup(asked: internal_requests.CleanupRequest) -> JsonObject:
    """Settles what a workflow owned, then forgets it as an owner.

    Memories that a newer run of the same workflow id has taken over are left alone. Where it is unknown whether a run
    goes on, the janitor decides later. Raises the fault of a memory that could not be settled, after all others were.
    """
    client = current_memory_client()
    workflow = WorkflowId(activity.info().namespace, asked.workflow_id)
    runs = TemporalRuns(activity.client())
    done: Counter[str] = Counter()
    faults: list[MemoryFault] = []
    for backend in client.parts.backends.values():
        bindings = await backend.index.bindings(client.project, workflow)
        verdict = await judge_own_end(runs, bindings, asked.run_id)
        settled = await Settlement(client, backend, workflow, verdict.ended).run()
        done.update(settled.counts)
        faults += settled.faults
    if faults:
        # A retryable one if there is any, so that another attempt finishes more. The janitor comes back to the others.
        raise min(faults, key=lambda fault: not fault.retryable)
    return dict(done)
