"""Refusals while a deployment is under way: what the declarations of this worker refuse, those of another may allow."""

from __future__ import annotations

from typing import Final

from temporalio import activity

from durable_memory.memory.client_parts import ClientParts
from durable_memory.memory.errors import MemoryFault, MemoryUnavailable, MemoryWrongWorker

_PAUSE_MS: Final = 1_000
_MOST_ATTEMPTS: Final = 600
"""Ten minutes of pauses: one worker in a hundred has then nearly always taken an attempt."""


def queue_name(namespace: str, task_queue: str) -> str:
    """Returns what stands for a task queue among those of all namespaces."""
    return f"{namespace}/{task_queue}"


async def judged_by_all(fault: MemoryFault, declared: str, parts: ClientParts, info: activity.Info) -> MemoryFault:
    """Returns the verdict on a call: the fault, or one that is tried again, since another attempt may pass.

    That is: declarations decided, and those in force are not those of before, or a worker of this queue has others.
    declared: the fingerprint of those that were in force when the attempt began, to which its handles may keep.
    """
    if not fault.by_declarations or info.attempt > _MOST_ATTEMPTS:
        return fault
    now = parts.registry.fingerprint
    if declared != now:
        return _tried_again(fault, "the declarations have changed while this attempt ran")
    if parts.fleet is None:
        return fault
    try:
        differs = await parts.fleet.differs(parts.project, queue_name(info.namespace, info.task_queue), now)
    except MemoryUnavailable as unavailable:
        return unavailable
    except MemoryFault:  # its key in Redis was changed by somebody: the call has its own verdict
        return fault
    other = f"another worker of task queue {info.task_queue} has other declarations, as while new ones are rolled out"
    return _tried_again(fault, other) if differs else fault


def _tried_again(fault: MemoryFault, why: str) -> MemoryWrongWorker:
    text = f"{fault.type}: {fault.message}; {why}, so this is tried again"
    return MemoryWrongWorker(text, retry_after_ms=_PAUSE_MS)
