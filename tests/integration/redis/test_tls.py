"""A cluster and Sentinels behind TLS: memories work there, and neither plain text nor a stranger's certificate does."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis, RedisCluster

from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.stores.redis.connection import connect_redis
from durable_memory.testing.contracts.builders import summarising, user
from durable_memory.testing.contracts.driven import Driven
from tests.integration.redis.tls import Authority, TlsProxy, open_tls_proxy
from tests.integration.redis.topologies import (
    Sentinels,
    append_until_it_lands,
    ask,
    open_cluster,
    open_sentinels,
    replicated,
    sentinel_ports,
    until,
)


@dataclass(frozen=True)
class Secured:
    """Servers that clients are told of behind TLS alone, which ask for a certificate, too."""

    scheme: str
    place: str
    authority: Authority
    stranger: Authority
    proxies: Sequence[TlsProxy]

    @property
    def trusting(self) -> str:
        """The URL of a client that knows the servers, and shows no certificate of its own."""
        return f"rediss+{self.scheme}://{self.place}?ssl_ca_certs={self.authority.file}"

    @property
    def url(self) -> str:
        """That of one that shows it."""
        return f"{self.trusting}&ssl_certfile={self.authority.signed}&ssl_keyfile={self.authority.signed}"


async def _announces(ports: set[int], node: Redis) -> bool:
    return {slots[2][1] for slots in await ask(node, "CLUSTER", "SLOTS")} == ports


@pytest.fixture(scope="module")
async def secured_cluster(server_folder: Path) -> AsyncIterator[Secured]:
    authority = Authority(server_folder / "cluster-ca", "ours")
    context = authority.server_context()
    async with open_cluster(server_folder / "tls-cluster") as url, AsyncExitStack() as stack:
        async with RedisCluster.from_url(url.replace("redis+cluster", "redis")) as cluster:
            own = [int(node.port) for node in cluster.get_primaries()]
        proxies = [await stack.enter_async_context(open_tls_proxy(port, context)) for port in own]
        nodes = [await stack.enter_async_context(Redis(port=port)) for port in own]
        for node, proxy in zip(nodes, proxies, strict=True):
            await node.config_set("cluster-announce-port", proxy.port)
        for node in nodes:
            await until(partial(_announces, {proxy.port for proxy in proxies}), node)
        stranger = Authority(server_folder / "cluster-stranger", "stranger")
        yield Secured("cluster", f"127.0.0.1:{proxies[0].port}", authority, stranger, proxies)


@asynccontextmanager
async def _secure(folder: Path, service: Sentinels) -> AsyncIterator[Secured]:
    """Sentinels without TLS cannot watch what speaks it alone: they watch servers, clients read of their proxies."""
    authority = Authority(folder / "sentinel-ca", "ours")
    context = authority.server_context()
    async with AsyncExitStack() as stack:
        own = [server.ports[0] for server in (service.primary, service.replica)]
        servers = [await stack.enter_async_context(open_tls_proxy(port, context)) for port in own]
        shown = {port: proxy.port for port, proxy in zip(own, servers, strict=True)}
        watchers = [
            await stack.enter_async_context(open_tls_proxy(port, context, shown)) for port in sentinel_ports(service)
        ]
        places = ",".join(f"127.0.0.1:{each.port}" for each in watchers)
        stranger = Authority(folder / "sentinel-stranger", "stranger")
        yield Secured("sentinel", f"{places}/mem/0", authority, stranger, (watchers[0], servers[0]))


@pytest.fixture(scope="module")
async def secured_sentinels(server_folder: Path) -> AsyncIterator[Secured]:
    folder = server_folder / "tls-sentinels"
    async with open_sentinels(folder) as service, _secure(folder, service) as secured:
        yield secured


@pytest.fixture(params=["cluster", "sentinel"])
def secured(request: pytest.FixtureRequest, secured_cluster: Secured, secured_sentinels: Secured) -> Secured:
    return {"cluster": secured_cluster, "sentinel": secured_sentinels}[request.param]


async def test_memories_are_written_read_and_flushed_over_tls_alone(secured: Secured) -> None:
    before = [proxy.connections for proxy in secured.proxies]
    backend = await connect_redis(secured.url)
    project = uuid.uuid4().hex
    for key in range(8):  # of a cluster each node has some
        driven = Driven(backend.store, summarising(), MemoryId(project, "desk", str(key)))
        for number in range(8):
            await driven.append(user(f"m{number}"))
        committed = await driven.flush()
        assert committed.summary_id is not None
        assert (await driven.texts())[-1] == "m7"
    await backend.store.ping()
    await backend.store.close()
    after = [proxy.connections for proxy in secured.proxies]
    assert all(now > then for now, then in zip(after, before, strict=True)), "each server was reached through TLS"


async def test_plain_text_gets_no_answer_where_tls_is_spoken(secured: Secured) -> None:
    with pytest.raises(MemoryUnavailable, match=r"cannot be reached: [^\n]*$"):
        await connect_redis(f"redis+{secured.scheme}://{secured.place}")


async def test_a_client_without_a_certificate_is_let_in_nowhere(secured: Secured) -> None:
    with pytest.raises(MemoryUnavailable, match=r"cannot be reached: [^\n]*$"):
        await connect_redis(secured.trusting)


async def test_a_certificate_of_a_stranger_is_one_sentence_at_once(secured: Secured) -> None:
    for options in (f"?ssl_ca_certs={secured.stranger.file}", ""):
        shown = re.escape(
            f"Redis at rediss+{secured.scheme}://{secured.place} shows a certificate that is not trusted: "
        )
        with pytest.raises(
            MemoryUnavailable, match=rf"^{shown}[\w -]+ certificate[\w ]*; \?ssl_ca_certs= names the file of its CA$"
        ):
            await connect_redis(f"rediss+{secured.scheme}://:s3cret@{secured.place}{options}")


async def test_a_node_or_a_sentinel_under_the_scheme_of_a_server_asks_for_its_own_with_tls(secured: Secured) -> None:
    place = secured.url.replace(secured.place, f"127.0.0.1:{secured.proxies[0].port}")
    with pytest.raises(MemoryInvalid, match=rf" rediss\+{secured.scheme}://"):
        await connect_redis(place.replace(f"rediss+{secured.scheme}", "rediss"))


async def test_sentinels_that_answer_are_not_blamed_for_a_service_that_they_do_not_know(
    secured_sentinels: Secured,
) -> None:
    with pytest.raises(MemoryUnavailable, match=r"No master found for 'other'$"):
        await connect_redis(secured_sentinels.url.replace("/mem/0", "/other/0"))


async def test_a_sentinel_that_is_away_hides_no_certificate_of_the_others(secured_sentinels: Secured) -> None:
    with pytest.raises(MemoryUnavailable, match="shows a certificate that is not trusted"):
        await connect_redis(f"rediss+sentinel://127.0.0.1:1,{secured_sentinels.place}")


async def test_a_name_that_the_certificate_lacks_is_told_and_may_be_left_unchecked(secured_sentinels: Secured) -> None:
    by_name = secured_sentinels.url.replace("127.0.0.1", "localhost")
    with pytest.raises(MemoryUnavailable, match=r"Hostname mismatch.* 'localhost'.*\?ssl_check_hostname="):
        await connect_redis(by_name)
    backend = await connect_redis(f"{by_name}&ssl_check_hostname=false")
    await backend.store.ping()
    await backend.store.close()


@pytest.mark.parametrize("scheme", ["rediss://{}", "rediss+cluster://{}", "rediss+sentinel://{}/mem"])
@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ("ssl_ca_certs=/no/such/file", "a certificate or key that its options name cannot be used: No such file"),
        ("ssl_ca_certs={text}", "a certificate or key that its options name cannot be used: "),
        ("ssl_certfile={ca}&ssl_keyfile={ca}", "a certificate or key that its options name cannot be used: "),
        ("ssl_cert_reqs=sometimes", "cannot be read; check host, port, database and options"),
        ("ssl_min_version=new", "cannot be read; check host, port, database and options"),
        ("ssl_no_such=1", "options"),
    ],
)
async def test_options_of_tls_that_cannot_be_used_are_refused_before_anybody_is_asked(
    tmp_path: Path, scheme: str, options: str, problem: str
) -> None:
    text = tmp_path / "text.pem"
    text.write_text("no certificate")
    ca = Authority(tmp_path, "ours").file
    with pytest.raises(MemoryInvalid) as refused:
        await connect_redis(scheme.format("127.0.0.1:1") + "?" + options.format(text=text, ca=ca))
    assert problem in refused.value.message
    assert "\n" not in refused.value.message


async def test_appends_and_a_flush_go_on_over_a_failover_and_each_lands_once(server_folder: Path) -> None:
    folder = server_folder / "tls-failover"
    async with open_sentinels(folder) as service, _secure(folder, service) as secured:
        for port in sentinel_ports(service):
            async with Redis(port=port) as sentinel:
                await ask(sentinel, "SENTINEL", "SET", "mem", "down-after-milliseconds", "500")
        backend = await connect_redis(secured.url)
        flushed = Driven(backend.store, summarising())
        await flushed.append(*(user(text) for text in "abcdefg"))
        batch = await flushed.batch()
        await replicated(service.primary.ports[0])
        service.primary.kill()
        wide = summarising(max_tokens=1_000_000, due_tokens=None, target_tokens=None)
        memories = [Driven(backend.store, wide) for _ in range(5)]
        meanwhile = [f"meanwhile {number}" for number in range(4)]
        await asyncio.gather(*(append_until_it_lands(driven, text) for driven in memories for text in meanwhile))
        await flushed.summarise(batch)
        assert (await flushed.commit(batch)).outcome == "committed"
        assert [sorted(await driven.texts()) for driven in memories] == [meanwhile] * 5
        await backend.store.close()
