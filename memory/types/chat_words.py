"""Words that stand in a request for what its API does not take."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from durable_memory.memory.types.clean import Json

FAILED: Final = "[The tool failed.]"
"""What a failed tool that said nothing has said."""


def mention(part: Mapping[str, Json]) -> dict[str, Json]:
    """Returns a part of text in the place of one that may not stand there."""
    refusal = part.get("refusal") if part["type"] == "refusal" else None
    return {"type": "text", "text": refusal if isinstance(refusal, str) else f"[{part['type']}]"}
