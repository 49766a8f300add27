"""Opens the stores that declarations need; a driver is imported only where it is needed."""

from __future__ import annotations

from durable_memory.memory.declarations.encryption import refuse_plain_text
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.key_checks import check_keys, warn_without_keys
from durable_memory.memory.privacy.keyring import Keyring
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.sealed import sealed_backend


async def open_backends(
    registry: Registry, redis_url: str | None, *, project: str, prefix: str, encryption_keys: str | None
) -> dict[str, Backend]:
    """Returns what the memories of a registry need, by persistence type. See MemoryClient.connect."""
    keyring = None if encryption_keys is None else _keyring(encryption_keys)
    if keyring is None:
        refuse_plain_text(registry)
    backends: dict[str, Backend] = {}
    if registry.uses("in_memory"):
        from durable_memory.memory.stores.in_memory import open_in_memory  # noqa: PLC0415 - loaded where it is used

        backends["in_memory"] = open_in_memory()
    if registry.uses("redis"):
        if not redis_url:
            raise MemoryInvalid(
                "redis_url: is not given, and there are memories with persistence.type redis; set REDIS_URL for "
                "MemoryClient.from_environment, or pass it to MemoryClient.connect, which reads no environment"
            )
        from durable_memory.memory.stores.redis.connection import connect_redis  # noqa: PLC0415 - loaded where it is used

        backend = await connect_redis(redis_url, prefix=prefix)
        backends["redis"] = await _with_keys(backend, keyring, project)
    return backends


async def _with_keys(backend: Backend, keyring: Keyring | None, project: str) -> Backend:
    try:
        if keyring is None:
            await warn_without_keys(backend.key_checks, project)
            return backend
        await check_keys(backend.key_checks, project, keyring)
    except BaseException:
        await backend.store.close()
        raise
    return sealed_backend(backend, keyring)


def _keyring(keys: str) -> Keyring:
    try:
        return Keyring.parse(keys)
    except ValueError as error:
        raise MemoryInvalid(f"encryption_keys: {error}") from None
