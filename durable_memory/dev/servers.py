"""The servers that `--dev` needs: whatever the environment does not give is started here and stopped at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from durable_memory.dev.temporal import start_temporal
from durable_memory.dev.valkey import start_valkey

DEFAULT_FOLDER = Path(".durable-memory")


@dataclass(frozen=True, slots=True)
class DevServers:
    """Where the servers are.

    Attributes:
        redis_url: The given URL, or that of the started Valkey.
        temporal_address: The given address, or that of the started dev server.
        temporal_ui: The web page of the started dev server; None if the address was given.
        started: The names of the servers that were started here.
    """

    redis_url: str
    temporal_address: str
    temporal_ui: str | None
    started: tuple[str, ...]


@asynccontextmanager
async def dev_servers(
    data_dir: Path = DEFAULT_FOLDER, *, redis_url: str | None = None, temporal_address: str | None = None
) -> AsyncIterator[DevServers]:
    """Starts only the servers whose address is not given, and stops what it started.

    Args:
        data_dir: Each server keeps its data, log and pid file in a folder of its own in here; a later run finds the
            data again.
        redis_url: A Redis to use instead of an own Valkey.
        temporal_address: A Temporal to use instead of an own dev server.

    Yields:
        The addresses.

    Raises:
        ServerStartError: One sentence that says which server is missing and how to get it.
    """
    async with AsyncExitStack() as stack:
        started: list[str] = []
        temporal_ui = None
        if redis_url is None:
            valkey = await start_valkey(data_dir / "valkey")
            stack.push_async_callback(valkey.server.stop)
            started.append(valkey.server.name)
            redis_url = valkey.url
        if temporal_address is None:
            temporal = await start_temporal(data_dir / "temporal")
            stack.push_async_callback(temporal.server.stop)
            started.append(temporal.server.name)
            temporal_address, temporal_ui = temporal.address, temporal.ui_url
        yield DevServers(redis_url, temporal_address, temporal_ui, tuple(started))
