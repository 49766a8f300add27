"""Rows about features: what each costs an append or a read, beside the same memory without it."""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from measure import Work, compare, compare_all
from subjects import TEXT, Floor
from table import Row

from durable_memory import Memory, MemoryClient, Registry

_PLAIN: Final[Mapping[str, Any]] = {"max_tokens": 100_000_000, "persistence": {"ttl": "1d"}}
_FEATURES: Final[Mapping[str, Mapping[str, Any]]] = {
    "lru": {"eviction_policy": {"type": "lru"}},
    "lfu": {"eviction_policy": {"type": "lfu"}},
    "priority with keywords": {
        "eviction_policy": {"type": "priority", "priority_keywords": ["visa", "passport", "deadline"]}
    },
    "token_allocation": {
        "token_allocation": {"short_term": 0.6, "long_term": 0.2, "system": 0.1, "user_defined": {"notes": 0.1}}
    },
    "redaction of all entities": {
        "privacy_policy": {
            "redact_entities": ["email", "phone", "credit_card", "iban", "us_ssn", "ip_address", "api_key"],
        }
    },
    "a circuit breaker": {"persistence": {"ttl": "1d", "circuit_breaker": {"enabled": True}}},
    "oversize: truncate": {"oversize": "truncate"},
}
_EVERY: Final[Mapping[str, Any]] = {
    **_FEATURES["priority with keywords"],
    **_FEATURES["token_allocation"],
    **_FEATURES["oversize: truncate"],
    "persistence": {"ttl": "1d", "refresh_on_read": True, "circuit_breaker": {"enabled": True}},
}
"""All that may stand together, but for what changes the messages themselves."""
_SHOWN: Final = 50


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Measures an append of 1 KB and a read of 50, with and without each feature, and with all of them."""
    declared = [_resource("plain", {})]
    declared += [_resource(f"f{number}", fields) for number, fields in enumerate(_FEATURES.values())]
    declared += [_resource("every", _EVERY)]
    declared += [_resource("private", {**_EVERY, **_FEATURES["redaction of all entities"]})]
    registry = Registry.from_resources(declared)
    async with (
        await MemoryClient.connect(redis_url, memories=registry, prefix="plain:") as client,
        await MemoryClient.connect(redis_url, memories=registry, prefix="sealed:", encryption_keys=_keys()) as sealed,
    ):
        for number, name in enumerate(_FEATURES):
            async for row in _beside_plain(name, client, client, f"f{number}"):
                yield row
        async for row in _beside_plain("encryption", client, sealed, "plain"):
            yield row
        floor = Floor(redis_url)
        async for row in _beside_bare("every feature", client, client, "every", floor, bar=1.7):
            yield row
        async for row in _beside_bare("redaction and encryption too", client, sealed, "private", floor, bar=None):
            yield row
        await floor.close()


async def _beside_plain(name: str, client: MemoryClient, other: MemoryClient, resource: str) -> AsyncIterator[Row]:
    plain, featured = _fresh(client, "plain"), _fresh(other, resource)
    append = await compare(_appends(featured), _appends(plain), rounds=70)
    detail = f"{append.subject_us:.0f} µs against {append.floor_us:.0f} without"
    yield Row(f"append with {name}", append.ratio, None, detail)
    yield await _read(featured, plain)


async def _beside_bare(
    name: str, client: MemoryClient, other: MemoryClient, resource: str, floor: Floor, *, bar: float | None
) -> AsyncIterator[Row]:
    """What is held against the bare push that an append in full is held against."""
    plain, featured = _fresh(client, "plain"), _fresh(other, resource)
    bare, without = await compare_all(_appends(featured), [floor.append_by_redis_py, _appends(plain)])
    detail = f"{bare.subject_us:.0f} µs / bare Lua by redis-py {bare.floor_us:.0f}"
    yield Row(f"append in full with {name}", bare.ratio, bar, detail)
    yield Row("… beside one without", without.ratio, None, f"{without.floor_us:.0f} µs without")
    yield await _read(featured, plain)


async def _read(featured: Memory, plain: Memory) -> Row:
    read = await compare(lambda _: featured.read(limit=_SHOWN), lambda _: plain.read(limit=_SHOWN), calls=5, rounds=70)
    return Row("… a read of 50", read.ratio, None, f"{read.subject_us:.0f} µs against {read.floor_us:.0f} without")


def _fresh(client: MemoryClient, resource: str) -> Memory:
    return client.memory(resource, secrets.token_hex(8))


def _appends(memory: Memory) -> Work:
    return lambda number: memory.append(f"{number} {TEXT}")


def _resource(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"resource": "memory", "id": name, **_PLAIN, **fields}


def _keys() -> str:
    return f"bench:{base64.b64encode(secrets.token_bytes(32)).decode()}"
