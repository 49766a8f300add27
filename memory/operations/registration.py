"""What the index of a project is told of a memory that is written to: that it is there, and whose it is."""

from __future__ import annotations

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass
from typing import Final

from cachetools import LRUCache

from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.index_port import ProjectIndex

_REMEMBERED_PAIRS: Final = 100_000


@dataclass(slots=True)
class Told:
    """What one owner has written to one memory, as far as this process knows.

    generation: of the index when it was told of the pair. life: of the memory when the pair wrote last; after another
    begin, as that by somebody else after a FLUSHALL, the index may know nothing of the pair.
    """

    owner: Owner | None
    generation: int | None = None
    life: str | None = None


class Register:
    """Remembers what the index of one store was told by this process: a steady append is one script."""

    def __init__(self) -> None:
        self._pairs: MutableMapping[tuple[Owner | None, MemoryId], Told] = LRUCache(_REMEMBERED_PAIRS)

    def told(self, owner: Owner | None, memory: MemoryId) -> Told:
        """Returns what is known of a pair, the same for all that ask."""
        known = self._pairs.get((owner, memory))
        if known is None:
            known = self._pairs[owner, memory] = Told(owner)
        return known


class Registration:
    """Tells the index of one memory and its owners, when it is written to."""

    __slots__ = ("_index", "_memory", "_owners", "_pairs", "_register")

    def __init__(
        self, index: ProjectIndex, register: Register, memory: MemoryId, owners: Sequence[Owner | None]
    ) -> None:
        """owners: of what is written, in the order in which the index is told of them."""
        self._index = index
        self._register = register
        self._memory = memory
        self._owners = owners
        self._pairs: tuple[Told, ...] | None = None
        """Looked up by the first write, and then kept: who only reads fills no cache."""

    async def once(self) -> None:
        """Tells the index, unless this process has, and it cannot have lost it.

        Before the first write, so that nobody settles a memory to which somebody is about to write.
        """
        generation = self._index.generation
        for pair in self._told():
            if pair.generation != generation:
                await self.again()
                return

    async def again(self) -> None:
        """Tells the index, whatever it was told before."""
        for pair in self._told():
            generation = self._index.generation  # that of before: what fails meanwhile is asked for again
            await self._index.register(self._memory, pair.owner)
            pair.generation = generation

    def is_another_life(self, version: str) -> bool:
        """Notes in which life of the memory this is written, and tells whether that is not the one of before."""
        life = version.partition(":")[0]
        another = False
        for pair in self._told():
            another = another or pair.life not in (None, life)
            pair.life = life
        return another

    def _told(self) -> tuple[Told, ...]:
        if self._pairs is None:
            self._pairs = tuple(self._register.told(owner, self._memory) for owner in self._owners)
        return self._pairs
