"""Regular expressions written one alternative a line."""

from __future__ import annotations


def any_of(*alternatives: str) -> str:
    """Returns the expression that matches where one of these does."""
    return f"(?:{'|'.join(alternatives)})"
