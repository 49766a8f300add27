"""How errors of the core cross the Temporal border: one mapping, for our activities and those of users."""

from __future__ import annotations

from datetime import timedelta

from temporalio.exceptions import ApplicationError, ApplicationErrorCategory

from durable_memory.memory.errors import MemoryBackpressure, MemoryBusy, MemoryFault


def to_application_error(fault: MemoryFault) -> ApplicationError:
    """Returns the error with its stable `type`, its verdict on retries, and the wait before the next attempt.

    Being busy or held back is ordinary work, hence benign: Temporal logs and counts it as no failure.
    """
    benign = isinstance(fault, (MemoryBusy, MemoryBackpressure))
    return ApplicationError(
        fault.message,
        type=fault.type,
        non_retryable=not fault.retryable,
        next_retry_delay=None if fault.retry_after_ms is None else timedelta(milliseconds=fault.retry_after_ms),
        category=ApplicationErrorCategory.BENIGN if benign else ApplicationErrorCategory.UNSPECIFIED,
    )
