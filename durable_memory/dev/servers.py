"""The servers that `--dev` needs: whatever the environment does not give is started here and stopped at the end."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from durable_memory.dev.temporal import start_temporal
from durable_memory.dev.valkey import start_valkey
from durable_memory.dev.watched import KeptValkey, end_with, looking_after

DEFAULT_FOLDER = Path(".durable-memory")


@dataclass(frozen=True, slots=True)
class DevPlaces:
    """Where servers that are started here keep their data and listen, on loopback.

    folder: each server has a folder of its own in here, with its data, log and pid file; a later run finds the data
    again. redis_port: of the Valkey. temporal_port: of the Temporal dev server. ui_port: of Temporal's web page. None
    takes a free one.
    """

    folder: Path = DEFAULT_FOLDER
    redis_port: int | None = None
    temporal_port: int | None = None
    ui_port: int | None = None


@dataclass(frozen=True, slots=True)
class DevServers:
    """Where the servers are: those that were given, or were started here.

    temporal_ui: the web page of the started dev server; None if the address was given. started: the names of the
    servers that were started here.
    """

    redis_url: str
    temporal_address: str
    temporal_ui: str | None
    started: tuple[str, ...]


@asynccontextmanager
async def dev_servers(
    places: DevPlaces | None = None, *, redis_url: str | None = None, temporal_address: str | None = None
) -> AsyncIterator[DevServers]:
    """Starts only the servers whose address is not given, and stops what it started; yields all addresses.

    A started Valkey that ends is started again; a Temporal that ends cancels the block, which raises ServerEndedError
    then. Either is logged at once.

    places: folder and ports of what is started. redis_url, temporal_address: of servers to use instead. Raises
    ServerStartError, one sentence that says which server is missing and how to get it.
    """
    places = places or DevPlaces()
    async with AsyncExitStack() as stack:
        started: list[str] = []
        watches: list[Callable[[], Coroutine[Any, Any, NoReturn]]] = []
        temporal_ui = None
        if redis_url is None:
            # Durable as a server that nobody has to be warned of.
            valkey = await start_valkey(places.folder / "valkey", port=places.redis_port, fsync="always")
            kept = KeptValkey(valkey, places.folder / "valkey")
            stack.push_async_callback(kept.stop)
            watches.append(kept.keep)
            started.append(valkey.server.name)
            redis_url = valkey.url
        if temporal_address is None:
            temporal = await start_temporal(
                places.folder / "temporal", port=places.temporal_port, ui_port=places.ui_port
            )
            stack.push_async_callback(temporal.server.stop)
            watches.append(partial(end_with, temporal.server, places.folder / "temporal"))
            started.append(temporal.server.name)
            temporal_address, temporal_ui = temporal.address, temporal.ui_url
        async with looking_after(*watches):
            yield DevServers(redis_url, temporal_address, temporal_ui, tuple(started))
