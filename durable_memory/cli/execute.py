"""The command that runs any operation by its name, from a request in JSON."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from durable_memory.cli.json_input import read_json
from durable_memory.cli.options import Connection
from durable_memory.cli.output import print_json
from durable_memory.cli.session import refuse_unseen, with_client
from durable_memory.cli.spread_options import spread_options
from durable_memory.memory.client import MemoryClient


@spread_options
def execute(
    connection: Connection,
    file: Annotated[
        str, typer.Argument(metavar="FILE|-", help="A request of memory.execute; - is stdin.", show_default=False)
    ],
) -> None:
    """Run any operation by its name, and print its answer as JSON."""
    # Temporal's SDK comes with it, which other commands need not wait for.
    from durable_memory.activities.current import serving  # noqa: PLC0415 - loaded where it is used
    from durable_memory.activities.execute import run_operation  # noqa: PLC0415 - loaded where it is used

    request = read_json(file)

    async def run(client: MemoryClient) -> dict[str, Any]:
        if isinstance(request, dict):
            refuse_unseen(client, request.get("resource"))
        with serving(client):
            return await run_operation(request)

    print_json(with_client(connection, run))
