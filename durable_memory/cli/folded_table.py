"""A table at a terminal: cells that are too wide for it are folded, except for what has to be copied."""

from __future__ import annotations

import sys
from typing import Final

from rich import box, table
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from durable_memory.cli.table import Table

_GAP: Final = 2
"""Columns between two of a table; where a terminal is too narrow for what is never folded, there is one."""


def print_folded(shown: Table) -> None:
    """Prints a table in the width of the terminal."""
    console = Console(file=sys.stdout, highlight=False, markup=False, emoji=False)
    folded = _with_headings(shown, console.width) if shown.columns else _facts()
    folded.title = Text(shown.title, style="bold", no_wrap=True, overflow="ignore")
    folded.title_justify = "left"
    if shown.caption:
        folded.caption = Text(shown.caption, no_wrap=True, overflow="ignore")
        folded.caption_justify = "left"
    for cells in shown.rows:
        folded.add_row(*(map(Text, cells) if shown.columns else (cells[0], Text(cells[1]))))
    console.print(folded, crop=False)


def _facts() -> table.Table:
    folded = table.Table(show_header=False, box=None, pad_edge=False)
    folded.add_column(style="cyan", no_wrap=True)
    folded.add_column(overflow="fold")
    return folded


def _with_headings(shown: Table, terminal_width: int) -> table.Table:
    folded = table.Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    narrowest = 0
    for number, column in enumerate(shown.columns):
        # A narrow terminal folds what stands in other rows, but not the headings.
        unfolded = [line for row in shown.rows for line in row[number].splitlines()] if column in shown.whole else []
        width = max(map(cell_len, (column, *unfolded)))
        justify = "right" if column in shown.numbers else "left"
        folded.add_column(column, justify=justify, overflow="fold", min_width=width)  # type: ignore[arg-type]
        narrowest += width + _GAP
    if narrowest > terminal_width:
        folded.padding = (0, 0, 0, 0)
    return folded
