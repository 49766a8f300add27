"""The table of results: one row for each thing that was measured, with the bar that it must reach, if there is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True, slots=True)
class Row:
    """One line.

    value: what was measured, None where it could not be. bar: what it must reach; None where it is shown for comparison
    only. at_least: whether the bar is a lower bound.
    """

    name: str
    value: float | None
    bar: float | None
    detail: str
    at_least: bool = False

    @property
    def missed(self) -> bool:
        """Whether there is a value beyond its bar."""
        if self.value is None or self.bar is None:
            return False
        return self.value < self.bar if self.at_least else self.value > self.bar

    def cells(self) -> tuple[str, str, str, str]:
        """Returns what the table shows."""
        value = "" if self.value is None else f"{self.value:,.0f}" if self.value >= 1000 else f"{self.value:.2f}"
        bar = "" if self.bar is None else f"{'≥' if self.at_least else '≤'} {self.bar:,g}"
        verdict = "[red]missed[/]  " if self.missed else "[green]reached[/]  "
        return self.name, value, bar, f"{verdict if bar and value else ''}[dim]{self.detail}[/]"


def show(measured: Sequence[Row], console: Console) -> None:
    """Prints the rows."""
    table = Table("what", "value", "bar", "", title="Side by side with floors and others, in one run")
    for row in measured:
        table.add_row(*row.cells())
    console.print(table)
