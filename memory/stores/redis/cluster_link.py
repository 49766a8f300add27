"""The link to a cluster: redis-py finds the node of a key and follows moved slots."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

from redis import exceptions
from redis.asyncio import RedisCluster

from durable_memory.memory.bounded import for_each
from durable_memory.memory.stores.redis.attempts import EXCHANGE_SECONDS, Attempts
from durable_memory.memory.stores.redis.keys import KeySet
from durable_memory.memory.stores.redis.link import PROBE, Reply, parse_settings
from durable_memory.memory.stores.redis.own_loop import OwnLoop
from durable_memory.memory.stores.redis.scripts import Script, load_script
from durable_memory.memory.stores.redis.waiting_line import WaitingLine

UNASKED_SECONDS: Final = 60
"""How long a loss may stay unseen on a node of a cluster that steady writes do not ask, such as that of the index."""


class _Node:
    """The calls to one node. redis-py refuses those for which it has no connection more, so they wait before it."""

    def __init__(self, place: str) -> None:
        self._line = line = WaitingLine()
        self.attempts = Attempts(place, line.is_full, lambda: line.answered_at, connections=line.places, servers=True)

    async def exchange(self, ask: Callable[[], Awaitable[Reply]]) -> Reply:
        """Asks when it is its turn."""
        async with self._line, asyncio.timeout(EXCHANGE_SECONDS):
            try:
                reply = await ask()
            except exceptions.ReadOnlyError:
                raise  # of who is the node no more
            except exceptions.ResponseError:
                self._line.note_answer()
                raise
            self._line.note_answer()
            return reply


class ClusterLink:
    """A link to a cluster, with as many connections to each node as another link has to its server."""

    def __init__(self, cluster: RedisCluster, place: str) -> None:
        self.check_loop = OwnLoop().check
        self._cluster = cluster
        self._attempts = Attempts(place, servers=True)
        """Those of calls to all nodes."""
        self._nodes: defaultdict[str, _Node] = defaultdict(lambda: _Node(place))

    @property
    def generation(self) -> int:
        """See Link. It also changes with time, as a node may be replaced that no call has asked meanwhile."""
        failures = sum([node.attempts.failures for node in self._nodes.values()])
        return self._attempts.failures + failures + int(asyncio.get_running_loop().time() / UNASKED_SECONDS)

    async def run(self, script: Script, keys: KeySet, args: Sequence[bytes]) -> Reply:
        """See Link."""
        node = self._node_of(keys.names[0].decode())
        return await node.attempts.until_answered(lambda: node.exchange(self._asking(script, keys, args)))

    async def run_soon(self, script: Script, keys: KeySet) -> Reply:
        """See Link."""
        node = self._node_of(keys.names[0].decode())
        return await node.attempts.soon(lambda: node.exchange(self._asking(script, keys, ())))

    def _asking(self, script: Script, keys: KeySet, args: Sequence[bytes]) -> Callable[[], Awaitable[Reply]]:
        """Returns what asks for a script once."""
        count = len(keys.names)

        async def ask() -> Reply:
            try:
                return await self._cluster.execute_command("EVALSHA", script.sha, count, *keys.names, *args)
            except exceptions.NoScriptError:
                return await self._cluster.execute_command("EVAL", script.source, count, *keys.names, *args)

        return ask

    async def command(self, *args: bytes | str) -> Reply:
        """See Link."""
        node = self._node_of(args[1] if isinstance(args[1], str) else args[1].decode())
        return await node.attempts.until_answered(lambda: node.exchange(lambda: self._cluster.execute_command(*args)))

    def _node_of(self, key: str) -> _Node:
        """Returns the node that has a key, as far as is known."""
        self.check_loop()
        try:
            found = self._cluster.get_node_from_key(key)
        except exceptions.RedisClusterException:
            found = None  # redis-py asks who has it, and says so if nobody does
        return self._nodes["" if found is None else found.name]

    async def ping(self) -> None:
        """See Link."""
        await self._attempts.soon(self._of_each_primary("EVAL", load_script(PROBE).source.decode(), "0"))

    async def info(self) -> list[dict[str, str]]:
        """See Link."""
        answers = await self._attempts.until_answered(self._of_each_primary("INFO"))  # which redis-py has read
        return [{name: str(value) for name, value in answer.items()} for answer in answers]

    async def settings(self, *names: str) -> list[dict[str, str]]:
        """See Link."""
        answers = await self._attempts.until_answered(self._of_each_primary("CONFIG", "GET", *names))
        return [parse_settings(answer) for answer in answers]

    def _of_each_primary(self, *args: str) -> Callable[[], Awaitable[list[Reply]]]:
        """Returns an attempt to run one command on each of them."""
        self.check_loop()

        async def attempt() -> list[Reply]:
            async with asyncio.timeout(EXCHANGE_SECONDS):
                await self._cluster.initialize()
                primaries = self._cluster.get_primaries()
                # One by one named: to the flag PRIMARIES a cluster of a single one answers in another form.
                return await for_each(
                    primaries,
                    lambda node: self._cluster.execute_command(*args, target_nodes=[node]),
                    at_once=len(primaries),
                )

        return attempt

    async def close(self) -> None:
        """See Link."""
        self.check_loop()
        await self._cluster.aclose()
