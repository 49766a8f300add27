"""What the index of a project is told of a memory that is written to: that it is there, and whose it is."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.index_port import ProjectIndex

_REMEMBERED_BINDINGS: Final = 100_000


@dataclass(slots=True)
class KnownBinding:
    """What this process knows of an owner that writes to a memory.

    generation: that of the index when it was told; None if it was not. incarnation: that of the memory when the owner
    wrote last; in another one, as after a FLUSHALL and an append of somebody else, the index may have lost what it was
    told.
    """

    owner: Owner | None
    generation: int | None = None
    incarnation: str | None = None


class KnownBindings:
    """What the index of one store was told by this process: it need not be told again at each write."""

    def __init__(self) -> None:
        self._bindings: MutableMapping[tuple[Owner | None, MemoryId], KnownBinding] = LRUCache(_REMEMBERED_BINDINGS)

    def of(self, owner: Owner | None, memory: MemoryId) -> KnownBinding:
        """Returns what is known of an owner and a memory, the same object to all that ask."""
        known = self._bindings.get((owner, memory))
        if known is None:
            known = self._bindings[owner, memory] = KnownBinding(owner)
        return known


class Registration:
    """Tells the index of one memory and its owners, when it is written to."""

    __slots__ = ("_bindings", "_index", "_known", "_memory", "_owners")

    def __init__(
        self, index: ProjectIndex, known: KnownBindings, memory: MemoryId, owners: Sequence[Owner | None]
    ) -> None:
        """owners: of what is written, in the order in which the index is told of them."""
        self._index = index
        self._known = known
        self._memory = memory
        self._owners = owners
        self._bindings: tuple[KnownBinding, ...] | None = None
        """Looked up by the first write, and then kept: who only reads fills no cache."""

    async def ensure(self) -> None:
        """Tells the index, unless this process has told it, and it cannot have lost that since.

        To be awaited before a write, so that nobody settles a memory to which somebody is about to write.
        """
        generation = self._index.generation
        if any(binding.generation != generation for binding in self._own_bindings()):
            await self.renew()

    async def renew(self) -> None:
        """Tells the index, whatever it was told before."""
        for binding in self._own_bindings():
            generation = self._index.generation  # read before: if it changes meanwhile, the index is told once more
            await self._index.register(self._memory, binding.owner)
            binding.generation = generation

    def note_incarnation(self, version: str) -> bool:
        """Notes the incarnation that was written to; tells whether an owner last wrote to another one of this memory.

        version: of the memory, as the write answered it.
        """
        incarnation, has_changed = version.partition(":")[0], False
        for binding in self._own_bindings():
            has_changed = has_changed or binding.incarnation not in (None, incarnation)
            binding.incarnation = incarnation
        return has_changed

    def _own_bindings(self) -> tuple[KnownBinding, ...]:
        if self._bindings is None:
            self._bindings = tuple(self._known.of(owner, self._memory) for owner in self._owners)
        return self._bindings
