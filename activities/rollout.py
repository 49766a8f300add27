"""Refusals while a deployment is under way: what the declarations of this worker refuse, those of another may allow."""

from __future__ import annotations

from typing import Final

from temporalio import activity

from durable_memory.memory.errors import MemoryFault, MemoryUnavailable, MemoryWrongWorker
from durable_memory.memory.wiring import Wiring

_PAUSE_MS: Final = 1_000
_MOST_ATTEMPTS: Final = 600
"""Ten minutes of pauses: one worker in a hundred has then nearly always taken an attempt."""


def queue_name(namespace: str, task_queue: str) -> str:
    """Returns what stands for a task queue among those of all namespaces."""
    return f"{namespace}/{task_queue}"


async def judged_by_all(fault: MemoryFault, wiring: Wiring, info: activity.Info) -> MemoryFault:
    """Returns the verdict on a call: the fault, or one that is tried again where another worker may answer otherwise.

    That is: the declarations decided, and a worker of this queue has others than this one.
    """
    if wiring.fleet is None or not fault.by_declarations or info.attempt > _MOST_ATTEMPTS:
        return fault
    queue = queue_name(info.namespace, info.task_queue)
    try:
        differs = await wiring.fleet.differs(wiring.project, queue, wiring.registry.fingerprint)
    except MemoryUnavailable as unavailable:
        return unavailable
    except MemoryFault:  # its key in Redis was changed by somebody: the call has its own verdict
        return fault
    if not differs:
        return fault
    return MemoryWrongWorker(
        f"{fault.type}: {fault.message}; another worker of task queue {info.task_queue} has other declarations, as "
        "while new ones are rolled out, so this is tried again",
        retry_after_ms=_PAUSE_MS,
    )
