"""What happens to memories when the workflow that owned them has ended."""

from __future__ import annotations

import logging
from typing import Any

from temporalio import activity

from durable_memory.activities import wire
from durable_memory.activities.current import current_memory_client
from durable_memory.activities.parsing import parse
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryUnknownResource
from durable_memory.memory.identity import MemoryId

_log = logging.getLogger(__name__)


@activity.defn(name=wire.CLEANUP)
async def cleanup(request: Any = None) -> dict[str, Any]:
    """Settles what a workflow owned, then forgets it as an owner; see wire.CleanupRequest.

    A memory is settled at the end of its last owner, as its resource's on_workflow_end says. Repeatable: an attempt
    that died half-way is repeated from the start, since the owner is forgotten last.
    """
    asked = parse(wire.CleanupRequest, request)
    client = current_memory_client()
    namespace = activity.info().namespace
    done: dict[str, int] = {}
    for backend in client.backends.values():
        owned = await backend.index.ending(client.project, namespace, asked.workflow_id)
        for memory, is_last_owner in owned.items():
            if is_last_owner:
                action = await _settle(client, memory, f"cleanup/{namespace}/{asked.run_id}")
                done[action] = done.get(action, 0) + 1
        if owned:
            await backend.index.release(client.project, namespace, asked.workflow_id)
    return done


async def _settle(client: MemoryClient, memory: MemoryId, operation_id: str) -> str:
    """Does what the memory's resource wants done at the end of its last owner; returns the name of it."""
    try:
        action = client.registry.memory(memory.resource).workflow_end_action
    except MemoryUnknownResource:
        _log.warning("a memory of an undeclared resource is left as it is", extra={"resource": memory.resource})
        return "keep"
    if action == "clear":
        await client.at(memory).clear(confirm=True, operation_id=operation_id)
    elif action == "flush":
        await client.at(memory).wake_flush(force=True)
    return action
