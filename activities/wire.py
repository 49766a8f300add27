"""The wire contract: its version, its names and its limits. Callers in any language rely on it.

`requests` has the fields of what callers send, `operations` says what each activity takes and answers;
docs/wire.schema.json shows all of it to callers in other languages. Standard library only, since workflow code imports
it. Names are stable.
"""

from __future__ import annotations

from typing import Final

CONTRACT: Final = 1
"""Version of the contract that this release speaks.

A request may carry `contract`; a higher one is refused, retryably.
"""

APPEND: Final = "memory.append"
RECORD_TURN: Final = "memory.record_turn"
RECORDED_TURN: Final = "memory.recorded_turn"
READ: Final = "memory.read"
WRITE: Final = "memory.write"
TOUCH: Final = "memory.touch"
PIN: Final = "memory.pin"
UNPIN: Final = "memory.unpin"
DELETE: Final = "memory.delete"
CLEAR: Final = "memory.clear"
RESTORE: Final = "memory.restore"
FLUSH: Final = "memory.flush"
STATS: Final = "memory.stats"
HEALTH: Final = "memory.health"
CONTEXT: Final = "memory.context"
RECORD_AGENT_TURN: Final = "memory.record_agent_turn"
RECORDED_AGENT_TURN: Final = "memory.recorded_agent_turn"
EXECUTE: Final = "memory.execute"
CLEANUP: Final = "memory.cleanup"
FLUSH_BEGIN: Final = "memory.flush.begin"
FLUSH_SUMMARIZE: Final = "memory.flush.summarize"
FLUSH_COMMIT: Final = "memory.flush.commit"
FLUSH_FAIL: Final = "memory.flush.fail"
SWEEP: Final = "memory.janitor.sweep"

FLUSHER: Final = "memory-flush"
"""Workflow type of the flusher."""

JANITOR: Final = "memory-janitor"
"""Workflow type of the janitor."""

FLUSH_DUE: Final = "flush_due"
"""Signal that wakes a flusher; its argument says whether the flush is forced."""

LOCAL_CALL: Final = "durable-memory-local-call/"
"""Begins the header of a local activity; the number of the call within its run follows, the same for all its attempts.

It stands in the name, since a client may have the values of such headers encoded and not decoded again
(`HeaderCodecBehavior.WORKFLOW_ONLY_CODEC`).
"""

MAX_REQUEST_BYTES: Final = 1_500_000
"""Encoded size of a request. Temporal fails a workflow task whose payload is above 2 MB, for ever."""

MAX_ANSWER_BYTES: Final = 1_500_000
"""Encoded size of an answer. Temporal would have the activity repeated for a result above 2 MiB, in vain; the rest of
that is for a codec that makes it larger."""

MAX_TURN_BYTES: Final = 2_000_000
"""Encoded size of a turn in an answer: what was sent, with what the store gave beside it. Temporal would have the
activity repeated for a result above 2 MiB, in vain."""

WARN_REQUEST_BYTES: Final = 256_000
"""Encoded size from which a request is worth a warning: it stays in the history of the workflow."""
