"""What other shells have to set, so that their programs and commands use the memories that a worker serves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Final

from durable_memory.dev import DevServers
from durable_memory.memory.settings import Settings
from durable_memory.memory.task_queues import project_queue

_SECRETS: Final = ("encryption_keys", "payload_keys")


def shell_variables(settings: Settings, servers: DevServers) -> dict[str, str]:
    """Returns all that is not the default, and where the servers are that were started here."""
    return dict(_variables(settings, servers))


def secrets_of(settings: Settings) -> str:
    """Returns the names of the secrets that other shells need as well, whose values no log may hold; '' without any."""
    return ", ".join(_name(field) for field in _SECRETS if getattr(settings, field) is not None)


def _variables(settings: Settings, servers: DevServers) -> Iterator[tuple[str, str]]:
    if "valkey" in servers.started:
        yield "REDIS_URL", servers.redis_url
    if "temporal" in servers.started:
        yield "TEMPORAL_ADDRESS", servers.temporal_address
    usual = {field: Settings.model_fields[field].default for field in ("project", "prefix", "encoding", "memories")}
    usual["task_queue"] = project_queue(settings.project)
    for field, default in usual.items():
        value = getattr(settings, field)
        if value != default:
            yield (
                _name(field),
                value if isinstance(value, str) else os.pathsep.join(str(one.resolve()) for one in value),
            )


def _name(field: str) -> str:
    return f"DURABLE_MEMORY_{field.upper()}"
