"""What commands print: tables for people or JSON for programs on stdout, sentences on stderr."""

from __future__ import annotations

import io
import json
import sys
from enum import StrEnum

from durable_memory.cli.table import Table, print_table, visible
from durable_memory.memory.types import clean_text


class Output(StrEnum):
    """The forms of output."""

    TABLE = "table"
    JSON = "json"


def show(output: Output, data: object, table: Table) -> None:
    """Prints a result in the chosen form. data: the same as the table, in JSON values."""
    if output is Output.JSON:
        print_json(data)
    else:
        escape_what_is_lacking()
        print_table(table)


def print_json(data: object) -> None:
    """Prints JSON values, and nothing else."""
    text = json.dumps(data, ensure_ascii=not _is_unicode(sys.stdout.encoding), indent=2)
    # A name of a file that is no valid text cannot be written as it is.
    sys.stdout.write(f"{clean_text(text)}\n")


def print_text(text: str) -> None:
    """Prints text of our own as it is, which ends with a line break."""
    escape_what_is_lacking()
    sys.stdout.write(text)


def escape_what_is_lacking() -> None:
    """Lets an output that is not Unicode show escapes for characters that it lacks, instead of failing."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _is_unicode(encoding: str | None) -> bool:
    return encoding is not None and encoding.lower().startswith("utf")


def say(sentence: str) -> None:
    """Prints a line on stderr."""
    sys.stderr.write(f"{visible(sentence)}\n")
