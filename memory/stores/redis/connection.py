"""Opens Redis by its URL, refuses what is too old, and says what could lose data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from redis.asyncio import ConnectionPool, RedisCluster, SSLConnection
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import SentinelConnectionPool
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import DEFAULT_PREFIX
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.cluster_link import ClusterLink
from durable_memory.memory.stores.redis.fleet import RedisFleet
from durable_memory.memory.stores.redis.guarded import GuardedLink
from durable_memory.memory.stores.redis.index import RedisProjectIndex
from durable_memory.memory.stores.redis.key_checks import RedisKeyChecks
from durable_memory.memory.stores.redis.keys import RedisKeys
from durable_memory.memory.stores.redis.link import Link, PooledLink
from durable_memory.memory.stores.redis.spending import RedisSpending
from durable_memory.memory.stores.redis.starts import RedisStarts
from durable_memory.memory.stores.redis.store import RedisStore
from durable_memory.memory.stores.redis.tls_sentinel import KnownSentinels, TlsSentinel
from durable_memory.memory.stores.redis.url import (
    check_url,
    has_tls,
    is_cluster,
    is_sentinel,
    of_one_server,
    parse_sentinel_url,
    redact_url,
    same_with,
    sentinel_form,
    tls_options,
    unreadable,
)

_CONNECT_SECONDS: Final = 3.0
_OLDEST: Final = (7, 0)
_LOST: Final = {
    when: f"Redis has appendfsync {when}: a crash of its machine loses what was acknowledged in the last {seconds} "
    "seconds; set appendfsync always where nothing may be lost."
    for when, seconds in (("everysec", "two"), ("no", "thirty"))
}
"""What a setting of appendfsync can lose. With `no` Linux writes after some thirty seconds by default."""


async def connect_redis(url: str, *, prefix: str = DEFAULT_PREFIX) -> Backend:
    """Opens the store and the project index on one Redis, Redis Cluster or Sentinel service.

    url: `redis://`, `rediss://`, `unix://`, `redis+cluster://host:port`, or
    `redis+sentinel://host:port[,host:port]/service[/db]`, with `?sentinel_password=` where Sentinels ask for one.
    `rediss+cluster://` and `rediss+sentinel://` speak TLS with all nodes, or with Sentinels and data servers alike.
    prefix: of every key; without braces. Raises MemoryInvalid for a wrong URL or prefix, or a server older than 7.0;
    MemoryUnavailable if the server does not answer or refuses the user.
    """
    check_url(url)
    keys = RedisKeys(prefix)
    link = _open(url)
    try:
        servers = await link.info()
        for server in servers:
            _check_server(url, server)
        warnings = await _warnings(link, servers)
    except BaseException as error:
        await link.close()
        if isinstance(error, RedisError):
            raise _not_opened(url, error) from error
        raise
    return _backend(link, keys, warnings)


def _backend(link: Link, keys: RedisKeys, warnings: tuple[str, ...]) -> Backend:
    return Backend(
        RedisStore(link, keys),
        RedisProjectIndex(link, keys),
        RedisSpending(link, keys),
        RedisStarts(link, keys),
        RedisFleet(link, keys),
        RedisKeyChecks(link, keys),
        guarded=lambda breaker: _backend(GuardedLink(link, breaker), keys, warnings),
        warnings=warnings,
        check_loop=link.check_loop,
    )


async def _warnings(link: Link, servers: Sequence[dict[str, str]]) -> tuple[str, ...]:
    """Returns one sentence for each setting of the servers under which acknowledged messages can be lost."""
    found = [warning for server in servers for warning in server_warnings(server)]
    found += [_LOST[when] for when in await _fsyncs(link) if when in _LOST]
    return tuple(dict.fromkeys(found))


async def _fsyncs(link: Link) -> list[str]:
    """Returns when the append-only file of each server reaches its disk, where it has one and says so."""
    try:
        servers = await link.settings("appendonly", "appendfsync")
    except (MemoryUnavailable, RedisError):
        return []
    return [server.get("appendfsync", "") for server in servers if server.get("appendonly") == "yes"]


def server_warnings(info: dict[str, str]) -> tuple[str, ...]:
    """Returns the warnings that the INFO of one server gives reason for."""
    warnings = []
    policy = info.get("maxmemory_policy", "noeviction")
    if policy != "noeviction":
        warnings.append(
            f"Redis has maxmemory-policy {policy}: when it is full it removes parts of memories; set noeviction."
        )
    if info.get("aof_enabled", "1") == "0":
        warnings.append(
            "Redis runs without an append-only file: a restart loses what was written since the last snapshot; "
            "set appendonly yes."
        )
    return tuple(warnings)


def _not_opened(url: str, error: RedisError) -> MemoryInvalid:
    """What the server says to a wrong database, option or service; it knows no secret but the password."""
    return MemoryInvalid(f"Redis at {redact_url(url)} cannot be used as this URL says: {str(error)[:200]}")


def _check_server(url: str, info: dict[str, str]) -> None:
    version = info.get("redis_version", "0")
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())
    if numbers < _OLDEST:
        raise MemoryInvalid(f"Redis at {redact_url(url)} has version {version}; 7.0 or newer (or Valkey) is needed")
    if "sentinel" in (info.get("redis_mode"), info.get("server_mode")):  # the second is Valkey's name
        raise MemoryInvalid(
            f"Redis at {redact_url(url)} is a Sentinel, which keeps nothing; name all of them and the service as "
            f"{sentinel_form(url)}"
        )
    if info.get("cluster_enabled") == "1" and not is_cluster(url):
        raise MemoryInvalid(
            f"Redis at {redact_url(url)} is part of a cluster; write {same_with(url, 'cluster')} instead"
        )


def _open(url: str) -> Link:
    place = redact_url(url)
    # Retries are made in one place, the link; RESP2 is the cheaper of the two protocols to read.
    options = {"socket_connect_timeout": _CONNECT_SECONDS, "retry": Retry(NoBackoff(), 0), "protocol": 2}
    try:
        if has_tls(url):
            _check_tls(url, place)
        if is_cluster(url):
            return _open_cluster(url, place)
        if is_sentinel(url):
            return _open_sentinel(url, place)
        return PooledLink(ConnectionPool.from_url(url, socket_timeout=None, **options), place)
    except (ValueError, TypeError, RedisError):
        raise unreadable(url) from None


def _check_tls(url: str, place: str) -> None:
    """Reads the certificates now: when a connection is made, what is wrong with them is told as a lost connection."""
    try:
        SSLConnection(**tls_options(url)).ssl_context.get()
    except OSError as error:
        raise MemoryInvalid(
            f"Redis URL {place}: a certificate or key that its options name cannot be used: {error.strerror}"
        ) from None


def _open_cluster(url: str, place: str) -> ClusterLink:
    cluster = RedisCluster.from_url(
        of_one_server(url),
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=None,
        protocol=2,
        require_full_coverage=False,
    )
    return ClusterLink(cluster, place)


def _open_sentinel(url: str, place: str) -> PooledLink:
    address = parse_sentinel_url(url)
    tls = {"ssl": True, **tls_options(url)} if has_tls(url) else {}
    sentinel = (TlsSentinel if tls else KnownSentinels)(
        address.sentinels,
        sentinel_kwargs={
            "socket_connect_timeout": 1.0,
            "socket_timeout": 1.0,
            "retry": Retry(NoBackoff(), 0),
            "username": address.sentinel_username,
            "password": address.sentinel_password,
            **tls,
        },
    )
    pool = SentinelConnectionPool(  # type: ignore[no-untyped-call] # not typed there
        address.service,
        sentinel,
        db=address.db,
        username=address.username,
        password=address.password,
        socket_connect_timeout=_CONNECT_SECONDS,
        socket_timeout=None,
        retry=Retry(NoBackoff(), 0),
        protocol=2,
        **tls,
    )

    async def close_sentinels() -> None:  # not `sentinel.aclose`, which redis-py has since 8.1
        for client in sentinel.sentinels:
            await client.aclose()

    return PooledLink(pool, place, on_close=close_sentinels)
