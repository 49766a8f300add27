"""Where a message was written."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final

from durable_memory.memory.types.clean import Json


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a message was written: the Temporal workflow, its run and the activity. Empty outside Temporal."""

    workflow_id: str | None = None
    run_id: str | None = None
    activity_id: str | None = None

    def to_dict(self) -> dict[str, Json]:
        """Returns the fields that are set."""
        values = ((name, getattr(self, name)) for name in PROVENANCE_FIELDS)
        return {name: value for name, value in values if value is not None}


PROVENANCE_FIELDS: Final = tuple(field.name for field in fields(Provenance))
