"""Commands that move messages through files: export, import."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Annotated, Final, TextIO

import typer
from rich.console import Console
from rich.progress import Progress

from durable_memory.cli.absence import NO_SUCH_MEMORY, say_absent
from durable_memory.cli.inventory import Prefix
from durable_memory.cli.json_input import say_if_typed
from durable_memory.cli.options import Connection, Shared
from durable_memory.cli.output import say, show
from durable_memory.cli.session import refuse_unseen, with_client
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import Table, facts
from durable_memory.cli.whole_file import whole_file
from durable_memory.cli.wording import counted
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.keys.rule import checked_key
from durable_memory.memory.transfer.lines import MAX_LINE_BYTES
from durable_memory.memory.types import ImportResult
from durable_memory.memory.types.answers import to_json

Advance = Callable[[int], None]

_PAGE: Final = 200


@spread_options
def export(
    connection: Connection,
    resource: Annotated[
        str, typer.Argument(metavar="RESOURCE", help="Its memories; the declaration may be gone.", show_default=False)
    ],
    key: Annotated[
        str | None, typer.Argument(metavar="KEY", help="Only the memory of this key.", show_default=False)
    ] = None,
    *,
    prefix: Prefix = "",
    file: Annotated[
        str, typer.Option("--file", "-f", metavar="FILE|-", help="Where the lines go; - is stdout. It must not exist.")
    ] = "-",
) -> None:
    """Write messages as JSON lines, in whole groups.

    Those in the view, those that wait for their summary, and summaries. They go to FILE.part first, which gets its name
    when it is whole. It is no picture of one moment: what others append or write meanwhile may be in it. Exit code 3,
    and nothing is written, if there is no memory of this key, or with this prefix.
    """
    if key is not None and prefix:
        raise typer.BadParameter("give either KEY or --prefix")
    if file != "-" and os.path.lexists(file):
        raise typer.BadParameter(f"{file} exists; choose another name")

    async def run(client: MemoryClient) -> int | None:
        refuse_unseen(client, resource)
        if not await _any(client, resource, key, prefix):
            return None
        watched = _watched(file, sys.stdout)
        total = await _held(client, resource, key, prefix) if watched else None
        lines = -2
        with _opened(file) as stream, _progress("export", total, watched) as advance:
            async for line in client.export_messages(resource, key=key, prefix=prefix):
                stream.write(f"{line}\n".encode("utf-8", "surrogatepass"))
                lines += 1
                advance(1)
        return lines

    messages = with_client(connection, run)
    if messages is None:
        raise typer.Exit(NO_SUCH_MEMORY)
    say(f"{counted(messages, 'message')} exported.")


@spread_options
def import_(
    shared: Shared,
    file: Annotated[str, typer.Argument(metavar="FILE|-", help="An export; - is stdin.", show_default=False)],
    *,
    resource: Annotated[
        str | None,
        typer.Option("--resource", metavar="ID", help="Instead of the one that was exported.", show_default=False),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(
            "--key", metavar="KEY", help="One memory for all lines, instead of each line's own.", show_default=False
        ),
    ] = None,
    merge: Annotated[bool, typer.Option("--merge", help="Let several memories become the one of --key.")] = False,
) -> None:
    """Append the messages of an export.

    Each is checked as in any other append. Started again within 24 hours it goes on where it ended and doubles nothing.
    Exit code 1 if a line was not appended, or the file is not whole.
    """

    async def run(client: MemoryClient) -> ImportResult:
        refuse_unseen(client, resource)
        with _read(file) as (stream, size), _progress("import", size, _watched(file, sys.stdin)) as advance:
            return await client.import_messages(
                _lines(stream), resource=resource, key=key, merge=merge, on_line=advance
            )

    result = with_client(shared, run)
    show(shared.output, to_json(result), _import_table(file, result))
    if not result.complete:
        say("Error: the file is not whole: its last line is missing, or names another number of messages.")
    if result.faults:
        say(f"Error: {counted(result.faults, 'line')} could not be appended.")
    if result.faults or not result.complete:
        raise typer.Exit(1)


async def _held(client: MemoryClient, resource: str, key: str | None, prefix: str) -> int:
    """Returns how many messages there are to export now."""
    wanted = prefix if key is None else checked_key(key, resource)
    total = 0
    cursor: str | None = None
    while True:
        page = await client.list_page(resource, prefix=wanted, cursor=cursor, limit=_PAGE)
        for memory in page.memories:
            if memory.stats is not None and (key is None or memory.key == wanted):
                total += sum(memory.stats.messages.values()) + memory.stats.omitted.messages
        cursor = page.cursor
        if cursor is None:
            return total


async def _any(client: MemoryClient, resource: str, key: str | None, prefix: str) -> bool:
    """Tells whether there is a memory to export; a whole resource may be without one. Says so if not."""
    if key is None and not prefix:
        return True
    wanted = prefix if key is None else checked_key(key, resource)
    cursor: str | None = None
    while True:
        page = await client.list_page(resource, prefix=wanted, cursor=cursor, limit=1)
        # A key itself comes before those that go on behind it.
        if page.memories and (key is None or page.memories[0].key == wanted):
            return True
        cursor = page.cursor
        if page.memories or cursor is None:
            await say_absent(client, resource, wanted)
            return False


def _watched(file: str, standard: TextIO) -> bool:
    """Tells whether somebody sees a bar, and not in the midst of lines that are shown or typed at that terminal."""
    return sys.stderr.isatty() and not (file == "-" and standard.isatty())


@contextmanager
def _progress(title: str, total: int | None, watched: bool) -> Iterator[Advance]:  # noqa: FBT001 - a fact of the terminal
    """Shows a bar where somebody watches. total: None is unknown."""
    if not watched:
        yield lambda _: None
        return
    with Progress(console=Console(file=sys.stderr)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(task, steps)


@contextmanager
def _opened(file: str) -> Iterator[IO[bytes]]:
    if file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with whole_file(Path(file)) as stream:
        yield stream


@contextmanager
def _read(file: str) -> Iterator[tuple[IO[bytes], int | None]]:
    if file == "-":
        say_if_typed("an export")
        yield sys.stdin.buffer, None
        return
    try:
        stream = Path(file).open("rb")  # noqa: SIM115 - it is closed below, and only opening it fails in words
    except OSError as error:
        raise MemoryInvalid(f"{file}: cannot be read: {error.strerror}") from None
    with stream:
        yield stream, os.fstat(stream.fileno()).st_size


def _lines(stream: IO[bytes]) -> Iterator[bytes]:
    """Yields lines without holding one that is too long: of that only the beginning comes, which is refused."""
    while line := stream.readline(MAX_LINE_BYTES + 2):
        yield line
        rest = line
        while rest and not rest.endswith(b"\n"):
            rest = stream.readline(MAX_LINE_BYTES)


def _import_table(file: str, result: ImportResult) -> Table:
    """What an import did."""
    rows = [
        ("appended", counted(result.messages, "message")),
        ("before", f"{counted(result.already, 'message')} by an earlier run" if result.already else ""),
        ("summaries", f"{result.summaries:,}, as ordinary messages" if result.summaries else ""),
        ("evicted", counted(result.evicted, "message") if result.evicted else ""),
        *((f"line {problem.line}", f"{problem.type}: {problem.problem}") for problem in result.problems),
        ("more", counted(result.faults - len(result.problems), "line") if result.faults > len(result.problems) else ""),
    ]
    return facts(f"import of {file}", rows)
