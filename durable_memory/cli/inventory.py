"""Commands on the memories of a project: list, purge."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from durable_memory.cli import counter_tables
from durable_memory.cli.confirming import Unasked, confirmed, require_answer
from durable_memory.cli.hashes import hash_in_logs
from durable_memory.cli.options import Shared
from durable_memory.cli.output import Output, escape_what_is_lacking, say, show
from durable_memory.cli.session import refuse_unseen, say_unseen, with_client
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import LongTable, Table, facts
from durable_memory.cli.wording import counted
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.declarations.scopes import Scope
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.types import ListedMemory, ListedPage, PurgeResult
from durable_memory.memory.types.answers import to_json

_PAGE: Final = 1_000

InScope = Annotated[
    Scope | None,
    typer.Option("--scope", help="Only memories of resources that are declared with this scope.", show_default=False),
]
Prefix = Annotated[
    str,
    typer.Option(
        "--prefix",
        metavar="KEY",
        help="Only keys that begin with these whole segments: user:al finds user:al:1, but not user:alice.",
        show_default=False,
    ),
]


@spread_options
def list_(
    shared: Shared,
    resource: Annotated[
        str | None,
        typer.Argument(metavar="RESOURCE", help="Its memories. Default: those of all.", show_default=False),
    ] = None,
    *,
    scope: InScope = None,
    prefix: Prefix = "",
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=1, max=1000, help="One page of so many, with the cursor of the next."),
    ] = None,
    cursor: Annotated[
        str | None,
        typer.Option(
            "--cursor", metavar="CURSOR", help="Where the page begins, from the page before.", show_default=False
        ),
    ] = None,
) -> None:
    """List the memories of the project.

    All of them, or those of one resource, of a scope, or with a prefix; also of resources whose declaration is gone.
    The rows of more than 1,000 memories are printed as they are read.
    """
    if cursor is not None and limit is None:
        raise typer.BadParameter("--cursor goes on where a page ended; give --limit as well")
    title = _title(shared, resource, scope, prefix)

    async def collect(client: MemoryClient) -> ListedPage | None:
        """Returns what is to be shown; None where it was, page by page."""
        refuse_unseen(client, resource)
        say_unseen(client, resource, scope)
        at, listed = cursor, list[ListedMemory]()
        as_it_comes: LongTable | None = None
        count = 0
        while True:
            wanted = _PAGE if limit is None else limit - len(listed)
            page = await client.list_page(resource, scope=scope, prefix=prefix, cursor=at, limit=wanted)
            listed += page.memories
            at = page.cursor
            if limit is None and shared.output is Output.TABLE and (as_it_comes or at is not None):
                if as_it_comes is None:
                    escape_what_is_lacking()
                    as_it_comes = counter_tables.long_memories_table(title)
                as_it_comes.add(counter_tables.memory_rows(listed))
                count += len(listed)
                listed.clear()
            if at is None and as_it_comes is not None:
                as_it_comes.end(counted(count, "memory"))
                return None
            if at is None or len(listed) == limit:
                return ListedPage(tuple(listed), at)

    found = with_client(shared, collect)
    if found is None:
        return
    if not found.memories and cursor is None:
        _say_unmatched(resource, scope, prefix)
    settings = shared.settings()
    rows = [
        {
            "resource": each.resource,
            "key": each.key,
            **(to_json(each.stats) or ({"newer": True} if each.newer else {"damaged": True})),
            **hash_in_logs(settings, MemoryId(settings.project, each.resource, each.key)),
        }
        for each in found.memories
    ]
    data = rows if limit is None else {"memories": rows, "cursor": found.cursor}
    show(shared.output, data, counter_tables.memories_table(title, found))


@spread_options
def purge(
    shared: Shared,
    resource: Annotated[
        str | None,
        typer.Argument(metavar="RESOURCE", help="Its memories; the declaration may be gone.", show_default=False),
    ] = None,
    *,
    scope: InScope = None,
    prefix: Prefix = "",
    yes: Unasked = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count them.")] = False,
) -> None:
    """Remove memories for good, after a question.

    Those of a resource, of a scope, or with a prefix; also of resources whose declaration is gone. Backups of
    `clear --backup` go with them. What comes into being meanwhile stays.
    """
    if resource is None and scope is None and not prefix:
        raise typer.BadParameter("name a RESOURCE, --scope or --prefix; there is no purge of a whole project")
    if not dry_run:
        require_answer(yes=yes)

    def wanted(found: PurgeResult) -> bool:
        return confirmed(f"Remove {_sum(found)} for good?")

    async def run(client: MemoryClient) -> PurgeResult:
        refuse_unseen(client, resource)
        say_unseen(client, resource, scope)
        return await client.purge(resource, scope=scope, prefix=prefix, dry_run=dry_run, confirm=yes or wanted)

    result = with_client(shared, run)
    if not (result.memories or result.backups):
        _say_unmatched(resource, scope, prefix)
    if result.dry_run and not dry_run and (result.memories or result.backups):
        say("Nothing was removed.")
        raise typer.Exit(1)
    show(shared.output, to_json(result), _purge_table(_title(shared, resource, scope, prefix), result))


def _title(shared: Shared, resource: str | None, scope: Scope | None, prefix: str) -> str:
    wanted = "  ".join(part for part in (resource or "all resources", scope and f"scope {scope}", prefix) if part)
    return f"{wanted}  in project {shared.settings().project!r}"


def _say_unmatched(resource: str | None, scope: Scope | None, prefix: str) -> None:
    # Who erases what belongs to somebody must not take a part of a name, or of the project, for all of it.
    if prefix:
        where = " and ".join(part for part in (resource and repr(resource), scope and f"scope {scope}") if part)
        say(
            f"No key {f'of {where} ' if where else ''}begins with the whole segments {prefix!r} "
            f"(user:al finds user:al:1, but not user:alice){'; other memories were not looked at' if where else ''}."
        )


def _purge_table(title: str, result: PurgeResult) -> Table:
    """What a purge removed, or would remove."""
    return facts(title, [("would be removed" if result.dry_run else "removed", _sum(result))])


def _sum(result: PurgeResult) -> str:
    backups = f", {counted(result.backups, 'backup')}" if result.backups else ""
    return f"{counted(result.memories, 'memory')}, {counted(result.messages, 'message')}{backups}"
