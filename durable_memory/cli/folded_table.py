"""A table at a terminal: cells that are too wide for it are folded, except for what has to be copied."""

from __future__ import annotations

import sys
from collections.abc import Sequence
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
        styled = [Text(cell, style=shown.styles.get(cell, "")) for cell in cells]
        folded.add_row(*(styled if shown.columns else (cells[0], styled[1])))
    console.print(folded, crop=False)


def _facts() -> table.Table:
    folded = table.Table(show_header=False, box=None, pad_edge=False)
    folded.add_column(style="cyan", no_wrap=True)
    folded.add_column(overflow="fold")
    return folded


def _with_headings(shown: Table, terminal_width: int) -> table.Table:
    """Makes a table whose columns have given widths: rich narrows all of them alike, and then widens what is whole."""
    folded = table.Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    least, wished = [], []
    for number, column in enumerate(shown.columns):
        lines = [line for row in shown.rows for line in row[number].splitlines()]
        wished.append(max(map(cell_len, (column, *lines))))
        # A narrow terminal folds what stands in other rows, but not the headings.
        least.append(wished[-1] if column in shown.whole else cell_len(column))
    room = terminal_width - _GAP * len(least)
    if sum(least) > room:
        folded.padding = (0, 0, 0, 0)
        room += len(least) - 1
    for column, width in zip(shown.columns, _narrowed(wished, least, room), strict=True):
        justify = "right" if column in shown.numbers else "left"
        folded.add_column(
            column,
            justify=justify,  # type: ignore[arg-type]
            overflow="fold",
            min_width=width,
            max_width=width,  # not width=, which rich narrows where the least widths do not fit
        )
    return folded


def _narrowed(wished: Sequence[int], least: Sequence[int], room: int) -> list[int]:
    """Returns widths that fit together, if the least ones do: the widest of those that may be narrower gives first."""
    widths = [max(low, min(wish, room)) for wish, low in zip(wished, least, strict=True)]
    while sum(widths) > room and widths != list(least):
        widest = max((number for number, width in enumerate(widths) if width > least[number]), key=widths.__getitem__)
        widths[widest] -= 1
    return widths
