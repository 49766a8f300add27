"""Tables with many rows: all of them are shown, within the terminal, in a time that nobody minds."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Sequence

import pytest
from rich.cells import cell_len
from rich.console import Console

from durable_memory.cli.listing import Listing


def shown(table: Listing, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width, highlight=False, markup=False, emoji=False).print(table, crop=False)
    return out.getvalue().splitlines()


def rows_of(lines: Sequence[str]) -> Sequence[str]:
    """Returns what stands below the line of the heading."""
    return lines[next(number for number, line in enumerate(lines) if set(line) == {" ", "─"}) + 1 :]


def words(lines: Iterable[str]) -> list[str]:
    return " ".join(lines).split()


def test_columns_stand_below_their_headings() -> None:
    table = Listing("Title", ("name", "size"), [("a", "1"), ("longer", "1,234")], numbers=("size",), caption="2 rows")
    assert shown(table, 80) == [
        "Title",
        "",
        " name     size",
        " ─────────────",
        " a           1",
        " longer  1,234",
        "",
        "2 rows",
    ]


@pytest.mark.parametrize("width", [20, 33, 80])
@pytest.mark.parametrize(
    "text",
    [
        "Two nights in Lyon, and the train back on Sunday morning before ten o'clock.",
        "https://example.org/" + "a-very-long-path/" * 12,
        "你好世界" * 30 + " 再见",
        "  indented\n\n\tand more lines, the last of which is a long one that has to be folded",
    ],
)
def test_what_is_too_wide_is_folded_and_nothing_of_it_is_lost(width: int, text: str) -> None:
    lines = rows_of(shown(Listing("Title", ("role", "message"), [("user", text)]), width))
    assert [line for line in lines if cell_len(line) > width] == []
    assert "".join(words(lines)) == "".join(["user", *text.split()])


def test_lines_break_between_words() -> None:
    lines = rows_of(shown(Listing("Title", ("message",), [("one two three four five six",)]), 16))
    assert [line.strip() for line in lines] == ["one two three", "four five six", ""]


def test_what_is_to_be_copied_is_never_folded() -> None:
    key, text = "user:" + "4" * 40, "what was said " * 10
    lines = rows_of(shown(Listing("Title", ("key", "message"), [(key, text)], whole=("key",)), 40))
    assert lines[0].startswith(f" {key}  what")


def test_stored_text_does_not_steer_the_terminal() -> None:
    assert rows_of(shown(Listing("Title", ("message",), [("\x1b[2J",)]), 40))[0] == r" \x1b[2J"


def test_a_table_of_very_many_rows_takes_seconds_of_the_processor_at_most() -> None:
    text = "something of an ordinary length, about as long as what people say, which has to be folded in most terminals"
    rows = [("short_term", "user", f"{number:,}", f"Message {number}: {text}") for number in range(20_000)]
    begun = time.process_time()
    lines = shown(Listing("Title", ("section", "role", "tokens", "message"), rows, numbers=("tokens",)), 80)
    assert time.process_time() - begun < 10  # with a table of rich's it is thirty, and here one
    assert sum("Message" in line for line in lines) == len(rows)
