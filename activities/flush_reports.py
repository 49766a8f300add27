"""Asks Temporal how background flushes fare; health tells what it answers."""

from __future__ import annotations

import logging
import re
from datetime import UTC, timedelta
from typing import Final

from temporalio.api.failure.v1 import Failure
from temporalio.client import Client
from temporalio.service import RPCError

from durable_memory.activities import wire
from durable_memory.activities.pollers import WORKFLOWS, pollers
from durable_memory.memory.waking import RetriedFlush

_log = logging.getLogger(__name__)
_RPC_TIMEOUT: Final = timedelta(seconds=2)
"""Health asks for much else besides."""
_TYPE: Final = re.compile(r"[A-Za-z_][\w.]{0,100}")


async def retried_flush(client: Client, flusher: str) -> RetriedFlush | None:
    """Returns what of a running flusher failed and will be done again; None also if Temporal does not say.

    flusher: its workflow id.
    """
    try:
        running = await client.get_workflow_handle(flusher).describe(rpc_timeout=_RPC_TIMEOUT)
    except RPCError as error:
        _log.debug("a flusher could not be asked how it fares (%s)", error.status.name)
        return None
    for pending in running.raw_description.pending_activities:
        if pending.HasField("last_failure"):
            ended = pending.HasField("last_attempt_complete_time")  # a timeout has no such time
            return RetriedFlush(
                step=pending.activity_type.name.removeprefix(f"{wire.FLUSH}."),
                failures=max(pending.attempt - 1, 1),
                error_type=_type_of(pending.last_failure),
                failed_at=pending.last_attempt_complete_time.ToDatetime(UTC) if ended else None,
                since=running.start_time,
            )
    return None


async def is_unpolled(client: Client, task_queue: str) -> bool:
    """Tells whether nobody polls a queue for workflows; False also if Temporal does not say."""
    try:
        return not await pollers(client, task_queue, WORKFLOWS)
    except RPCError as error:
        _log.debug("the queue of flushes could not be asked for (%s)", error.status.name)
        return False


def _type_of(failure: Failure) -> str:
    """Returns the type of an error as the flusher would record it; what is no name may hold anything."""
    if failure.HasField("server_failure_info") and failure.HasField("cause"):
        failure = failure.cause  # the server puts what it had to cut, as a long stack trace, into one of its own
    if failure.HasField("timeout_failure_info"):
        return "TimeoutError"
    found = _TYPE.fullmatch(failure.application_failure_info.type)
    return found[0] if found else "an error"
