"""What the handles on the memories of one store share."""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field

from cachetools import LRUCache

from durable_memory.memory.admission import Admission
from durable_memory.memory.clock import Clock
from durable_memory.memory.flushing.steps import Flush
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.index_port import ProjectIndex
from durable_memory.memory.stores.port import Store
from durable_memory.memory.tokens.counters import Counters
from durable_memory.memory.waking import FlushWaker

_REMEMBERED_PAIRS = 100_000


@dataclass(frozen=True, slots=True)
class Services:
    """The parts that serve the memories of one store, made once per event loop.

    registered: pairs of owner and memory that the project's index was told of, each with the generation of the index
    then: a steady append is one script. lives: in which life of the memory each pair wrote last; after another begin,
    as that by somebody else after a FLUSHALL, the index may know nothing of the pair.
    """

    store: Store
    index: ProjectIndex
    admission: Admission
    flush: Flush
    counters: Counters
    waker: FlushWaker
    clock: Clock
    registered: MutableMapping[tuple[Owner | None, MemoryId], int] = field(
        default_factory=lambda: LRUCache(_REMEMBERED_PAIRS)
    )
    lives: MutableMapping[tuple[Owner | None, MemoryId], str] = field(
        default_factory=lambda: LRUCache(_REMEMBERED_PAIRS)
    )
