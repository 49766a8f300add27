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
class DevPlaces:
    """Where servers that are started here keep their data and listen, on loopback.

    Attributes:
        folder: Each server has a folder of its own in here, with its data, log and pid file; a later run finds the data
            again.
        redis_port: Of the Valkey; None takes a free one.
        temporal_port: Of the Temporal dev server; None takes a free one.
        ui_port: Of Temporal's web page; None takes a free one.
    """

    folder: Path = DEFAULT_FOLDER
    redis_port: int | None = None
    temporal_port: int | None = None
    ui_port: int | None = None


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
    places: DevPlaces | None = None, *, redis_url: str | None = None, temporal_address: str | None = None
) -> AsyncIterator[DevServers]:
    """Starts only the servers whose address is not given, and stops what it started.

    Args:
        places: Folder and ports of what is started.
        redis_url: A Redis to use instead of an own Valkey.
        temporal_address: A Temporal to use instead of an own dev server.

    Yields:
        The addresses.

    Raises:
        ServerStartError: One sentence that says which server is missing and how to get it.
    """
    places = places or DevPlaces()
    async with AsyncExitStack() as stack:
        started: list[str] = []
        temporal_ui = None
        if redis_url is None:
            valkey = await start_valkey(places.folder / "valkey", port=places.redis_port)
            stack.push_async_callback(valkey.server.stop)
            started.append(valkey.server.name)
            redis_url = valkey.url
        if temporal_address is None:
            temporal = await start_temporal(
                places.folder / "temporal", port=places.temporal_port, ui_port=places.ui_port
            )
            stack.push_async_callback(temporal.server.stop)
            started.append(temporal.server.name)
            temporal_address, temporal_ui = temporal.address, temporal.ui_url
        yield DevServers(redis_url, temporal_address, temporal_ui, tuple(started))
