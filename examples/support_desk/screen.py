"""What the demo shows: a line for a turn, and a panel where something worth a look happens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from durable_memory import MemoryStats, View

COLOURS = {"triage": "cyan", "billing": "magenta"}
BAR = 10


class Screen:
    """Prints to the terminal; plain text where there is none."""

    def __init__(self) -> None:
        self._console = Console(highlight=False)

    def say(self, text: str) -> None:
        """Prints a sentence, in lines that begin alike."""
        self._console.print(Padding(text.strip(), (0, 0, 0, 1)))

    def heading(self, text: str) -> None:
        """Prints a rule with a title."""
        self._console.rule(f"[bold]{text}")

    def turn(self, event: Mapping[str, Any], stats: MemoryStats) -> None:
        """Prints what a turn did: the fill of the budget, and what the model was given."""
        tokens, limit = sum(stats.tokens.values()), stats.max_tokens or 1
        summary = stats.tokens["long_term"]
        line = Text(f" {event['turn']}  ")
        line.append(f"{event['agent']:8}", style=COLOURS[event["agent"]])
        line.append_text(_bar(summary, tokens, limit))
        line.append(f" {tokens:>5,}/{limit:,}")
        line.append(f"  model saw {event['view_tokens']:>5,}", style="dim")
        if stats.omitted.messages:
            line.append(f"  {stats.omitted.messages} waiting", style="yellow")
        if event["attempt"] > 1:
            line.append(f"  attempt {event['attempt']}", style="bold yellow")
        self._console.print(line)
        for question, known in event["facts"].items():
            mark = "[green]✓ known[/]" if known else "[red]✗ not in the view[/]"
            self._console.print(Padding(f"{mark}  [italic]{question}[/]", (0, 0, 0, 9)))

    def view(self, title: str, view: View) -> None:
        """Shows the view that the next agent starts from."""
        table = Table(title=title, title_justify="left", show_header=False, box=None, padding=(0, 1))
        shown = [message for message in view.messages if message.section != "system" and message.role != "tool"]
        for message in (*shown[:1], *(message for message in shown[-3:] if message.text)):
            who = "summary" if message.section == "long_term" else message.agent or message.name or message.role
            table.add_row(f"[bold]{who}[/]", Text(_short(" ".join(message.text.split()), 150)))
        self._console.print(table)

    def summary(self, view: View) -> None:
        """Shows the summary that a flush has just written."""
        text = "\n".join(message.text for message in view.messages if message.section == "long_term")
        self._console.print(
            Panel(Text(_short(text, 450)), title="the background flush wrote a summary", border_style="green")
        )

    def alarm(self, text: str) -> None:
        """Shows something drastic."""
        self._console.print(Panel(Text(text), border_style="red"))

    def results(self, rows: Sequence[tuple[str, str, bool]]) -> None:
        """Prints the checks of the end."""
        table = Table(title="What was promised, and what was found", title_justify="left")
        table.add_column("promise")
        table.add_column("found")
        table.add_column("")
        for promise, found, kept in rows:
            table.add_row(promise, found, "[green]✓[/]" if kept else "[red]✗[/]")
        self._console.print(table)


def _bar(summary: int, tokens: int, limit: int) -> Text:
    """Draws the budget: summaries, then the rest, then what is free."""
    first, filled = round(BAR * summary / limit), round(BAR * tokens / limit)
    bar = Text("█" * first, style="green")
    bar.append("█" * (filled - first), style="blue")
    bar.append("░" * (BAR - filled), style="dim")
    return bar


def _short(text: str, length: int) -> str:
    text = text.strip()
    return text if len(text) <= length else f"{text[:length].rsplit(' ', 1)[0]} …"
