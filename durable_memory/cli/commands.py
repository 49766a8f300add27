"""The commands by name, each loaded when it is run: to import them all takes longer than most of them do."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

_GROUPS: Final = {
    "One memory": {
        "append": ("memories:append", "Append messages, all or none."),
        "read": ("memories:read", "Show the view: what an agent reads."),
        "stats": ("memories:stats", "Show the counters: budget, flushes, lifetime."),
        "health": ("memories:health", "Tell whether a memory can do its work."),
        "pin": ("keeping:pin", "Keep messages in the view until they are unpinned."),
        "unpin": ("keeping:unpin", "Let messages go like others again, with their groups."),
        "delete": ("removal:delete", "Remove messages, or summaries, with their whole groups."),
        "flush": ("flushing:flush", "Run one flush here and now."),
        "clear": ("removal:clear", "Remove every message and summary, after a question."),
        "restore": ("keeping:restore", "Replace a memory by what `clear --backup` has kept of it."),
    },
    "Many memories": {
        "list": ("inventory:list_", "List the memories of the project."),
        "context": ("agents:context", "Show what an agent's memories give to one model call."),
        "export": ("transfer:export", "Write messages as JSON lines, in whole groups."),
        "import": ("transfer:import_", "Append the messages of an export."),
        "purge": ("inventory:purge", "Remove memories for good, after a question."),
    },
    "Declarations": {
        "validate": ("declarations:validate", "Check declarations, without any server."),
        "resources": ("declarations:resources", "Show the declared memory resources."),
        "agents": ("declarations:agents", "Show the declared agents, and what they may do with which memory."),
        "schema": ("schemas:schema", "Print the JSON Schema of the YAML documents."),
    },
    "Running": {
        "worker": ("worker:worker", "Run the worker until a signal."),
        "janitor": ("janitor:janitor", "Sweep once: settle what ended workflows left, wake due flushes."),
        "doctor": ("doctor:doctor", "Check all that a project runs on: declarations, Redis, workers."),
        "execute": ("execute:execute", "Run any operation by its name, and print its answer as JSON."),
    },
}
"""The module and function of each command, and the first line of its docstring; in the order of the help."""


class Commands(TyperGroup):
    """All commands, as their names and first lines."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for commands in _GROUPS.values():
            for name, (place, line) in commands.items():
                self.add_command(LateCommand(name, place, line))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the signature is the library's
        """Writes the commands in their groups, whose columns stand below each other."""
        widest = max(len(name) for commands in _GROUPS.values() for name in commands)
        for heading, commands in _GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(widest), line) for name, (_, line) in commands.items()])

    def invoke(self, ctx: Any) -> Any:
        """Runs a command; what the product refuses, wherever in it, ends it in words."""
        from durable_memory.cli.failing import failing_in_words  # noqa: PLC0415 - the help does without

        with failing_in_words():
            return super().invoke(ctx)


class LateCommand(TyperCommand):
    """A command that is not loaded: it stands in the help, and makes way for the command itself when that is run."""

    def __init__(self, name: str, place: str, line: str) -> None:
        super().__init__(name, help=line)
        self._place = place

    def loaded(self) -> TyperCommand:
        """Imports the command, and returns it with its arguments and options."""
        from durable_memory.cli.one_command import OneCommand  # noqa: PLC0415 - the help does without

        module, _, function = self._place.partition(":")
        alone = typer.Typer(add_completion=False, rich_markup_mode=None)
        alone.command(self.name, cls=OneCommand)(getattr(import_module(f"durable_memory.cli.{module}"), function))
        command = typer.main.get_command(alone)
        if not isinstance(command, TyperCommand):
            raise TypeError(f"{self._place} is no single command")
        return command

    def make_context(self, *given: Any, **more: Any) -> Any:
        """Makes the context of the loaded command, which is what is run then."""
        return self.loaded().make_context(*given, **more)
