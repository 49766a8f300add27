"""Opening Redis: what is refused, in which words, and that no word of them is a password."""

from __future__ import annotations

import socket
import uuid
from collections.abc import Iterator

import pytest

from durable_memory import MemoryPlugin, Registry
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId, Owner
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.redis.connection import connect_redis, server_warnings
from durable_memory.memory.stores.redis.url import check_url, parse_sentinel_url, redact_url
from tests.integration.redis.proxy import fake_server
from tests.integration.redis.warnings_at_start import warnings_of

SECRET = "hunter2:secret"


def told(error: BaseException | None) -> str:
    """All that an error and its causes say."""
    return "" if error is None else f"{error!r} {told(error.__cause__ or error.__context__)}"


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that nobody listens on, and that nobody else can take meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield int(bound.getsockname()[1])


@pytest.mark.parametrize("url", ["http://localhost:6379", "localhost:6379", "redis+tls://x", "", "REDIS://localhost"])
async def test_a_wrong_scheme_is_refused_with_the_right_ones(url: str) -> None:
    with pytest.raises(MemoryInvalid) as refused:
        await connect_redis(url)
    assert refused.value.message.endswith(
        "the scheme must be one of redis://, rediss://, unix://, redis+cluster://, rediss+cluster://, "
        "redis+sentinel://, rediss+sentinel://"
    )


@pytest.mark.parametrize(
    "url",
    [
        "redis://localhost:port/0",
        f"redis://:{SECRET}@localhost:99999999/0",
        "redis://localhost:6379/0?socket_timeout=soon",
        "redis://localhost:6379/0?no_such_option=1",
        "redis+cluster://localhost:7000?x=1",
        "redis+sentinel://localhost:26379",
        "redis+sentinel:///service",
        f"redis+sentinel://user:{SECRET}@localhost:port/service",
        "redis+sentinel://localhost/service/first",
        "redis+sentinel://localhost/service?x=1",
        f"rediss+cluster://:{SECRET}@localhost:7000?ssl_ca_certs=/ca.pem&x=1",
        f"rediss+sentinel://:{SECRET}@localhost:port/service",
        f"rediss+sentinel://:{SECRET}@localhost/service?ssl_ca_certs=/ca.pem&x=1",
    ],
)
async def test_a_url_that_cannot_be_read_is_one_sentence_without_its_secrets(url: str) -> None:
    with pytest.raises(MemoryInvalid) as refused:
        await connect_redis(url)
    assert "secret" not in told(refused.value)
    assert "\n" not in refused.value.message


@pytest.mark.parametrize(
    "url",
    [
        "redis://localhost:6379/tenant-a",
        "rediss://localhost:6379/1x",
        "redis://localhost:6379/0/1",
        "redis://localhost:6379/01",
        "redis://localhost:6379/1_0",
        "redis://localhost:6379/%31",
        "redis://localhost:6379/٣",
        "redis://localhost:6379/-1",
        "redis://localhost:6379//",
        "redis://localhost:6379?db=٣",
        "unix:///run/redis.sock?db=+1",
        "redis+cluster://localhost:6379/tenant-a",
        f"redis://{SECRET.replace(':', '/')}@localhost",
    ],
)
def test_a_database_that_is_no_number_is_refused_before_another_one_is_used(url: str) -> None:
    with pytest.raises(MemoryInvalid, match="the database must be a number") as refused:
        check_url(url)
    assert "secret" not in told(refused.value)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("redis+cluster://localhost:7000/3", "a cluster has database 0 alone"),
        ("rediss+cluster://localhost:7000/3", "a cluster has database 0 alone"),
        ("redis+cluster://localhost:7000?db=0", "takes no options"),
        ("redis+sentinel://localhost/service/٣", "must have the form"),
        ("redis://localhost/1?db=2", "names two databases"),
    ],
)
def test_a_database_that_cannot_be_is_refused_where_the_plugin_is_made(url: str, problem: str) -> None:
    with pytest.raises(MemoryInvalid, match=problem):
        MemoryPlugin(redis_url=url, memories=Registry.from_resources([]))


@pytest.mark.parametrize(
    "url",
    [
        *("redis://localhost", "redis://localhost/", "redis://localhost/0", "rediss://u:p%2Fw@localhost:6380/15?db=15"),
        *("unix:///run/redis.sock", "unix:///run/redis.sock?db=3"),
        *("redis+cluster://localhost:7000", "redis+cluster://localhost:7000/", "redis+cluster://localhost:7000/0"),
        *("redis+sentinel://localhost/service", "redis+sentinel://localhost/service/2"),
        *("rediss+cluster://localhost:7000", "rediss+cluster://localhost:7000/0?ssl_ca_certs=/ca.pem"),
        *("rediss+sentinel://localhost/service/2", "rediss+sentinel://h/s?ssl_cert_reqs=none&sentinel_password=p"),
    ],
)
def test_every_other_way_to_name_a_database_is_taken(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("redis+cluster://h?ssl_ca_certs=/ca", "a redis+cluster:// URL takes no options$"),
        (
            "rediss+cluster://h?sentinel_password=p",
            "a rediss+cluster:// URL takes no options but ssl_ca_certs, ssl_ca_data",
        ),
        ("redis+sentinel://h/s?ssl_ca_certs=/ca", "takes no options but sentinel_password, sentinel_username$"),
        ("rediss+sentinel://h/s?ssl_x=1", "takes no options but sentinel_password, sentinel_username, ssl_ca_certs"),
    ],
)
def test_an_option_that_a_scheme_lacks_is_refused_with_those_that_it_has(url: str, taken: str) -> None:
    with pytest.raises(MemoryInvalid, match=taken.replace("+", r"\+")):
        check_url(url)


async def test_the_database_of_a_url_is_the_one_that_is_used(redis_url: str) -> None:
    place, _, _ = redis_url.rpartition("/")
    backend = await connect_redis(f"{place}/3")
    memory = MemoryId(uuid.uuid4().hex, "desk", "k")
    await backend.index.register(memory, Owner("ns", "wf", "run"))
    await backend.store.close()
    found = {}
    for database in (0, 3):
        other = await connect_redis(f"{place}/{database}")
        found[database] = len((await other.index.memories(memory.project, "desk", None, 10)).memories)
        await other.store.close()
    assert found == {0: 0, 3: 1}


async def test_a_prefix_with_braces_is_refused_before_anything_is_opened(closed_port: int) -> None:
    with pytest.raises(MemoryInvalid, match="braces"):
        await connect_redis(f"redis://127.0.0.1:{closed_port}", prefix="{x}")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("redis://user:pass@host:6379/0", "redis://host:6379/0"),
        ("redis://:p%40ss@host/1?password=other", "redis://host/1"),
        ("redis://user:p@ss@host:6379", "redis://host:6379"),
        ("rediss://host:6380", "rediss://host:6380"),
        ("unix://user@/run/redis.sock?password=pass", "unix:///run/redis.sock"),
        ("redis+sentinel://u:pass@a:1,b:2/mem/0", "redis+sentinel://a:1,b:2/mem/0"),
        ("redis+sentinel://u:pass@a:1/mem?sentinel_password=other", "redis+sentinel://a:1/mem"),
        ("rediss+cluster://u:pass@a:1?ssl_keyfile=/pass", "rediss+cluster://a:1"),
        ("rediss+sentinel://u:pass@a:1/mem?ssl_keyfile=/pass", "rediss+sentinel://a:1/mem"),
        ("redis://[::1]:6379/0", "redis://[::1]:6379/0"),
        ("redis://[::1]", "redis://[::1]"),
        ("unix:///run/redis:1/a.sock", "unix:///run/redis:1/a.sock"),
        ("pass", "(not a URL)"),
    ],
)
def test_a_shown_url_has_no_user_password_and_options(url: str, shown: str) -> None:
    assert redact_url(url) == shown


@pytest.mark.parametrize(
    "url",
    [
        *("redis://user:pass", "redis://:pass", "rediss://user:pass/0", "redis://user:pa:ss", "redis://user:pass?db=1"),
        *("redis://user:pass#word", "redis://user:p@ss:pass", "redis+cluster://user:pass", "redis://[::1:pass"),
        *("redis+sentinel://user:pass/mymaster", "redis+sentinel://user:pass,b:2/mymaster"),
    ],
)
async def test_a_password_in_the_place_of_a_port_stays_unsaid_and_it_is_told_what_is_missing(url: str) -> None:
    with pytest.raises(MemoryInvalid) as refused:
        await connect_redis(url)
    scheme = url.partition("://")[0]
    told = f"Redis URL {scheme}://(not shown: a port is no number, or user and password lack their @host)"
    assert str(refused.value).startswith(told)
    assert "pass" not in str(refused.value).replace("password", "")


def test_a_sentinel_url_names_sentinels_service_and_database() -> None:
    address = parse_sentinel_url("redis+sentinel://me:p%3Aw@a:1,b,[::1]:3/mem%2Fory/2")
    assert address.sentinels == (("a", 1), ("b", 26379), ("::1", 3))
    assert (address.service, address.db, address.username, address.password) == ("mem/ory", 2, "me", "p:w")
    assert (address.sentinel_username, address.sentinel_password) == (None, None)


def test_a_sentinel_url_says_who_is_calling_to_the_sentinels() -> None:
    address = parse_sentinel_url("redis+sentinel://:p@a:1/mem?sentinel_username=we&sentinel_password=s%26+w")
    assert (address.username, address.password, address.service, address.db) == (None, "p", "mem", 0)
    assert (address.sentinel_username, address.sentinel_password) == ("we", "s&+w")


async def test_an_unreachable_server_is_unavailable_and_names_its_place_only(closed_port: int) -> None:
    with pytest.raises(MemoryUnavailable, match=f"127.0.0.1:{closed_port}") as refused:
        await connect_redis(f"redis://:{SECRET}@127.0.0.1:{closed_port}/0")
    assert "secret" not in told(refused.value)


async def test_a_name_with_several_addresses_that_all_refuse_is_told_like_one(
    closed_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"127.0.0.{last}", closed_port)) for last in (1, 2)]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    with pytest.raises(MemoryUnavailable, match="cannot be reached: connection refused; check this address"):
        await connect_redis(f"redis://several.example:{closed_port}/0")


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("redis://127.0.0.1:{port}/0", "connection refused"),
        ("redis://localhost:{port}/0", "connection refused"),
        ("rediss://127.0.0.1:{port}/0", "connection refused"),
        ("redis+cluster://127.0.0.1:{port}", "connection refused"),
        ("redis://no-such-host.invalid:{port}/0", "unknown host"),
        ("unix:///no/such/redis.sock", "no such file or directory"),
    ],
)
async def test_an_address_where_nothing_listens_is_told_with_what_to_do(
    closed_port: int, place: str, reason: str
) -> None:
    url = place.format(port=closed_port)
    with pytest.raises(MemoryUnavailable) as refused:
        await connect_redis(url)
    assert refused.value.message == (
        f"Redis at {url} cannot be reached: {reason}; check this address and whether the server runs"
    )


async def test_a_server_that_accepts_and_never_answers_is_unavailable_in_words() -> None:
    async def silence(_: bytes) -> bytes:
        return b""

    async with fake_server(silence) as url:
        with pytest.raises(MemoryUnavailable) as refused:
            await connect_redis(url.replace("://", f"://:{SECRET}@"))
    assert refused.value.message == f"Redis at {url} cannot be reached: no answer within 8 s"


async def test_a_wrong_password_is_unavailable_at_once_and_stays_unsaid(redis_url: str) -> None:
    with pytest.raises(MemoryUnavailable, match="refuses this user or password") as refused:
        await connect_redis(redis_url.replace("://", "://nobody:sesame@"))
    assert "sesame" not in told(refused.value)


def info_of(**fields: str) -> bytes:
    return "\r\n".join(f"{name}:{value}" for name, value in fields.items()).encode()


async def ask_fake(**fields: str) -> Backend:
    async def answer(request: bytes) -> bytes:
        body = info_of(**fields)
        if b"INFO\r\n" in request and b"SETINFO" not in request:
            return b"$%d\r\n%b\r\n" % (len(body), body)
        return b"+OK\r\n" * max(1, request.count(b"SETINFO"))

    async with fake_server(answer) as url:
        return await connect_redis(url)


@pytest.mark.parametrize("version", ["6.2.14", "5.0.0", "2.8", "unknown"])
async def test_a_server_older_than_seven_is_refused_with_its_version(version: str) -> None:
    with pytest.raises(MemoryInvalid, match=rf"has version {version}; 7\.0 or newer") as refused:
        await ask_fake(redis_version=version)
    assert "\n" not in refused.value.message


@pytest.mark.parametrize("version", ["7.0.0", "7.2.4", "8.0.1", "10.0.0"])
async def test_seven_and_newer_are_welcome(version: str) -> None:
    backend = await ask_fake(redis_version=version)
    assert backend.guarded is not None
    await backend.store.close()


async def test_a_node_of_a_cluster_asks_for_the_cluster_scheme() -> None:
    with pytest.raises(MemoryInvalid, match=r"write redis\+cluster://"):
        await ask_fake(redis_version="7.2.4", cluster_enabled="1")


@pytest.mark.parametrize("name", ["redis_mode", "server_mode"])
async def test_a_sentinel_under_the_scheme_of_a_server_asks_for_its_own(name: str) -> None:
    with pytest.raises(MemoryInvalid, match=r"is a Sentinel.* as redis\+sentinel://host:port"):
        await ask_fake(redis_version="7.2.4", **{name: "sentinel"})


async def test_a_safe_server_gives_no_warning(redis_url: str) -> None:
    assert await warnings_of(redis_url) == ()


def test_settings_that_can_lose_messages_are_said_in_one_sentence_each() -> None:
    warnings = server_warnings({"maxmemory_policy": "allkeys-lru", "aof_enabled": "0"})
    assert len(warnings) == 2
    assert "allkeys-lru" in warnings[0]
    assert "append-only file" in warnings[1]
    assert server_warnings({"maxmemory_policy": "noeviction", "aof_enabled": "1"}) == ()


async def test_a_server_is_asked_once_for_what_its_settings_may_lose() -> None:
    asked: list[bytes] = []

    async def answer(request: bytes) -> bytes:
        if b"SETINFO" in request:  # of the connection itself
            return b"+OK\r\n" * request.count(b"SETINFO")
        asked.append(request.split(b"\r\n")[2])
        if asked[-1] == b"CONFIG":
            return b"-ERR unknown command 'CONFIG'\r\n"
        info = info_of(redis_version="7.2.4", aof_enabled="0")
        return b"$%d\r\n%b\r\n" % (len(info), info)

    async with fake_server(answer) as url:
        backend = await connect_redis(url)
        [warning] = backend.warnings
        assert "append-only file" in warning
        assert asked == [b"INFO", b"CONFIG"]
        await backend.store.close()


async def test_a_closed_store_is_unavailable_and_closing_twice_is_harmless(redis_url: str) -> None:
    backend = await connect_redis(redis_url)
    await backend.store.ping()
    await backend.store.close()
    await backend.store.close()
    with pytest.raises(MemoryUnavailable, match="closed"):
        await backend.store.ping()
