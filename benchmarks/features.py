"""Rows about features: what each costs an append or a read, beside the same memory without it."""

from __future__ import annotations

import base64
import secrets
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

from measure import compare
from subjects import TEXT
from table import Row

from durable_memory import MemoryClient, Registry

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
_SHOWN: Final = 50


async def rows(redis_url: str) -> AsyncIterator[Row]:
    """Measures an append of 1 KB, and a read of 50 such messages, with and without each feature."""
    declared = [_resource("plain", {})]
    declared += [_resource(f"f{number}", fields) for number, fields in enumerate(_FEATURES.values())]
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


async def _beside_plain(name: str, client: MemoryClient, other: MemoryClient, resource: str) -> AsyncIterator[Row]:
    plain, featured = client.memory("plain", secrets.token_hex(8)), other.memory(resource, secrets.token_hex(8))
    append = await compare(
        lambda number: featured.append(f"{number} {TEXT}"), lambda number: plain.append(f"{number} {TEXT}"), rounds=7
    )
    detail = f"{append.subject_us:.0f} µs against {append.floor_us:.0f} without"
    yield Row(f"append with {name}", append.ratio, None, detail)
    read = await compare(lambda _: featured.read(limit=_SHOWN), lambda _: plain.read(limit=_SHOWN), calls=50, rounds=7)
    yield Row("… a read of 50", read.ratio, None, f"{read.subject_us:.0f} µs against {read.floor_us:.0f} without")


def _resource(name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"resource": "memory", "id": name, **_PLAIN, **fields}


def _keys() -> str:
    return f"bench:{base64.b64encode(secrets.token_bytes(32)).decode()}"
