"""The command that prints the forms of documents and calls: schema."""

from __future__ import annotations

from typing import Annotated

import typer

from durable_memory.activities.wire_schema import wire_schema
from durable_memory.cli import declared_tables
from durable_memory.cli.output import Output, print_text, show
from durable_memory.memory.declarations.json_schema import json_schema
from durable_memory.memory.declarations.reference_page import reference_page


def schema(
    output: Annotated[
        Output, typer.Option("--output", "-o", help="JSON Schema for editors, or a table of the fields.")
    ] = Output.JSON,
    *,
    wire: Annotated[
        bool, typer.Option("--wire", help="Of the activities that other languages call by name instead.")
    ] = False,
    reference: Annotated[
        bool, typer.Option("--reference", help="Every field of the documents in words instead: a Markdown page.")
    ] = False,
) -> None:
    """Print the JSON Schema of the YAML documents.

    Or that of the wire contract, or the reference of all fields.
    """
    if reference and wire:
        raise typer.BadParameter("--reference is of the YAML documents; leave --wire out")
    if reference:
        print_text(reference_page())
    elif wire:
        document = wire_schema()
        show(output, document, declared_tables.activities_table(document))
    else:
        show(output, json_schema(), declared_tables.fields_table())
