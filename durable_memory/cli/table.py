"""Tables for people: folded to the width of a terminal; anywhere else one line a row, for grep, less and mail."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.cells import cell_len

from durable_memory.memory.types import clean_text

_STEERING: Final = {
    code: chr(code).encode("unicode_escape").decode("ascii")
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}
"""Control characters and those that reverse the direction of text: stored text must not steer a terminal."""
_GAP: Final = "  "


def visible(text: str) -> str:
    """Returns text that is fit for a terminal."""
    return clean_text(text).translate(_STEERING)


@dataclass(frozen=True, slots=True)
class Table:
    """What is printed of a result.

    columns: headings; none where rows are names and values. numbers: columns that stand to the right. whole: columns
    that are never folded, so that they can be copied. caption: a line below, which is not folded. styles: rich's style
    of a cell that is exactly this text.
    """

    title: str
    rows: Sequence[Sequence[str]]
    columns: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    caption: str = ""
    styles: Mapping[str, str] = field(default_factory=dict)


def facts(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    """Makes a table of names and values, without those that have no value."""
    return Table(visible(title), [(name, visible(value)) for name, value in rows if value])


def listing(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[str]],
    *,
    numbers: Iterable[str] = (),
    whole: Iterable[str] = (),
    caption: str = "",
    styles: Mapping[str, str] | None = None,
) -> Table:
    """Makes a table with a row for each thing; see Table."""
    shown = [[visible(cell) for cell in row] for row in rows]
    return Table(
        visible(title), shown, tuple(columns), frozenset(numbers), frozenset(whole), visible(caption), styles or {}
    )


def print_table(table: Table) -> None:
    """Prints a table on stdout, in the form that is fit for it."""
    if sys.stdout.isatty():
        from durable_memory.cli.folded_table import print_folded  # noqa: PLC0415 - rich is loaded where it is used

        print_folded(table)
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(table))


class LongTable:
    """A table of a great many rows, which are printed as they come: each is one line, and columns become only wider.

    Whoever lists a hundred thousand things sees the first ones at once, and a terminal needs minutes to fold them.
    """

    def __init__(self, title: str, columns: Sequence[str], *, numbers: Iterable[str] = ()) -> None:
        """Prints the title. See Table."""
        self._columns: tuple[str, ...] | None = tuple(columns)
        self._lines = _Lines([column in frozenset(numbers) for column in columns])
        self._print(_in_one_line(visible(title)))

    def add(self, rows: Iterable[Iterable[str]]) -> None:
        """Prints rows, the first time below the headings."""
        shown = [[visible(cell) for cell in row] for row in rows]
        headings = [] if self._columns is None else [self._columns]
        self._columns = None
        self._print(*self._lines.of([*headings, *shown]))

    def end(self, caption: str) -> None:
        """Prints the line below."""
        self._print(_in_one_line(visible(caption)))

    def _print(self, *lines: str) -> None:
        sys.stdout.writelines(f"{line}\n" for line in lines)
        sys.stdout.flush()


class _Lines:
    """Rows as lines, one below the other."""

    def __init__(self, right: Sequence[bool]) -> None:
        """right: which columns stand to the right."""
        self._right = right
        self._widths = [0] * len(right)

    def of(self, rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """Returns the lines of rows, which stand below those of earlier ones."""
        cells = [[_in_one_line(cell) for cell in row] for row in rows]
        columns = zip(self._widths, zip(*cells, strict=True), strict=False)
        self._widths = [max(width, *map(cell_len, column)) for width, column in columns] or self._widths
        for row in cells:
            padded = [_padded(*one) for one in zip(row[:-1], self._widths, self._right, strict=False)]
            yield _GAP.join([*padded, *row[-1:]]).rstrip()


def _lines(table: Table) -> Iterator[str]:
    """Returns a line for the title, the headings, each row and the caption."""
    rows = [*([table.columns] if table.columns else []), *table.rows]
    right = [column in table.numbers for column in table.columns] or [False] * len(rows[0] if rows else ())
    yield _in_one_line(table.title)
    yield from _Lines(right).of(rows)
    if table.caption:
        yield _in_one_line(table.caption)


def _padded(cell: str, width: int, right: bool) -> str:  # noqa: FBT001 - one of the columns' properties
    room = " " * (width - cell_len(cell))
    return room + cell if right else cell + room


def _in_one_line(cell: str) -> str:
    return " / ".join(line.strip() for line in cell.replace("\t", " ").splitlines() if line.strip())
