"""What a Redis URL says, and how it is shown without its secrets."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from redis.asyncio.connection import parse_url

from durable_memory.memory.errors import MemoryInvalid

SCHEMES: Final = (
    *("redis://", "rediss://", "unix://"),
    *("redis+cluster://", "rediss+cluster://", "redis+sentinel://", "rediss+sentinel://"),
)
_OF_THE_DRIVER: Final = ("decode_responses", "encoding", "encoding_errors", "protocol", "socket_timeout")
"""Options of redis-py that would change what is read, or the time for it, behind the driver's back."""
_DATABASE: Final = re.compile(r"0|[1-9][0-9]*")
"""What redis-py reads otherwise becomes database 0 without a word, or another one: it takes `/1x`, `/0/1` and `/٣`."""
_CLUSTER: Final = ("redis+cluster://", "rediss+cluster://")
_SENTINEL: Final = ("redis+sentinel://", "rediss+sentinel://")
_SENTINEL_PORT: Final = 26379
_SENTINEL_PLACES: Final = "host:port[,host:port]/service[/db]"
_OF_SENTINELS: Final = frozenset({"sentinel_username", "sentinel_password"})
"""Options that say who is calling to the Sentinels themselves: to send them what their primary knows would fail where
they ask for nothing."""
_OF_TLS: Final = frozenset(
    f"ssl_{name}"
    for name in (
        *("ca_certs", "ca_data", "cert_reqs", "certfile", "check_hostname", "ciphers", "exclude_verify_flags"),
        *("include_verify_flags", "keyfile", "min_version"),
    )
)
"""What redis-py takes for a cluster and for Sentinels, too."""


def redact_url(url: str) -> str:
    """Returns the URL without user, password and options: what logs and errors may show."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return "(not a URL)"
    head, _, place = rest.rpartition("@")
    if not {"?", "#"}.isdisjoint(head):
        # Either an option holds the @, or a password that is not encoded holds the other sign.
        return f"{scheme}://(not shown: write ?, # and @ in passwords and options as %3F, %23 and %40)"
    place = place.split("?", 1)[0].split("#", 1)[0]
    if not all(map(_has_port_or_none, place.partition("/")[0].split(","))):
        # The host may be missing, so that a password stands in the place of its port.
        return f"{scheme}://(not shown: a port is no number, or user and password lack their @host)"
    return f"{scheme}://{place}"


def _has_port_or_none(host: str) -> bool:
    port = host.rpartition("]")[2].rpartition(":")[2] if ":" in host else ""  # brackets hold an address of IPv6
    return not port or (port.isascii() and port.isdecimal())


def check_url(url: str) -> None:
    """Raises MemoryInvalid for what cannot be an address, and for options that are the driver's own; asks no server."""
    if not isinstance(url, str):
        raise MemoryInvalid(f"Redis URL: must be text, not {type(url).__name__}")
    if not url.startswith(SCHEMES):
        raise MemoryInvalid(f"Redis URL {redact_url(url)}: the scheme must be one of {', '.join(SCHEMES)}")
    for name, _ in parse_qsl(url.partition("?")[2], keep_blank_values=True):
        if name in _OF_THE_DRIVER:
            raise MemoryInvalid(f"Redis URL {redact_url(url)}: the option {name} is the driver's own; leave it out")
    if is_sentinel(url):
        parse_sentinel_url(url)
        return
    try:
        parse_url(of_one_server(url))
        parts = urlsplit(url)
    except ValueError:
        raise unreadable(url) from None
    databases = {value for name, value in parse_qsl(parts.query) if name == "db"}
    if parts.scheme != "unix" and parts.path not in ("", "/"):
        databases.add(parts.path.removeprefix("/"))
    _check_databases(url, databases)
    if is_cluster(url):
        _check_options(url, parts.query, frozenset())


def is_cluster(url: str) -> bool:
    """Whether it names a node of a cluster."""
    return url.startswith(_CLUSTER)


def is_sentinel(url: str) -> bool:
    """Whether it names Sentinels, which know where the primary is."""
    return url.startswith(_SENTINEL)


def has_tls(url: str) -> bool:
    """Whether all connections that it leads to are encrypted."""
    return url.startswith("rediss")


def same_with(url: str, topology: str) -> str:
    """Returns the scheme for another topology, `cluster` or `sentinel`, with TLS where the URL has it."""
    return f"{'rediss' if has_tls(url) else 'redis'}+{topology}://"


def sentinel_form(url: str) -> str:
    """Returns what a URL of Sentinels looks like, with TLS where this one has it."""
    return same_with(url, "sentinel") + _SENTINEL_PLACES


def of_one_server(url: str) -> str:
    """Returns the URL of a node as redis-py reads it, which knows no scheme of clusters."""
    scheme, separator, rest = url.partition("://")
    return scheme.partition("+")[0] + separator + rest


def tls_options(url: str) -> dict[str, Any]:
    """Returns the options of TLS under redis-py's names. Raises ValueError for a value that cannot be one."""
    options = parse_url(f"rediss://?{url.partition('?')[2]}")
    return {name: value for name, value in options.items() if name.startswith("ssl_")}


def _check_options(url: str, query: str, own: frozenset[str]) -> None:
    """own: those of the topology. What is refused is not repeated: it may be part of a password."""
    known = own | (_OF_TLS if has_tls(url) else frozenset())
    if not {name for name, _ in parse_qsl(query, keep_blank_values=True)} <= known:
        scheme = url.partition("://")[0]
        but = f" but {', '.join(sorted(known))}" if known else ""
        raise MemoryInvalid(f"Redis URL {redact_url(url)}: a {scheme}:// URL takes no options{but}")


def _check_databases(url: str, databases: set[str]) -> None:
    if not all(_DATABASE.fullmatch(database) for database in databases):
        raise MemoryInvalid(
            f"Redis URL {redact_url(url)}: the database must be a number, as in redis://host:6379/1; write / in a "
            "password as %2F"
        )
    if len(databases) > 1:
        raise MemoryInvalid(f"Redis URL {redact_url(url)}: names two databases; leave one out")
    if is_cluster(url) and databases - {"0"}:
        raise MemoryInvalid(
            f"Redis URL {redact_url(url)}: a cluster has database 0 alone; keep memories apart by project or prefix"
        )


def unreadable(url: str) -> MemoryInvalid:
    """Returns the refusal of a URL. The text of the library may repeat parts of it, and with them a password."""
    return MemoryInvalid(f"Redis URL {redact_url(url)}: cannot be read; check host, port, database and options")


@dataclass(frozen=True, slots=True)
class SentinelAddress:
    """Where to ask for the primary of a service. User and password are those of the primary, or of the Sentinels."""

    sentinels: tuple[tuple[str, int], ...]
    service: str
    db: int
    username: str | None
    password: str | None
    sentinel_username: str | None
    sentinel_password: str | None


def parse_sentinel_url(url: str) -> SentinelAddress:
    """Reads `redis+sentinel://[user:password@]host:port[,host:port]/service[/db]`, or the same of rediss+sentinel.

    Behind it `?sentinel_password=…&sentinel_username=…`, where the Sentinels ask for it.
    """
    wrong = MemoryInvalid(f"Redis URL {redact_url(url)}: must have the form {sentinel_form(url)}")
    rest = url.partition("://")[2]
    place, _, query = rest.partition("?")
    options = dict(parse_qsl(query.replace("+", "%2B"), keep_blank_values=True))  # a plus, as before the @
    credentials, at, place = place.rpartition("@")
    hosts, _, path = place.partition("/")
    service, _, db = path.partition("/")
    username, colon, password = credentials.partition(":")
    if not hosts or not service or (db and _DATABASE.fullmatch(db) is None) or (at and not colon):
        raise wrong
    _check_options(url, query, _OF_SENTINELS)
    sentinels = []
    for host in hosts.split(","):
        try:
            parts = urlsplit(f"//{host}")
            port = parts.port
        except ValueError:
            raise wrong from None
        if not parts.hostname:
            raise wrong
        sentinels.append((parts.hostname, port or _SENTINEL_PORT))
    return SentinelAddress(
        tuple(sentinels),
        unquote(service),
        int(db or 0),
        unquote(username) or None,
        unquote(password) or None,
        options.get("sentinel_username") or None,
        options.get("sentinel_password") or None,
    )
