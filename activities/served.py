"""Which activities a worker runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from durable_memory.activities import agents, conversation, execute, flush, janitor, lifecycle
from durable_memory.activities.defining import Activity

EVERY_WORKER: Final[Mapping[str, Activity]] = {
    **conversation.ACTIVITIES,
    **agents.ACTIVITIES,
    **execute.ACTIVITIES,
    **lifecycle.ACTIVITIES,
}
"""What every worker with the plugin runs on its own queue, by name."""

PROJECT_WORKER: Final[Mapping[str, Activity]] = {**flush.ACTIVITIES, **janitor.ACTIVITIES}
"""What workers of the project's queue run besides, for its flushers and its janitor."""
