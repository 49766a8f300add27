"""One fault of a declaration: where it stands and what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Location: TypeAlias = tuple[str, ...]
"""Where a value stands in a document: the keys and list positions that lead to it."""

Finding: TypeAlias = tuple[Location, str]
"""Where something is wrong in a document, and what: a fault without its file."""


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """A fault in a YAML file, or in a declaration made in code.

    file: the file as it was named, or the place in the list for declarations made in code. line: 1-based; 0 in code.
    path: the field, dotted; empty for the document itself. problem: what is wrong, and what to write instead. Neither
    repeats a value of the document.
    """

    file: str
    line: int
    path: str
    problem: str

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        return ": ".join(filter(None, (self.place, self.path, self.problem)))
