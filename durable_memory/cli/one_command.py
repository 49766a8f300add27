"""A command as it is run: what its help shows of arguments, which of them are left out, and what is wrong usage."""

from __future__ import annotations

import re
from typing import Any, Final

import typer
from typer.core import TyperArgument, TyperCommand, TyperOption

from durable_memory.cli.options import MAKING_A_KEY
from durable_memory.memory.errors import MemoryInvalid

_FIELD: Final = re.compile(r"(\w+)(?:\[\d+\])?: (.+)", re.DOTALL)
"""How a refusal begins that is about one argument of a call, by the name that it has in Python."""


_WHERE_FROM: Final = {"BACKUP": "`durable-memory stats RESOURCE KEY` lists those of a memory"}
"""Where an argument is found that nobody can make up, by its name in the usage line."""


class OneCommand(TyperCommand):
    """A command whose options are named as the arguments of the call that it makes, so that errors fit both."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Reads the command line; where the key is to be made, what follows RESOURCE is no KEY."""
        given, _, _ = self.make_parser(ctx).parse_args(args=list(args))
        if any(given.get(name) for name in MAKING_A_KEY):
            arguments = {each.name or "": each for each in self.params if isinstance(each, TyperArgument)}
            # The first of several IDs may stand in the place of KEY.
            full = all(each.nargs == 1 and given.get(name) is not None for name, each in arguments.items())
            if full and "key" in arguments:
                ctx.fail(
                    "KEY is given, and so is what makes one (--input, --workflow-id, --workflow-type): leave one out"
                )
            self.params = [each for each in self.params if each.name != "key" or not isinstance(each, TyperArgument)]
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as wrong:
            named = wrong.param.display_name_raw if isinstance(wrong.param, TyperArgument) else None
            if not wrong.message and named in _WHERE_FROM:  # it is missing: all else that is wrong has words
                wrong.message = _WHERE_FROM[named]
            raise

    def invoke(self, ctx: Any) -> Any:
        """Runs it; a value that an option or argument may not have is wrong usage, wherever that is found."""
        try:
            return super().invoke(ctx)
        except MemoryInvalid as invalid:
            found = _FIELD.fullmatch(invalid.message)
            named = {each.name: each for each in self.params if isinstance(each, TyperArgument | TyperOption)}
            # What was not given may be a field of the JSON that a command reads, or a variable of the environment.
            source = None if found is None else ctx.get_parameter_source(found[1])
            if found is None or found[1] not in named or source is None or source.name != "COMMANDLINE":
                raise
            raise typer.BadParameter(found[2], ctx=ctx, param=named[found[1]]) from None

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Returns the words of the usage line; only what may be left out stands in brackets."""
        return [piece.replace("{", "").replace("}", "") for piece in super().collect_usage_pieces(ctx)]

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Writes arguments by their names alone, since the types of Python tell users nothing, then options."""
        parts: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx)
            if record is not None and isinstance(each, TyperArgument):
                parts["Arguments"].append((each.display_name_raw, record[1]))
            elif record is not None:
                parts["Options"].append(record)
        for heading, records in parts.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)
