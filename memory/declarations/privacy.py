"""The field `privacy_policy`: what of messages is stored, and whether it may be stored in plain text."""

from __future__ import annotations

import importlib.util
import unicodedata
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from durable_memory.memory.declarations.declaration import Declaration, Problem
from durable_memory.memory.privacy.entities import Entity
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.types import Role

_MAX_PATTERNS: Final = 100
_MAX_PATTERN_LENGTH: Final = 2_000
_MAX_MARKER_LENGTH: Final = 100
_KINDS: Final = 4
_MISSING: Final = "needs the package google-re2, which is not installed: pip install 'durable-memory[privacy]'"


def _can_redact() -> bool:
    """Tells whether texts can be redacted in this process."""
    return importlib.util.find_spec("re2") is not None


def _checked_pattern(value: str) -> str:
    if "\n" in value:
        raise ValueError(
            "has a line break, which the texts would have to have as well: write the text in '…', on one line"
        )
    control = next((character for character in value if unicodedata.category(character) == "Cc"), None)
    if control is not None:
        # "\b" of YAML is a backspace, so the pattern would be valid and never match.
        raise ValueError(
            f'has the control character U+{ord(control):04X}; inside "…" YAML reads backslashes itself: write the '
            "text in '…' instead of \"…\""
        )
    if _can_redact():
        from durable_memory.memory.privacy.finders import compile_pattern  # noqa: PLC0415 - of an optional package

        compile_pattern(value)
    return value


def _checked_marker(value: str) -> str:
    if not value.isprintable() or value != value.strip():
        raise ValueError("must be printable text without space around it")
    return value


Pattern = Annotated[
    str,
    Field(min_length=1, max_length=_MAX_PATTERN_LENGTH, title="regular expression of RE2"),
    AfterValidator(_checked_pattern),
]
"""A field that holds a regular expression of RE2."""


class PrivacyPolicy(Declaration):
    """What is taken out of messages before they are counted and stored, which are not kept, and if keys are needed."""

    redact_patterns: Annotated[list[Pattern], Field(max_length=_MAX_PATTERNS)] = Field(default=[])
    """Regular expressions; what they match is replaced. RE2 has no look-around and no back-references. Quote them with
    `'…'`: inside `"…"` YAML reads the backslashes itself. Control characters and line breaks stand as `\\x08` or `\\n`.

    Default: none.
    """

    redact_entities: list[Entity] = Field(default=[])
    """What is recognised by its form and replaced. What has none, such as a name, is missed.

    Default: none.
    """

    non_persistable_message_types: list[Role] = Field(default=[])
    """Roles whose messages are not stored; never all four. `tool` leaves out the calls as well, and `assistant` needs
    `tool` beside it.

    Default: none.
    """

    default_redaction_string: Annotated[
        str, Field(min_length=1, max_length=_MAX_MARKER_LENGTH), AfterValidator(_checked_marker)
    ] = "[redacted]"
    """What stands where something was taken out; needs `redact_patterns` or `redact_entities`."""

    require_encryption: bool = False
    """`true`: a process without encryption keys (`DURABLE_MEMORY_ENCRYPTION_KEYS`) refuses this declaration when it
    starts, and when it reads changed files. Memories of `in_memory`, which keep nothing at rest, need no keys."""


def privacy_problems(policy: PrivacyPolicy) -> list[Problem]:
    """Returns what is wrong between these fields, each with its path."""
    problems: list[Problem] = []
    redacts = policy.redact_patterns or policy.redact_entities
    if redacts and not _can_redact():
        problems.append(("privacy_policy", _MISSING))
    if "default_redaction_string" in policy.model_fields_set and not redacts:
        text = "has no effect without redact_patterns or redact_entities; remove it"
        problems.append(("privacy_policy.default_redaction_string", text))
    kinds = set(policy.non_persistable_message_types)
    path = "privacy_policy.non_persistable_message_types"
    if len(kinds) == _KINDS:
        problems.append((path, "names every role, so nothing would ever be stored"))
    elif "assistant" in kinds and "tool" not in kinds:
        problems.append((path, "must name tool too: without the calls of the assistant their results stand alone"))
    return problems


def build_privacy(resource: str, policy: PrivacyPolicy) -> Privacy | None:
    """Returns the policy ready to be applied, or None if it asks for nothing."""
    kinds = policy.non_persistable_message_types
    if not (policy.redact_patterns or policy.redact_entities):
        return Privacy(resource, None, kinds) if kinds else None
    from durable_memory.memory.privacy.text_redactor import TextRedactor  # noqa: PLC0415 - of an optional package

    redactor = TextRedactor(policy.redact_patterns, policy.redact_entities, policy.default_redaction_string)
    return Privacy(resource, redactor, kinds)
