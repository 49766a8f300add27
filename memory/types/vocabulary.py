"""The words of a message: its roles, priorities and sections, and the types of its parts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias, get_args

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]
Priority: TypeAlias = Literal["low", "normal", "high", "critical"]
Section: TypeAlias = str
"""The name of a part of a memory: a built-in one, or one that the resource declares."""
ContentPart: TypeAlias = Mapping[str, Any]
"""An object of JSON values. Not so typed: converters cannot read a type that holds itself, and a workflow could be
handed no message."""

ROLES: Final[tuple[Role, ...]] = get_args(Role)
PRIORITIES: Final[tuple[Priority, ...]] = get_args(Priority)
"""From the lowest, which goes first under the policy `priority`, to the highest."""
SYSTEM: Final[Section] = "system"
LONG_TERM: Final[Section] = "long_term"
SHORT_TERM: Final[Section] = "short_term"
SECTIONS: Final[tuple[Section, ...]] = (SYSTEM, LONG_TERM, SHORT_TERM)
"""The built-in sections, in the order of a view: system messages, summaries, the conversation. User-defined ones stand
before the last."""

TEXT_PARTS: Final = frozenset({"text", "input_text", "output_text"})
"""Types of parts that hold text, by the words of several APIs."""

THOUGHTS: Final = frozenset({"thinking", "redacted_thinking"})
"""Types of parts that hold what a model thought, signed by its provider: no use to another model."""

MEDIA_PARTS: Final = frozenset(
    {"image", "image_url", "input_image", "output_image", "image_generation_call", "computer_screenshot"}
    | {"audio", "audio_url", "input_audio", "output_audio", "video", "video_url", "input_video", "file", "input_file"}
)
"""Types of parts that hold a picture, sound or a file, by the words of several APIs."""

_SECTION_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)


def is_section_name(value: object) -> bool:
    """Tells whether a section may be called so: 1 to 64 of a-z, 0-9, - and _, no sign first."""
    return isinstance(value, str) and _SECTION_NAME.fullmatch(value) is not None
