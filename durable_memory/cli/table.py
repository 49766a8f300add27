"""Tables for people: folded to the width of a terminal; anywhere else one line a row, for grep, less and mail."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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
    that are never folded, so that they can be copied. caption: a line below, which is not folded.
    """

    title: str
    rows: Sequence[Sequence[str]]
    columns: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    whole: frozenset[str] = frozenset()
    caption: str = ""


def facts(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    """Makes a table of names and values."""
    return Table(visible(title), [(name, visible(value)) for name, value in rows])


def listing(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[str]],
    *,
    numbers: Iterable[str] = (),
    whole: Iterable[str] = (),
    caption: str = "",
) -> Table:
    """Makes a table with a row for each thing; see Table."""
    shown = [[visible(cell) for cell in row] for row in rows]
    return Table(visible(title), shown, tuple(columns), frozenset(numbers), frozenset(whole), visible(caption))


def print_table(table: Table) -> None:
    """Prints a table on stdout, in the form that is fit for it."""
    if sys.stdout.isatty():
        from durable_memory.cli.folded_table import print_folded  # noqa: PLC0415 - rich is loaded where it is used

        print_folded(table)
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(table))


def _lines(table: Table) -> Iterator[str]:
    """Returns a line for the title, the headings, each row and the caption."""
    cells = [[_in_one_line(cell) for cell in row] for row in ([table.columns] if table.columns else [])]
    cells += [[_in_one_line(cell) for cell in row] for row in table.rows]
    widths = [max(map(cell_len, column)) for column in zip(*cells, strict=True)]
    right = [column in table.numbers for column in table.columns] or [False] * len(widths)
    yield _in_one_line(table.title)
    for row in cells:
        padded = [_padded(*one) for one in zip(row[:-1], widths, right, strict=False)]
        yield _GAP.join([*padded, *row[-1:]]).rstrip()
    if table.caption:
        yield _in_one_line(table.caption)


def _padded(cell: str, width: int, right: bool) -> str:  # noqa: FBT001 - one of the columns' properties
    room = " " * (width - cell_len(cell))
    return room + cell if right else cell + room


def _in_one_line(cell: str) -> str:
    return " / ".join(line.strip() for line in cell.replace("\t", " ").splitlines() if line.strip())
