"""Commands on all memories of an agent: context."""

from __future__ import annotations

from typing import Annotated

import typer

from durable_memory.cli import view_tables
from durable_memory.cli.absence import say_absent
from durable_memory.cli.options import Authors, Input, Shared, WorkflowId, WorkflowType, named_values
from durable_memory.cli.output import say, show
from durable_memory.cli.session import key_is_usage, refuse_in_memory, with_client
from durable_memory.cli.spread_options import spread_options
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.stores.values import ABSENT
from durable_memory.memory.types import AgentContext, AgentRef
from durable_memory.memory.types.answers import to_json

AgentArgument = Annotated[str, typer.Argument(metavar="AGENT", help="Id of a declared agent.", show_default=False)]


@spread_options
def context(
    shared: Shared,
    agent: AgentArgument,
    *,
    values: Input = None,
    workflow_id: WorkflowId = None,
    workflow_type: WorkflowType = None,
    max_tokens: Annotated[
        int | None,
        typer.Option("--max-tokens", metavar="N", min=0, help="What a model call may spend on it.", show_default=False),
    ] = None,
    authors: Authors = False,
) -> None:
    """Show what an agent's memories give to one model call."""
    ref = AgentRef(agent, named_values(values), workflow_id=workflow_id, workflow_type=workflow_type)

    async def composed(client: MemoryClient) -> AgentContext:
        for use in client.registry.agent(agent).uses:
            refuse_in_memory(client.registry.memory(use.resource))
        with key_is_usage("--input, --workflow-id and --workflow-type"):
            memories = client.agent(ref)
        found = await memories.context(max_tokens=max_tokens, authors=authors)
        if not found.memories:
            say(f"No memory of agent {agent!r} takes part in its context: append-only ones do if they have `inject`")
        elif all(part.version == ABSENT for part in found.memories):  # one of several may well be new
            looked_at = {part.resource for part in found.memories}
            for memory in (listed.id for listed in memories.memories if listed.id.resource in looked_at):
                await say_absent(client, memory.resource, memory.key)
        return found

    result = with_client(shared, composed)
    show(shared.output, to_json(result), view_tables.context_table(agent, result))
