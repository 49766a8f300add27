"""Commands that use one memory: append, read, stats, health."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from durable_memory.cli import counter_tables, view_tables
from durable_memory.cli.absence import NO_SUCH_MEMORY
from durable_memory.cli.hashes import hash_in_logs
from durable_memory.cli.json_input import read_json
from durable_memory.cli.options import Authors, OneMemory, OneMemoryToAppendTo, OperationId
from durable_memory.cli.output import show
from durable_memory.cli.session import with_memory, with_memory_if_any
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import Table, facts
from durable_memory.cli.wording import REPEATED, counted, ids_of, size_of
from durable_memory.memory.stores.values import ABSENT
from durable_memory.memory.types import AppendResult, GroupBy, MemoryHealth, Priority
from durable_memory.memory.types.answers import to_json


class Speaker(StrEnum):
    """The roles of a message that is text alone."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@spread_options
def append(
    at: OneMemoryToAppendTo,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="What is said.", show_default=False)] = None,
    *,
    role: Annotated[Speaker, typer.Option("--role", help="Who says TEXT.")] = Speaker.USER,
    section: Annotated[
        str | None,
        typer.Option("--section", metavar="NAME", help="Where TEXT stands, if not in short_term.", show_default=False),
    ] = None,
    priority: Annotated[
        Priority | None,
        typer.Option(
            "--priority",
            help="How soon TEXT goes under the policy priority: low first. Default: normal.",
            show_default=False,
        ),
    ] = None,
    json_file: Annotated[
        str | None,
        typer.Option(
            "--json",
            metavar="FILE|-",
            help="Instead of TEXT: a chat-completions message, or a list of them; - is stdin.",
            show_default=False,
        ),
    ] = None,
    operation_id: OperationId = None,
) -> None:
    """Append messages, all or none."""
    if (text is None) == (json_file is None):
        raise typer.BadParameter("give either TEXT or --json FILE")
    given = {name: value for name, value in (("section", section), ("priority", priority)) if value is not None}
    if json_file is not None and role is not Speaker.USER:
        raise typer.BadParameter("--role says who says TEXT; in JSON each message has its role")
    if json_file is not None and given:
        raise typer.BadParameter(f"--{min(given)} is of TEXT; in JSON each message may have its {min(given)}")
    said = {"role": role.value, "content": text, **given}
    messages = _messages(json_file) if json_file is not None else [said]
    answer = with_memory(at, lambda memory: memory.append(messages, operation_id=operation_id))
    show(at.output, to_json(answer.result), _append_table(answer.title, answer.result))


@spread_options
def read(
    at: OneMemory,
    *,
    limit: Annotated[
        int | None,
        typer.Option("--limit", metavar="N", min=0, help="The newest messages, at most so many.", show_default=False),
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(
            "--max-tokens", metavar="N", min=0, help="What a model call may spend on the view.", show_default=False
        ),
    ] = None,
    before_id: Annotated[
        str | None,
        typer.Option("--before-id", metavar="ID", help="Only what stands before this message.", show_default=False),
    ] = None,
    since_version: Annotated[
        str | None,
        typer.Option(
            "--since-version", metavar="VERSION", help="Nothing if it still has this version.", show_default=False
        ),
    ] = None,
    sections: Annotated[
        list[str] | None,
        typer.Option("--section", metavar="NAME", help="Only this section; repeatable.", show_default=False),
    ] = None,
    authors: Authors = False,
    show_ids: Annotated[
        bool, typer.Option("--show-ids", help="Also show the ids of messages, which pin, unpin and delete take.")
    ] = False,
) -> None:
    """Show the view: what an agent reads.

    That of a memory which does not exist is empty.
    """
    answer = with_memory_if_any(
        at,
        lambda memory: memory.read(
            limit=limit,
            max_tokens=max_tokens,
            before_id=before_id,
            since_version=since_version,
            sections=sections or None,
            authors=authors,
        ),
        empty=lambda view: view.version == ABSENT,
    )
    table = view_tables.view_table(answer.title, answer.result, answer.memory.project, ids=show_ids)
    show(at.output, to_json(answer.result), table)


@spread_options
def stats(
    at: OneMemory,
    *,
    group_by: Annotated[
        GroupBy | None,
        typer.Option("--group-by", help="Also count what is held by this.", show_default=False),
    ] = None,
) -> None:
    """Show the counters: budget, flushes, lifetime.

    Those of a memory which does not exist are zero.
    """
    answer = with_memory_if_any(
        at, lambda memory: memory.stats(group_by=group_by), empty=lambda counters: not counters.exists
    )
    named = hash_in_logs(at.settings(), answer.memory)
    table = counter_tables.stats_table(answer.title, answer.result, answer.memory.project, named.get("memory_hash"))
    show(at.output, {**to_json(answer.result), **named}, table)


@spread_options
def health(
    at: OneMemory,
    *,
    check_connectivity: Annotated[
        bool, typer.Option("--check-connectivity", help="Also tell how long Redis takes to answer.")
    ] = False,
) -> None:
    """Tell whether a memory can do its work.

    Exit code 1 if it cannot, also where Redis cannot be reached; 3 if there is no such memory.
    """
    answer = with_memory_if_any(
        at,
        lambda memory: memory.health(check_connectivity=check_connectivity),
        empty=lambda verdict: verdict.stats is not None and not verdict.stats.exists,
        out_of_reach=lambda fault: MemoryHealth(healthy=False, problems=(fault.message,), stats=None),
    )
    table = counter_tables.health_table(answer.title, answer.result, answer.memory.project)
    show(at.output, to_json(answer.result), table)
    if not answer.result.healthy:
        raise typer.Exit(1)
    if not answer.exists:
        raise typer.Exit(NO_SUCH_MEMORY)


def _messages(file: str) -> list[Any]:
    """Reads messages; their form is checked where they enter the memory."""
    data = read_json(file)
    return data if isinstance(data, list) else [data]


def _append_table(title: str, result: AppendResult) -> Table:
    """The answer to an append."""
    rows = [
        ("appended", counted(len(result.ids), "message")),
        ("not kept", counted(result.dropped, "message") if result.dropped else ""),
        ("already", REPEATED if result.already_applied else ""),
        ("id" if len(result.ids) == 1 else "ids", ids_of(result.ids)),
        ("view now", size_of(result.messages, result.tokens)),
        ("evicted", counted(result.evicted, "message") if result.evicted else ""),
        ("late results", counted(result.late, "message") if result.late else ""),
        ("flush due", "yes" if result.flush_due else ""),
    ]
    return facts(title, rows)
