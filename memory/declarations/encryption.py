"""Which memories a process without encryption keys must leave alone: those that are declared never to be plain text."""

from __future__ import annotations

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryInvalid


def refuse_plain_text(registry: Registry) -> None:
    """Refuses memories that require encryption, where what stores them has no keys.

    Those of persistence type in_memory keep nothing at rest and are let be, so that the YAML that a program ships can
    be tested in memory. Raises MemoryInvalid.
    """
    for resource in registry.memories():
        if resource.privacy_policy.require_encryption and resource.persistence.type != "in_memory":
            raise MemoryInvalid(
                f"{resource.id}: privacy_policy.require_encryption is true, and this process has no encryption keys; "
                "set DURABLE_MEMORY_ENCRYPTION_KEYS or DURABLE_MEMORY_ENCRYPTION_KEYS_FILE, or pass encryption_keys= "
                "to MemoryClient.connect, which reads no environment"
            )
