"""The tables of messages, as agents read them: a view, and the context of a model call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from durable_memory.cli.absence import no_memory
from durable_memory.cli.table import Table, facts, listing
from durable_memory.cli.wording import counted, size_of
from durable_memory.memory.stores.values import ABSENT
from durable_memory.memory.types import AgentContext, Message, View


def view_table(title: str, view: View, project: str, *, ids: bool = False) -> Table:
    """What an agent reads. ids: with the id of each message."""
    if view.version == ABSENT:
        return facts(title, [no_memory(project)])
    waiting = f", {counted(view.omitted.messages, 'message')} waiting for a summary" if view.omitted.messages else ""
    columns = ("id",) if ids else ()
    rows = (
        (
            *((message.id or "",) if ids else ()),
            message.section or "",
            f"{_speaker(message)}{_rank(message)}",
            f"{message.tokens:,}",
            _said(message),
        )
        for message in view.messages
    )
    return listing(
        title,
        (*columns, "section", "role", "tokens", "message"),
        rows,
        numbers=("tokens",),
        whole=columns,
        caption=f"{size_of(len(view.messages), view.tokens)}{waiting}, version {view.version}",
    )


def context_table(agent: str, context: AgentContext) -> Table:
    """What an agent's memories give to a model call."""
    rows = ((_speaker(message), f"{message.tokens or 0:,}", _said(message)) for message in context.messages)
    parts = "; ".join(f"{memory.label}: {size_of(memory.messages, memory.tokens)}" for memory in context.memories)
    return listing(
        agent,
        ("role", "tokens", "message"),
        rows,
        numbers=("tokens",),
        caption=f"{context.tokens:,} tokens. {parts}",
    )


def _speaker(message: Message) -> str:
    names = dict.fromkeys(name for name in (message.agent, message.name) if name)
    return f"{message.role} ({', '.join(names)})" if names else message.role


def _rank(message: Message) -> str:
    pinned = ", pinned" if message.pinned else ""
    return pinned if message.priority == "normal" else f"{pinned}, {message.priority}"


def _said(message: Message) -> str:
    parts = [message.content] if isinstance(message.content, str) else [_part(part) for part in message.content or ()]
    if message.tool_call_id:
        parts.insert(0, f"[{message.tool_call_id}]")
    parts += [f"→ {call.name}({call.arguments}) [{call.id}]" for call in message.tool_calls]
    return "\n".join(part for part in parts if part)


def _part(part: Mapping[str, Any]) -> str:
    return str(part["text"]) if part.get("type") == "text" and "text" in part else f"[{part.get('type', 'part')}]"
