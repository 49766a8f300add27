"""Servers for the tests: real, embedded, one set per pytest process, started by the first test that asks."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import hypothesis
import pytest
from temporalio.client import Client

from durable_memory.dev import start_temporal, start_valkey
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter

pytest.register_assert_rewrite("durable_memory.testing")  # the asserts of its suites explain themselves then

# Time limits measure the machine, not the promise, and examples are the same in each run, so that a run says something
# of the change. `--hypothesis-profile explore` draws others; those that fail are printed as code that reproduces them.
for _profile, _derandomize in (("default", True), ("explore", False)):
    hypothesis.settings.register_profile(
        _profile,
        deadline=None,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
        derandomize=_derandomize,
        database=None,
        print_blob=True,
    )
hypothesis.settings.load_profile("default")


SHARED_MEMORY = Path("/dev/shm")
ENOUGH_BYTES = 1 << 30


@pytest.fixture(scope="session", autouse=True)
async def encoding() -> None:
    """Loads the usual encoding before the first test: on a busy machine it takes longer than a count waits for it."""
    assert await TiktokenCounter(load_wait_seconds=60).load()


@pytest.fixture(scope="session")
def server_folder() -> Iterator[Path]:
    """Where the servers keep their data: in memory where that is possible, as a disk makes each fsync ten times slower.

    It outlives a server that is killed, which is all that a test can do to it.
    """
    roomy = SHARED_MEMORY.is_dir() and shutil.disk_usage(SHARED_MEMORY).free > ENOUGH_BYTES
    parent = SHARED_MEMORY if roomy and os.access(SHARED_MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="durable-memory-tests-", dir=parent) as folder:
        yield Path(folder)


@pytest.fixture(scope="session")
async def redis_url(server_folder: Path) -> AsyncIterator[str]:
    """A Valkey that loses no acknowledged write. Tests share it: take a project or key of your own."""
    valkey = await start_valkey(server_folder / "redis", fsync="always")
    yield valkey.url
    valkey.server.kill()


@pytest.fixture(scope="session")
async def temporal_address(server_folder: Path) -> AsyncIterator[str]:
    """A Temporal dev server. Tests share it: take workflow ids and task queues of your own."""
    temporal = await start_temporal(server_folder / "temporal", ui=False, keep=False)
    yield temporal.address
    temporal.server.kill()


@pytest.fixture(scope="session")
async def temporal_client(temporal_address: str) -> Client:
    """A plain client of the shared dev server, without any plugin."""
    return await Client.connect(temporal_address)
