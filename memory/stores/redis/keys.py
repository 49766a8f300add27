"""The one place that builds a Redis key. All keys of a memory, and those of a project, share one cluster slot each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.types import Section

MEMORY_KEYS: Final = (
    "meta",
    "msg",
    "order:system",
    "order:long_term",
    "order:short_term",
    "pinned",
    "evict:short_term",
    "groups",
    "departed",
    "overflow",
    "batch",
    "lease",
    "ops",
    "opx",
)
"""The keys of a memory, in the order in which every script gets them; behind them SECTION_KEYS of each user-defined
section."""

SECTION_KEYS: Final = ("order", "evict")
"""The keys of a user-defined section; its name follows."""

_NOT_COPIED: Final = frozenset({"batch", "lease", "ops", "opx"})
"""What a backup leaves out."""

_CACHED_MEMORIES: Final = 4096


@dataclass(frozen=True, slots=True)
class KeySet:
    """Keys of one slot, as a script takes them. wire: their number and names, encoded as the protocol sends them."""

    names: tuple[bytes, ...]
    wire: bytes


def bulk(value: bytes) -> bytes:
    """Encodes an argument as the Redis protocol sends it."""
    return b"$%d\r\n%b\r\n" % (len(value), value)


def key_set(*names: str) -> KeySet:
    """Makes a key set of names that share a hash tag."""
    encoded = tuple(name.encode() for name in names)
    count = str(len(encoded)).encode()
    return KeySet(encoded, b"".join(bulk(part) for part in (count, *encoded)))


def encode_part(part: str) -> str:
    """Percent-encodes a part of an identity, so that no part can hold a separator or a brace."""
    return quote(part, safe="")


class RedisKeys:
    """Builds the keys under one prefix.

    Raises MemoryInvalid for a prefix with braces: they would become the hash tag.
    """

    def __init__(self, prefix: str) -> None:
        if not isinstance(prefix, str):
            raise MemoryInvalid(f"prefix: must be text, not {type(prefix).__name__}")
        if "{" in prefix or "}" in prefix:
            raise MemoryInvalid("prefix: must not contain braces, since they mark the cluster slot of a key")
        self._prefix = prefix
        self.memory: Callable[..., KeySet] = lru_cache(maxsize=_CACHED_MEMORIES)(self._memory)
        """Returns the keys of a memory, MEMORY_KEYS in order, and then those of the given user-defined sections."""

    def _memory(self, memory: MemoryId, *sections: Section) -> KeySet:
        return key_set(*self._names(memory, sections))

    def _names(self, memory: MemoryId, sections: tuple[Section, ...]) -> list[str]:
        tag = "/".join(encode_part(part) for part in (memory.project, memory.resource, memory.key))
        of_sections = (f"{kind}:{section}" for section in sections for kind in SECTION_KEYS)
        return [f"{self._prefix}{{{tag}}}:{name}" for name in (*MEMORY_KEYS, *of_sections)]

    def with_backups(self, memory: MemoryId, backup_ids: tuple[str, ...], *sections: Section) -> KeySet:
        """Returns the keys of a memory, then the list of its backups and the copies of these."""
        names = self._names(memory, sections)
        place = names[0].removesuffix(MEMORY_KEYS[0])
        copied = [part for name in names if (part := name.removeprefix(place)) not in _NOT_COPIED]
        copies = (f"{place}backup:{backup_id}:{part}" for backup_id in backup_ids for part in copied)
        return key_set(*names, f"{place}backup:list", *copies)

    def index(self, project: str, resource: str) -> KeySet:
        """Returns what changes when a memory is registered or forgotten.

        Index of the resource, all that is registered, bindings, names, resources.
        """
        return key_set(
            self._project(project, f"index:{encode_part(resource)}"),
            self._registered(project),
            self._project(project, "bindings"),
            self._project(project, f"names:{encode_part(resource)}"),
            self._resources(project),
        )

    def resources(self, project: str) -> KeySet:
        """Returns the set of the resources of a project that have registered memories."""
        return key_set(self._resources(project))

    def bindings(self, project: str) -> KeySet:
        """Returns the zset of who is bound to which memories of a project."""
        return key_set(self._project(project, "bindings"))

    def bindings_and_registered(self, project: str) -> KeySet:
        """Returns the bindings of a project, then what `registered` returns."""
        return key_set(self._project(project, "bindings"), self._registered(project))

    def registered(self, project: str) -> KeySet:
        """Returns the zset of all memories of a project that are registered, each with since when."""
        return key_set(self._registered(project))

    def spent(self, project: str, resource: str) -> KeySet:
        """Returns the hash of the language-model tokens that a resource has spent."""
        return key_set(self._project(project, f"spent:{encode_part(resource)}"))

    def start(self, project: str, activity: str) -> KeySet:
        """Returns since when the calls of an activity count that began late."""
        return key_set(self._project(project, f"start:{activity}"))

    def fleet(self, project: str, queue: str) -> KeySet:
        """Returns the hash of the workers of a queue, and what they declare."""
        return key_set(self._project(project, f"fleet:{queue}"))

    def key_checks(self, project: str) -> KeySet:
        """Returns the hash of the encryption keys of a project, by which a wrong one is found out."""
        return key_set(self._project(project, "keys"))

    def _registered(self, project: str) -> str:
        # So called as a sweep asks each of them whether a flush is due.
        return self._project(project, "due")

    def _resources(self, project: str) -> str:
        return self._project(project, "resources")

    def _project(self, project: str, name: str) -> str:
        return f"{self._prefix}{{{encode_part(project)}}}:{name}"
