"""A table with a row for each thing, however many there are: rich's own table takes a millisecond for each row."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from rich.cells import cell_len, chop_cells
from rich.console import Console, ConsoleOptions, RenderResult
from rich.segment import Segment
from rich.style import Style

from durable_memory.cli.output import visible

_BOLD: Final = Style(bold=True)
_GAP: Final = "  "
_WORDS: Final = re.compile(r"\S+\s*|\s+")


class Listing:
    """Rows below a heading, in columns that fit the terminal."""

    def __init__(
        self,
        title: str,
        columns: Sequence[str],
        rows: Iterable[Iterable[str]],
        *,
        numbers: Collection[str] = (),
        whole: Collection[str] = (),
        caption: str = "",
    ) -> None:
        """The columns in `numbers` stand to the right; those in `whole` are never folded, so that they can be copied.

        rows: are taken when it is shown. caption: a line below, which is not folded either.
        """
        self._title = title
        self._columns = columns
        self._rows = rows
        self._numbers = [column in numbers for column in columns]
        self._whole = [column in whole for column in columns]
        self._caption = caption

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """See rich's console protocol."""
        rows = [[visible(cell).expandtabs().split("\n") for cell in row] for row in self._rows]
        widths = self._widths(rows, options.max_width)
        yield from _line(visible(self._title), _BOLD)
        yield from _line("")
        yield from _line(self._beside(self._columns, widths), _BOLD)
        yield from _line(f" {('-' if options.ascii_only else '─') * (sum(widths) + len(_GAP) * (len(widths) - 1))}")
        for row in rows:
            folded = [list(_folded(cell, width)) for cell, width in zip(row, widths, strict=True)]
            for number in range(max(map(len, folded))):
                yield from _line(self._beside([cell[number] if number < len(cell) else "" for cell in folded], widths))
        yield from _line("")
        if self._caption:
            yield from _line(visible(self._caption))

    def _widths(self, rows: Sequence[Sequence[Sequence[str]]], terminal: int) -> list[int]:
        """Returns how wide each column is: as what stands in it, or, of the widest ones, what the terminal leaves."""
        room = terminal - len(_GAP) * len(self._columns)
        widths, least = [], []
        for number, column in enumerate(self._columns):
            widest = max((cell_len(line) for row in rows for line in row[number]), default=0)
            # A narrow terminal folds what stands in rows, but not the headings.
            least.append(max(cell_len(column), widest if self._whole[number] else 0))
            widths.append(max(least[-1], min(widest, room)))
        while sum(widths) > room and widths != least:
            foldable = (number for number, width in enumerate(widths) if width > least[number])
            widths[max(foldable, key=widths.__getitem__)] -= 1
        return widths

    def _beside(self, cells: Sequence[str], widths: Sequence[int]) -> str:
        spaces = (" " * (width - cell_len(cell)) for cell, width in zip(cells, widths, strict=True))
        padded = (
            space + cell if number else cell + space
            for cell, space, number in zip(cells, spaces, self._numbers, strict=True)
        )
        return f" {_GAP.join(padded)}".rstrip()


def _line(text: str, style: Style | None = None) -> Iterator[Segment]:
    yield Segment(text, style)
    yield Segment.line()


def _folded(lines: Iterable[str], width: int) -> Iterator[str]:
    """Yields lines that are no wider: broken between words, or within a word that is wider than a line."""
    for line in lines:
        if cell_len(line) <= width:
            yield line
            continue
        measure = len if line.isascii() else cell_len
        held, used = "", 0
        for word in _WORDS.findall(line):
            if held and used + measure(word.rstrip()) > width:
                yield held.rstrip()
                held, used = "", 0
            *full, rest = chop_cells(word, width) if measure(word) > width else [word]
            yield from full
            held += rest
            used += measure(rest)
        yield held.rstrip()
