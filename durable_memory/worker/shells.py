"""What other shells have to set, so that their programs and commands use the memories that a worker serves."""

from __future__ import annotations

import os
from collections.abc import Iterator

from durable_memory.dev import DevServers
from durable_memory.memory.settings import SECRETS, Settings, variable_of
from durable_memory.memory.task_queues import project_queue


def shell_variables(settings: Settings, servers: DevServers) -> dict[str, str]:
    """Returns where the declarations are, and servers that were started here, and all else that is not the default."""
    return dict(_variables(settings, servers))


def secrets_of(settings: Settings) -> str:
    """Returns the names of the secrets that other shells need as well, whose values no log may hold; '' without any."""
    needed = {field: variable for field, variable in SECRETS.items() if getattr(settings, field) is not None}
    if settings.redis_url == os.environ.get(SECRETS["redis_url"]):
        needed.pop("redis_url", None)  # a server that the environment names is left out, as in the variables
    return ", ".join(needed.values())


def _variables(settings: Settings, servers: DevServers) -> Iterator[tuple[str, str]]:
    if "valkey" in servers.started:
        yield variable_of("redis_url"), servers.redis_url
    if "temporal" in servers.started:
        yield "TEMPORAL_ADDRESS", servers.temporal_address
    # The default is a folder in the current one, which those of other shells need not be.
    folders = os.pathsep.join(str(folder.resolve()) for folder in settings.memories)
    yield variable_of("memories"), folders
    usual = {field: Settings.model_fields[field].default for field in ("project", "prefix", "encoding")}
    usual["task_queue"] = project_queue(settings.project)
    for field, default in usual.items():
        if (value := getattr(settings, field)) != default:
            yield variable_of(field), value
