"""The tables of docs/telemetry.md."""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "telemetry.md"


def rows(heading: str) -> list[list[str]]:
    """Returns the rows of the table whose first heading this is, without backquotes."""
    for block in PAGE.read_text().split("\n\n"):
        cells = [[cell.strip().strip("`") for cell in line.split("|")[1:-1]] for line in block.splitlines()]
        if cells[0][:1] == [heading]:
            return cells[2:]
    raise AssertionError(f"{PAGE.name} has no table of the {heading}")
