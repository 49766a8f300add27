"""One sentence for each way in which a command can fail."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer

from durable_memory.cli.output import say
from durable_memory.cli.wording import counted
from durable_memory.dev.supervisor import ServerEndedError, ServerStartError
from durable_memory.memory.errors import InvalidDeclarations, MemoryFault, MemoryOperationConflict


@contextmanager
def failing_in_words() -> Iterator[None]:
    """Turns the errors of the product into a sentence on stderr and exit code 1."""
    try:
        yield
    except InvalidDeclarations as invalid:
        say(f"Error: the declarations have {counted(len(invalid.faults), 'fault')}:")
        for fault in invalid.faults:
            say(f"  {fault}")
        raise typer.Exit(1) from None
    except MemoryOperationConflict as conflict:
        # What else it says is of activities, which need no id of their own; a command has the one that it was given.
        say(f"Error: {conflict.message.partition(';')[0]}.")
        raise typer.Exit(1) from None
    except (MemoryFault, ServerStartError, ServerEndedError) as error:
        say(f"Error: {error}")
        raise typer.Exit(1) from None
