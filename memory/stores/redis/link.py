"""How scripts travel to Redis: one exchange per attempt, and nothing left half-read on a connection.

Scripts are idempotent by their operation id, so a call whose fate is unknown is simply sent again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, Protocol

from redis import exceptions
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection

from durable_memory.memory.errors import MemoryUnavailable
from durable_memory.memory.stores.patience import current_wait
from durable_memory.memory.stores.redis.attempts import EXCHANGE_SECONDS, Attempts
from durable_memory.memory.stores.redis.keys import KeySet, bulk
from durable_memory.memory.stores.redis.letting_in import ClosedAtOnceError, is_closed, spares_others
from durable_memory.memory.stores.redis.own_loop import OwnLoop
from durable_memory.memory.stores.redis.scripts import Script, load_script
from durable_memory.memory.stores.redis.waiting_line import WaitingLine
from durable_memory.memory.stores.time_limit import TimeLimit

Reply = Any
"""What a script answers: bytes, or a list of bytes and numbers."""

PROBE: Final = "probe"
"""A script that writes nothing and is refused where writes are: a PING is answered there, too."""


class Link(Protocol):
    """Sends scripts and commands. Safe for concurrent use and under cancellation.

    Belongs to the event loop in which it was made. Everything raises MemoryInvalid in another one.
    """

    def check_loop(self) -> None:
        """Returns in its own event loop only."""
        ...

    @property
    def generation(self) -> int:
        """Changes when servers may have lost what they answered last: who takes over has not all that was written."""
        ...

    async def run(self, script: Script, keys: KeySet, args: Sequence[bytes]) -> Reply:
        """Runs a script.

        Raises MemoryUnavailable if Redis cannot be reached, and redis-py's ResponseError for an error in the script.
        """
        ...

    async def run_soon(self, script: Script, keys: KeySet) -> Reply:
        """Runs a script; raises like run, but soon, as ping does."""
        ...

    async def command(self, *args: bytes | str) -> Reply:
        """Runs one command on one key; raises like run."""
        ...

    async def ping(self) -> None:
        """Returns when each server that holds memories answers, and takes writes.

        Raises like run, but soon: it waits for nothing to pass.
        """
        ...

    async def info(self) -> list[dict[str, str]]:
        """Returns INFO of each server that takes writes; raises like run."""
        ...

    async def settings(self, *names: str) -> list[dict[str, str]]:
        """Returns these settings of each server that takes writes; raises like run. Many services refuse to tell."""
        ...

    async def close(self) -> None:
        """Closes all connections."""
        ...


def parse_info(text: bytes) -> dict[str, str]:
    """Reads the answer of INFO."""
    lines = (line.partition(":") for line in text.decode("utf-8", "replace").splitlines())
    return {name: value.strip() for name, colon, value in lines if colon}


def parse_settings(flat: Reply) -> dict[str, str]:
    """Reads the answer of CONFIG GET; of a service that gives none of this form, nothing."""
    if not isinstance(flat, list):
        return {}
    words = [word.decode("utf-8", "replace") for word in flat]
    return dict(zip(words[::2], words[1::2], strict=True))


class PooledLink:
    """A link to one server, or to the primary that Sentinel names.

    The pool of redis-py is only asked for new connections. An exchange writes one packed command and reads one answer,
    and a connection on which anything else happened is closed before it is used again.
    """

    def __init__(self, pool: ConnectionPool, place: str, on_close: Callable[[], Awaitable[None]] | None = None) -> None:
        self.check_loop = OwnLoop().check
        self._pool = pool
        self._place = place
        self._on_close = on_close
        # Options are only looked at when a connection is made, so a wrong one is found here and not in the first call.
        self._idle = [self._new_connection()]
        self._line = line = WaitingLine()
        self._attempts = Attempts(place, line.is_full, lambda: line.answered_at, connections=line.places)
        self._in_time = TimeLimit(EXCHANGE_SECONDS)
        self._closed = asyncio.Event()
        self._losses = 0
        """How often all connections were given up, also by a caller that waited no longer."""

    @property
    def generation(self) -> int:
        """See Link. Nobody takes over without a call that fails, or is given up."""
        return self._attempts.failures + self._losses

    async def run(self, script: Script, keys: KeySet, args: Sequence[bytes]) -> Reply:
        """See Link."""
        return await self._attempts.until_answered(self._attempt(script, keys, args))

    async def run_soon(self, script: Script, keys: KeySet) -> Reply:
        """See Link."""
        return await self._attempts.soon(self._attempt(script, keys, ()))

    def _attempt(self, script: Script, keys: KeySet, args: Sequence[bytes]) -> Callable[[], Awaitable[Reply]]:
        """Returns an attempt to run a script."""
        self.check_loop()
        head = b"*%d\r\n" % (3 + len(keys.names) + len(args))
        body = keys.wire + b"".join([b"$%d\r\n%b\r\n" % (len(arg), arg) for arg in args])
        packed = head + script.call + body

        async def attempt() -> Reply:
            try:
                return await self._exchange(packed)
            except exceptions.NoScriptError:
                return await self._exchange(head + b"$4\r\nEVAL\r\n" + bulk(script.source) + body)

        return attempt

    async def command(self, *args: bytes | str) -> Reply:
        """See Link."""
        self.check_loop()
        encoded = [arg.encode() if isinstance(arg, str) else arg for arg in args]
        packed = b"*%d\r\n" % len(encoded) + b"".join(bulk(arg) for arg in encoded)
        return await self._attempts.until_answered(lambda: self._exchange(packed))

    async def ping(self) -> None:
        """See Link."""
        self.check_loop()
        packed = b"*3\r\n$4\r\nEVAL\r\n" + bulk(load_script(PROBE).source) + bulk(b"0")
        await self._attempts.soon(lambda: self._exchange(packed))

    async def info(self) -> list[dict[str, str]]:
        """See Link."""
        return [parse_info(await self.command("INFO"))]

    async def settings(self, *names: str) -> list[dict[str, str]]:
        """See Link."""
        return [parse_settings(await self.command("CONFIG", "GET", *names))]

    async def _exchange(self, packed: bytes) -> Reply:
        if self._closed.is_set():
            raise MemoryUnavailable(f"the connections to Redis at {self._place} are closed")
        line = self._line
        async with line:
            answers = line.answers
            connection = self._idle.pop() if self._idle else self._new_connection()
            try:
                with self._in_time():
                    if not connection.is_connected:
                        await _connect(connection)
                    await connection.send_packed_command(packed, check_health=False)
                    reply = await connection.read_response()
                    line.note_answer()
                    return reply
            except exceptions.ReadOnlyError:
                # A replica now: connect anew, which asks for the name or the Sentinel again.
                await self._drop_idle()
                await connection.disconnect(nowait=True)
                raise
            except exceptions.ResponseError:
                line.note_answer()
                raise  # the answer was read whole
            except BaseException as error:
                await connection.disconnect(nowait=True)
                given_up = isinstance(error, asyncio.CancelledError)
                if not (spares_others(error) or (given_up and line.answers != answers)):
                    await self._drop_idle()
                raise
            finally:
                # The last one is taken next: one that is connected, while there is any.
                self._idle.insert(len(self._idle) if connection.is_connected else 0, connection)
                if self._closed.is_set():
                    await connection.disconnect(nowait=True)

    def _new_connection(self) -> AbstractConnection:
        connection: AbstractConnection = self._pool.make_connection()  # type: ignore[no-untyped-call] # not typed there
        return connection

    async def _drop_idle(self) -> None:
        """Closes idle connections: what broke one has broken the others too; each connects again when it is used.

        A call that was given up broke nothing if others were answered while it waited. Nor did a new connection that
        could not be made: those that there are go on, and where places are few, other processes would take theirs.
        """
        self._losses += 1
        for connection in self._idle:
            await connection.disconnect(nowait=True)

    async def close(self) -> None:
        """See Link."""
        self.check_loop()
        self._closed.set()
        for connection in self._idle:
            await connection.disconnect()
        if self._on_close is not None:
            await self._on_close()


async def _connect(connection: AbstractConnection) -> None:
    try:
        await connection.connect()  # type: ignore[no-untyped-call] # not typed there
    except exceptions.ConnectionError as error:
        if is_closed(error):
            raise ClosedAtOnceError from error
        raise
    wait = current_wait()
    if wait is not None:
        wait.connected()
