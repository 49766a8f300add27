"""What commands print: tables for people or JSON for programs on stdout, sentences on stderr."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterable, Sequence
from enum import StrEnum

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from durable_memory.memory.types import clean_text

_STEERING = {
    code: chr(code).encode("unicode_escape").decode("ascii")
    for code in (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))
    if chr(code) not in "\n\t"
}
"""Control characters and those that reverse the direction of text: stored text must not steer a terminal."""


class Output(StrEnum):
    """The forms of output."""

    TABLE = "table"
    JSON = "json"


def show(output: Output, data: object, table: Table) -> None:
    """Prints a result in the chosen form. data: the same as the table, in JSON values."""
    if output is Output.JSON:
        print_json(data)
    else:
        _escape_what_is_lacking()
        Console(file=sys.stdout, highlight=False, markup=False, emoji=False).print(table, crop=False)


def print_json(data: object) -> None:
    """Prints JSON values, and nothing else."""
    text = json.dumps(data, ensure_ascii=not _is_unicode(sys.stdout.encoding), indent=2)
    # A name of a file that is no valid text cannot be written as it is.
    sys.stdout.write(f"{clean_text(text)}\n")


def print_text(text: str) -> None:
    """Prints text of our own as it is, which ends with a line break."""
    _escape_what_is_lacking()
    sys.stdout.write(text)


def _escape_what_is_lacking() -> None:
    """Lets an output that is not Unicode show escapes for characters that it lacks, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_unicode(encoding: str | None) -> bool:
    return encoding is not None and encoding.lower().startswith("utf")


def say(sentence: str) -> None:
    """Prints a line on stderr."""
    sys.stderr.write(f"{visible(sentence)}\n")


def visible(text: str) -> str:
    """Returns text that is fit for a terminal."""
    return clean_text(text).translate(_STEERING)


def facts(title: str, rows: Iterable[tuple[str, str]]) -> Table:
    """Makes a table of names and values."""
    table = Table(title=_bold(title), title_justify="left", show_header=False, box=None, pad_edge=False)
    table.add_column(style="cyan", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(visible(value)))
    return table


def listing(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Iterable[str]],
    *,
    numbers: Iterable[str] = (),
    whole: Iterable[str] = (),
) -> Table:
    """Makes a table with a row for each thing.

    The columns in `numbers` stand to the right; those in `whole` are never folded, so that they can be copied.
    """
    table = Table(title=_bold(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    right, kept = set(numbers), set(whole)
    shown = [[visible(cell) for cell in row] for row in rows]
    for number, column in enumerate(columns):
        # A narrow terminal folds what stands in other rows, but not the headings.
        unfolded = [line for row in shown for line in row[number].splitlines()] if column in kept else []
        width = max(map(cell_len, (column, *unfolded)))
        table.add_column(column, justify="right" if column in right else "left", overflow="fold", min_width=width)
    for cells in shown:
        table.add_row(*map(Text, cells))
    return table


def caption(table: Table, text: str) -> None:
    """Puts a line below a table, which is not folded."""
    table.caption = Text(visible(text), no_wrap=True, overflow="ignore")
    table.caption_justify = "left"


def _bold(title: str) -> Text:
    return Text(visible(title), style="bold", no_wrap=True, overflow="ignore")
