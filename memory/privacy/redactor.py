"""The redactor as a port: what takes secrets out of one text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its secrets. found: how many were taken out, by kind."""

    text: str
    found: Mapping[str, int] = field(default_factory=dict)


class Redactor(Protocol):
    """Takes secrets out of texts. Safe to use from several threads.

    What it returns is final: redacting it again changes nothing.
    """

    @property
    def marker(self) -> str:
        """What stands where something was taken out; never empty."""
        ...

    def redact(self, text: str, label: str = "") -> Redacted:
        """Returns `text` redacted. label: what names the text where it stands, e.g. the key of its field.

        Raises TooSlow if it would take too long. Any other exception is a fault: the text must not be stored then.
        """
        ...

    def crossing(self, text: str) -> list[tuple[int, int]]:
        """Returns where the declared patterns match in `text`, in order: for texts with a structure. Raises TooSlow."""
        ...


class TooSlow(Exception):
    """Patterns and text together would take too long. The text says so without either of them."""
