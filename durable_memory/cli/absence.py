"""What a command says and ends with where there is no such memory: a mistyped key looks like an empty one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Final

from durable_memory.cli.output import say
from durable_memory.memory.client import MemoryClient
from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged, MemoryUnknownResource
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.keys.rule import checked_key

NO_SUCH_MEMORY: Final = 3
"""The exit code of a command that needs a memory which does not exist."""

_PAGE: Final = 1_000
_PAGES: Final = 5
"""Pages of keys that are looked through for one that was meant; a page is one short call."""
_SHOWN: Final = 3


async def exists(client: MemoryClient, resource: str, key: str) -> bool:
    """Tells whether anything stands under a key, be it damaged or of a newer version; the resource is declared."""
    try:
        return (await client.at(MemoryId(client.project, resource, checked_key(key, resource))).stats()).exists
    except (MemoryDamaged, MemoryContractTooNew):
        return True


async def say_absent(client: MemoryClient, resource: str, key: str) -> None:
    """Says that there is no memory under this key, and which one may be meant."""
    meant = " or ".join(map(repr, await _similar(client, resource, key)))
    hint = f"did you mean {meant}?" if meant else f"`durable-memory list {resource}` shows which there are"
    say(f"No such memory: {resource!r} has none under {key!r} in project {client.project!r}; {hint}")


def no_memory(project: str) -> tuple[str, str]:
    """Says in a row that there is none, and in which project.

    A memory that was written and is not found is most often in another one.
    """
    return "memory", f"there is no memory under this key in project {project!r} (--project, DURABLE_MEMORY_PROJECT)"


async def _similar(client: MemoryClient, resource: str, key: str) -> list[str]:
    """Returns keys of memories that look like this one, the most similar first."""
    try:
        services = client.parts.services(client.registry.memory(resource))
    except MemoryUnknownResource:
        return []
    keys: list[str] = []
    cursor: str | None = None
    for _ in range(_PAGES):
        page = await services.index.memories(client.project, resource, cursor, _PAGE)
        keys += [memory.key for memory in page.memories]
        cursor = page.cursor
        if cursor is None:
            break
    # The index may still name what has expired.
    return [found for found in get_close_matches(key, keys, n=_SHOWN) if await exists(client, resource, found)]
