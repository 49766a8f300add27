"""How errors of the core cross the Temporal border: one mapping, for our activities and those of users."""

from __future__ import annotations

import traceback
from datetime import timedelta
from pathlib import Path

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


def without_words(error: Exception) -> ApplicationError:
    """Returns an error of foreign code, such as a summariser's, reduced to its type and place.

    Its text and its causes may repeat content of messages, and many people can read a history.
    """
    places = traceback.extract_tb(error.__traceback__)
    place = f" at {Path(places[-1].filename).name}:{places[-1].lineno} in {places[-1].name}" if places else ""
    kind = type(error).__name__
    return ApplicationError(f"{kind}{place}; its text is left out, since it may repeat content", type=kind)
