"""Who of several agents said what: the name of a message, and names in a view, inside the tokens that it may have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace

from durable_memory.memory.errors import MemoryOversize, MemoryUnavailable
from durable_memory.memory.fitting import read_to_fit
from durable_memory.memory.stores.values import ReadQuery
from durable_memory.memory.tokens.counter import TokenCounter
from durable_memory.memory.types import Message, View


def author_of(message: Message) -> str | None:
    """Returns the name of a message's author, if it has one; an agent's is for what it said as the assistant alone.

    An agent signs what its users said as well.
    """
    return message.name or (message.agent if message.role == "assistant" else None)


async def read_with_authors(
    read: Callable[[ReadQuery], Awaitable[View]], query: ReadQuery, counter: TokenCounter, resource: str
) -> View:
    """Returns a view in which what an agent said as the assistant has the agent's name, unless it has one.

    query: what is asked; names count in its max_tokens. read: reads the memory once. counter: of the memory's tokens.
    resource: id of the memory resource, for the error's text. It reads as often as the names need, which is one access
    to what is answered. Raises MemoryOversize if what must stand does not fit, and what `read` raises.
    """
    limit = query.max_tokens
    named = await read_to_fit(
        lambda asked: read(replace(query, max_tokens=asked, is_access=False)),
        lambda view: _named(view, counter),
        limit,
    )
    if named is None:
        raise MemoryOversize(
            f"{resource}: read: system and pinned messages, with the names of the agents that said them, do not fit "
            f"into the {limit} tokens of max_tokens; allow more, or read without authors"
        )
    found = {message.id for message in named.messages}
    shown = tuple(each for each in query.ids or () if each in found)
    if shown:
        # A read, unlike a touch, does not wait where writes are refused. The view is there whatever becomes of it.
        with suppress(MemoryUnavailable):
            await read(ReadQuery(ids=shown, limit=0))
    return named


async def _named(view: View, counter: TokenCounter) -> tuple[View, int]:
    costs: dict[str, int] = {}
    messages: list[Message] = []
    more = 0
    for message in view.messages:
        author = author_of(message)
        if author is None or message.name is not None:
            messages.append(message)
            continue
        if author not in costs:
            costs[author] = await _cost(author, counter)
        more += costs[author]
        messages.append(replace(message, name=author, tokens=(message.tokens or 0) + costs[author]))
    tokens = view.tokens + more
    return replace(view, messages=tuple(messages), tokens=tokens), tokens


async def _cost(agent: str, counter: TokenCounter) -> int:
    """Returns what a name adds to a message: never less than a count of the whole message would say."""
    bare, named = await counter.count([Message.assistant("x"), Message.assistant("x", name=agent)])
    return named.tokens - bare.tokens + named.estimated  # an estimate is rounded
