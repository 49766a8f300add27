"""What a plugin refuses or warns of when it is made, and when a worker is: before any workflow is started for it."""

from __future__ import annotations

import logging

from temporalio.client import Client
from temporalio.common import VersioningBehavior
from temporalio.worker import WorkerConfig

from durable_memory.memory.declarations.encryption import refuse_plain_text
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.settings import Settings

_log = logging.getLogger(__name__)


def refuse_in_memory(registry: Registry) -> None:
    """Refuses memories that end with the last worker."""
    for resource in registry.memories():
        if resource.persistence.type == "in_memory":
            raise MemoryInvalid(
                f"{resource.id}: persistence.type in_memory keeps messages in one process and loses them with it; "
                "use redis, or MemoryPlugin(allow_in_memory=True) in a test"
            )


def refuse_without_redis(registry: Registry, settings: Settings) -> None:
    """Refuses memories that are kept in a Redis that nobody has named."""
    if not settings.redis_url and registry.uses("redis"):
        raise MemoryInvalid(
            "REDIS_URL is not set, and the declared memories are kept in Redis; set it, or pass "
            "MemoryPlugin(redis_url=…)"
        )


def refuse_without_keys(registry: Registry, settings: Settings) -> None:
    """Refuses memories that this process would keep in plain text and must not."""
    if settings.encryption_keys is None:
        refuse_plain_text(registry)


def refuse_pinned(config: WorkerConfig) -> None:
    """Refuses a version that would hold flushers: once its workers are gone, these would swallow wake-ups."""
    deployment = config.get("deployment_config")
    if deployment is None or not deployment.use_worker_versioning:
        return
    if deployment.default_versioning_behavior is not VersioningBehavior.AUTO_UPGRADE:
        raise MemoryInvalid(
            "deployment_config: a versioned worker of the project's queue runs its flushes, which go on with the "
            "current version; set default_versioning_behavior=VersioningBehavior.AUTO_UPGRADE, or another task queue"
        )


def warn_of_plain_payloads(client: Client, settings: Settings) -> None:
    """Warns of a client that has no codec where the environment has keys for one."""
    if settings.payload_keys is not None and client.data_converter.payload_codec is None:
        _log.warning(
            "DURABLE_MEMORY_PAYLOAD_KEYS is set, but the client of this worker has no payload codec, so Temporal "
            "keeps in plain text what workflows and activities pass: connect it with a data converter that has "
            "EncryptionCodec"
        )
