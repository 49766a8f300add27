"""A cluster of three servers, and a primary with a replica and three Sentinels, from the one program at hand."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from redis.asyncio import Redis

from durable_memory.dev.supervisor import Server, ServerSpec, start_server
from durable_memory.dev.valkey import find_program
from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.testing.contracts.builders import user
from durable_memory.testing.contracts.driven import Driven
from tests.ports import quiet_ports

SLOTS = 16384
READY = "Ready to accept connections"


async def ask(client: Redis, *words: str | int) -> Any:
    """Sends a command of administration."""
    return await client.execute_command(*words)  # type: ignore[no-untyped-call] # not typed there


async def until(holds: Callable[[Redis], Awaitable[bool]], client: Redis) -> None:
    """Asks a server again until something holds; the test's own timeout bounds it."""
    while not await holds(client):  # noqa: ASYNC110 - the event happens in another process
        await asyncio.sleep(0.05)


def _options(port: int, **more: str) -> list[str]:
    options = {"port": str(port), "bind": "127.0.0.1", "dir": ".", "save": "", "set-proc-title": "no", **more}
    return [part for name, value in options.items() for part in (f"--{name}", value)]


@asynccontextmanager
async def open_cluster(folder: Path, *, primaries: int = 3, **options: str) -> AsyncIterator[str]:
    """Starts a cluster of primaries without replicas and yields its URL. options: further ones of each server."""
    program = str(find_program())
    edges = [SLOTS * number // primaries for number in range(primaries + 1)]

    def command(ports: Sequence[int]) -> list[str]:
        cluster = {"cluster-enabled": "yes", "cluster-port": str(ports[1]), "cluster-node-timeout": "10000"}
        return [program, *_options(ports[0], **cluster, **options)]

    async with AsyncExitStack() as stack:
        nodes: list[Redis] = []
        for number in range(primaries):
            server = await start_server(ServerSpec("node", command, 2, READY), folder / str(number))
            stack.callback(server.kill)
            node = Redis(port=server.ports[0])
            stack.push_async_callback(node.aclose)
            await ask(node, "CLUSTER", "ADDSLOTSRANGE", edges[number], edges[number + 1] - 1)
            if nodes:
                meet = ("CLUSTER", "MEET", "127.0.0.1", server.ports[0], server.ports[1])
                await ask(nodes[0], *meet)
            nodes.append(node)
        for node in nodes:
            await until(partial(_agrees, primaries), node)
        yield f"redis+cluster://127.0.0.1:{nodes[0].connection_pool.connection_kwargs['port']}"


async def _agrees(primaries: int, node: Redis) -> bool:
    info = await ask(node, "CLUSTER", "INFO")
    text = info.decode() if isinstance(info, bytes) else str(info)
    shards = await ask(node, "CLUSTER", "SLOTS")
    return "ok" in text.split("cluster_state", 1)[1][:10] and len(shards) == primaries


@dataclass(frozen=True)
class Sentinels:
    """A service that Sentinels watch. url: for clients; primary: the server that takes writes at first."""

    url: str
    primary: Server
    replica: Server


@asynccontextmanager
async def open_sentinels(folder: Path) -> AsyncIterator[Sentinels]:
    """Starts a primary, a replica and three Sentinels; returns when a failover would work."""
    program = str(find_program())
    async with AsyncExitStack() as stack:
        primary = await start_server(
            ServerSpec("primary", lambda p: [program, *_options(p[0])], 1, READY), folder / "p"
        )
        stack.callback(primary.kill)
        port = primary.ports[0]

        def following(ports: Sequence[int]) -> list[str]:
            return [program, *_options(ports[0]), "--replicaof", "127.0.0.1", str(port)]

        replica = await start_server(ServerSpec("replica", following, 1, READY), folder / "r")
        stack.callback(replica.kill)
        watchers = []
        for number in range(3):
            own = folder / f"s{number}"
            (own_port,) = quiet_ports(1)
            _configure(own, own_port, port)
            spec = ServerSpec("sentinel", lambda _: [program, "sentinel.conf", "--sentinel"], 1, "+monitor master")
            watcher = await start_server(spec, own, ports=(own_port,))
            stack.callback(watcher.kill)
            watchers.append(watcher.ports[0])
        for each in watchers:
            async with Redis(port=each, decode_responses=True) as sentinel:
                await until(_ready_for_failover, sentinel)
        places = ",".join(f"127.0.0.1:{each}" for each in watchers)
        yield Sentinels(f"redis+sentinel://{places}/mem/0", primary, replica)


def _configure(folder: Path, own_port: int, primary_port: int) -> None:
    lines = [
        f"port {own_port}",
        "bind 127.0.0.1",
        f"sentinel monitor mem 127.0.0.1 {primary_port} 2",
        "sentinel down-after-milliseconds mem 2000",
        "sentinel failover-timeout mem 2000",
    ]
    folder.mkdir(parents=True)
    (folder / "sentinel.conf").write_text("\n".join(lines) + "\n")


def sentinel_ports(service: Sentinels) -> list[int]:
    """Returns where its Sentinels listen."""
    return [int(place.rpartition(":")[2]) for place in urlsplit(service.url).netloc.split(",")]


async def replicated(port: int) -> None:
    """Waits until the replica has everything, since a failover loses what it has not."""
    async with Redis(port=port) as primary:
        await primary.set("mark", 1)  # WAIT is for what its own connection has written, and all before it
        assert await primary.wait(1, 60_000) == 1


async def append_until_it_lands(driven: Driven, text: str) -> None:
    """What Temporal's retries do: the same operation again, should the election take longer than one call waits."""
    async with asyncio.timeout(120):
        while True:
            with suppress(MemoryUnavailable):
                await driven.append(user(text), op=text)
                return


async def _ready_for_failover(sentinel: Redis) -> bool:
    flat = await ask(sentinel, "SENTINEL", "MASTER", "mem")
    state = flat if isinstance(flat, dict) else dict(zip(flat[::2], flat[1::2], strict=True))
    return int(state["num-slaves"]) >= 1 and int(state["num-other-sentinels"]) >= 2
