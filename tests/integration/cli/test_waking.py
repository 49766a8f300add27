"""A command that makes a flush due wakes the flusher where a Temporal is configured, and says so where it could not."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from durable_memory import temporal_connection
from durable_memory.activities.waker import flusher_id
from durable_memory.cli.waking import CommandWaker
from durable_memory.memory.identity import MemoryId
from durable_memory.temporal_connection import connect_temporal
from tests.integration.cli.conftest import Cli
from tests.ports import quiet_ports

FULL = json.dumps([{"role": "user", "content": "A sentence of about ten tokens, give or take. " * 2}] * 40)


async def test_a_due_flush_starts_the_flusher_of_the_configured_temporal(
    cli: Cli, project: str, temporal_address: str, temporal_client: Client
) -> None:
    appended = await cli(
        *("append", "thread", "k", "--json", "-", "-o", "json"),
        stdin=FULL,
        TEMPORAL_ADDRESS=temporal_address,
        DURABLE_MEMORY_TASK_QUEUE=f"{project}-flushes",
    )
    assert (appended.code, appended.err, appended.json()["flush_due"]) == (0, "", True)
    flusher = temporal_client.get_workflow_handle(flusher_id(MemoryId(project, "thread", "k")))
    assert (await flusher.describe()).task_queue == f"{project}-flushes"
    await flusher.terminate()


async def test_a_profile_of_a_configuration_file_counts_as_configured(
    cli: Cli, folder: Path, project: str, temporal_address: str, temporal_client: Client
) -> None:
    (folder / "temporal.toml").write_text(f'[profile.night]\naddress = "{temporal_address}"\n')
    appended = await cli(
        *("append", "thread", "k", "--json", "-"),
        stdin=FULL,
        TEMPORAL_CONFIG_FILE="temporal.toml",
        TEMPORAL_PROFILE="night",
        DURABLE_MEMORY_TASK_QUEUE=f"{project}-flushes",
    )
    flusher = temporal_client.get_workflow_handle(flusher_id(MemoryId(project, "thread", "k")))
    assert (appended.code, appended.err) == (0, "")
    assert (await flusher.describe()).task_queue == f"{project}-flushes"
    await flusher.terminate()


async def test_without_temporal_one_line_says_that_a_flush_is_due(cli: Cli) -> None:
    appended = await cli("append", "thread", "k", "--json", "-", "-o", "json", stdin=FULL)
    assert (appended.code, appended.json()["flush_due"]) == (0, True)
    assert appended.err.startswith("A flush is due; a worker will see it")
    assert len(appended.err.splitlines()) == 1


async def test_a_temporal_that_does_not_answer_fails_no_append(cli: Cli) -> None:
    appended = await cli("append", "thread", "k", "--json", "-", stdin=FULL, TEMPORAL_ADDRESS="127.0.0.1:1")
    assert appended.code == 0
    assert "Temporal at 127.0.0.1:1 cannot be reached (connection refused)" in appended.err
    assert len(appended.err.splitlines()) == 1


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"TEMPORAL_PROFILE": "day", "TEMPORAL_CONFIG_FILE": "temporal.toml"}, "TEMPORAL_CONFIG_FILE"),
        ({"TEMPORAL_ADDRESS": "127.0.0.1:1", "TEMPORAL_TLS_CLIENT_CERT_PATH": "/no/such"}, "/no/such"),
    ],
    ids=["profile", "certificate"],
)
async def test_a_temporal_that_is_configured_wrongly_fails_no_append(
    cli: Cli, folder: Path, given: dict[str, str], named: str
) -> None:
    (folder / "temporal.toml").write_text('[profile.night]\naddress = "127.0.0.1:1"\n')
    appended = await cli("append", "thread", "k", "--json", "-", "-o", "json", stdin=FULL, **given)
    assert (appended.code, appended.json()["flush_due"]) == (0, True)
    assert named in appended.err
    assert len(appended.err.splitlines()) == 1


@pytest.fixture
def connections(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that the command has connected to, or tried to."""
    addresses: list[str] = []

    async def connect(profile: Any, **options: Any) -> Client:
        addresses.append(profile.address)
        return await connect_temporal(profile, **options)

    monkeypatch.setattr(temporal_connection, "connect_temporal", connect)
    return addresses


async def wake_many() -> None:
    waker = CommandWaker("waking-of-commands", None)
    memories = [MemoryId("waking", "desk", str(number)) for number in range(5)]
    await asyncio.gather(*map(waker.wake, memories))
    await waker.wake(memories[0])


async def test_many_flushers_are_woken_through_one_connection(
    connections: list[str], temporal_address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    await wake_many()
    assert connections == [temporal_address]


async def test_a_temporal_that_cannot_be_reached_is_tried_once_and_named_once(
    connections: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    address = f"127.0.0.1:{quiet_ports(1)[0]}"
    monkeypatch.setenv("TEMPORAL_ADDRESS", address)
    await wake_many()
    assert connections == [address]
    assert capsys.readouterr().err.count("It could not be woken from here") == 1
