"""A worker that cannot begin ends within seconds, with code 1 and one sentence that has no secrets and no traceback."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.integration.worker.conftest import StartWorker
from tests.integration.worker.workers import WorkerProcess


@asynccontextmanager
async def listening(answer: Callable[[bytes], bytes]) -> AsyncIterator[int]:
    """A port that answers what it is sent; an empty answer is the silence of a server that hangs."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while asked := await reader.read(4096):
            writer.write(answer(asked))
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def silence(_: bytes) -> bytes:
    return b""


def old_redis(asked: bytes) -> bytes:
    """What Redis 6.2 says to each command of a client that introduces itself and asks for INFO."""
    info = b"# Server\r\nredis_version:6.2.14\r\n"
    commands = re.split(rb"\*\d+\r\n", asked)[1:]
    return b"".join(b"+OK\r\n" if b"CLIENT" in one else b"$%d\r\n%s\r\n" % (len(info), info) for one in commands)


async def one_sentence(worker: WorkerProcess) -> str:
    assert await worker.end() == 1
    lines = worker.log_text().splitlines()
    assert len(lines) == 1, lines
    assert lines[0].startswith("Error: ")
    return lines[0]


async def test_every_fault_of_the_declarations_is_listed(start_worker: StartWorker, folder: Path) -> None:
    (folder / "memories" / "wrong.yaml").write_text("resource: memory\nid: ok\nmax_tokens: 5x\ntypo: 1\n")
    async with start_worker() as worker:
        assert await worker.end() == 1
        first, *faults = worker.log_text().splitlines()
        assert first == "Error: the declarations have 2 faults:"
        assert [fault.split(": ")[:2] for fault in faults] == [
            ["  memories/wrong.yaml:3", "max_tokens"],
            ["  memories/wrong.yaml:4", "typo"],
        ]


async def test_a_key_of_a_model_that_is_not_set_stands_beside_all_other_faults(
    start_worker: StartWorker, folder: Path
) -> None:
    (folder / "memories" / "wrong.yaml").write_text(
        "resource: memory\nid: desk\nmax_tokens: 5x\nflushing:\n  summarizer:\n    type: llm\n"
        "    model: openai:gpt-4o\n    api_key_env: NO_SUCH_KEY\n"
    )
    async with start_worker() as worker:
        assert await worker.end() == 1
        _, first, second = worker.log_text().splitlines()
        assert first == "  memories/wrong.yaml:3: max_tokens: must be a whole number; write it in digits, such as 4000"
        assert second == (
            "  memories/wrong.yaml:8: flushing.summarizer.api_key_env: memory 'desk' needs the key of openai:gpt-4o: "
            "the environment variable NO_SUCH_KEY is not set"
        )


async def test_a_memory_that_would_end_with_the_process(start_worker: StartWorker, folder: Path) -> None:
    declared = "resource: memory\nid: local\nmax_tokens: 1000\npersistence: {type: in_memory}\n"
    (folder / "memories" / "local.yaml").write_text(declared)
    async with start_worker() as worker:
        assert "local: persistence.type in_memory" in await one_sentence(worker)


async def test_a_memory_that_requires_encryption_without_keys(start_worker: StartWorker, folder: Path) -> None:
    declared = "resource: memory\nid: sealed\nmax_tokens: 1000\nprivacy_policy: {require_encryption: true}\n"
    (folder / "memories" / "sealed.yaml").write_text(declared)
    async with start_worker() as worker:
        sentence = await one_sentence(worker)
        assert "sealed: privacy_policy.require_encryption is true" in sentence
        assert "DURABLE_MEMORY_ENCRYPTION_KEYS" in sentence


@pytest.mark.parametrize("missing", ["REDIS_URL", "TEMPORAL_ADDRESS"])
async def test_a_server_that_is_not_named(start_worker: StartWorker, missing: str) -> None:
    async with start_worker(**{missing: ""}) as worker:
        assert (await one_sentence(worker)).startswith(f"Error: {missing} is not set")


async def test_redis_that_cannot_be_reached(start_worker: StartWorker) -> None:
    async with start_worker(REDIS_URL="redis://someone:hunter2@127.0.0.1:1/0") as worker:
        sentence = await one_sentence(worker)
        assert "127.0.0.1:1" in sentence
        assert "cannot be reached" in sentence
        assert "hunter2" not in sentence


async def test_a_redis_that_hangs_ends_the_start_in_one_sentence(start_worker: StartWorker) -> None:
    async with listening(silence) as port, start_worker(REDIS_URL=f"redis://127.0.0.1:{port}/0") as worker:
        assert "cannot be reached: no answer within 8 s" in await one_sentence(worker)


async def test_a_redis_that_is_too_old_is_refused_with_both_versions(start_worker: StartWorker) -> None:
    async with listening(old_redis) as port, start_worker(REDIS_URL=f"redis://127.0.0.1:{port}/0") as worker:
        sentence = await one_sentence(worker)
        assert "has version 6.2.14" in sentence
        assert "7.0 or newer" in sentence


async def test_temporal_that_cannot_be_reached(start_worker: StartWorker) -> None:
    async with start_worker(TEMPORAL_ADDRESS="127.0.0.1:1", TEMPORAL_API_KEY="hunter2") as worker:
        sentence = await one_sentence(worker)
        assert "Temporal at 127.0.0.1:1 cannot be reached" in sentence
        assert "hunter2" not in sentence


async def test_a_temporal_that_hangs_ends_the_start_in_one_sentence(start_worker: StartWorker) -> None:
    async with listening(silence) as port, start_worker(TEMPORAL_ADDRESS=f"127.0.0.1:{port}") as worker:
        assert "cannot be reached" in await one_sentence(worker)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"TEMPORAL_API_KEY": "hunter2"}, "speaks no TLS): check TEMPORAL_TLS and TEMPORAL_TLS_*; an API key turns"),
        ({"TEMPORAL_TLS": "true"}, "speaks no TLS): check TEMPORAL_TLS"),
        ({"TEMPORAL_TLS_CLIENT_CERT_DATA": "hunter2"}, "and its private key are needed together"),
        (
            {"TEMPORAL_TLS_CLIENT_CERT_DATA": "hunter2", "TEMPORAL_TLS_CLIENT_KEY_DATA": "hunter2"},
            "private key is none",
        ),
        ({"TEMPORAL_ADDRESS": "https://localhost:7233"}, "TEMPORAL_ADDRESS: must be host:port, without a scheme"),
    ],
)
async def test_settings_of_temporal_that_do_not_fit_the_server_are_named(
    start_worker: StartWorker, given: dict[str, str], words: str
) -> None:
    async with start_worker(**given) as worker:
        sentence = await one_sentence(worker)
        assert words in sentence
        assert "hunter2" not in sentence


async def test_an_address_that_is_not_of_this_machine_is_named(start_worker: StartWorker) -> None:
    async with start_worker("--http-host", "192.0.2.1") as worker:
        assert (await one_sentence(worker)).startswith("Error: DURABLE_MEMORY_HTTP_HOST, DURABLE_MEMORY_HTTP_PORT: 192")


async def test_a_namespace_that_does_not_exist(start_worker: StartWorker) -> None:
    async with start_worker(TEMPORAL_NAMESPACE="nowhere") as worker:
        assert await one_sentence(worker) == "Error: TEMPORAL_NAMESPACE: this Temporal has no namespace 'nowhere'"


async def test_a_configuration_file_of_temporal_that_is_broken_is_not_repeated(
    start_worker: StartWorker, folder: Path
) -> None:
    (folder / "temporal.toml").write_text('[profile.default]\napi_key = "hunter2\n')
    async with start_worker(TEMPORAL_CONFIG_FILE="temporal.toml") as worker:
        sentence = await one_sentence(worker)
        assert "TEMPORAL_CONFIG_FILE" in sentence
        assert "hunter2" not in sentence


async def test_a_certificate_that_is_not_there_is_named(start_worker: StartWorker) -> None:
    files = {"TEMPORAL_TLS_CLIENT_CERT_PATH": "none.pem", "TEMPORAL_TLS_CLIENT_KEY_PATH": "none.key"}
    async with start_worker(**files) as worker:
        assert "none.pem cannot be read: No such file" in await one_sentence(worker)


@pytest.mark.parametrize(
    ("arguments", "setting"),
    [
        (["--http-port", "70000"], "'--http-port': must be"),
        (["--log-level", "loud"], "'--log-level': must be"),
        (["--log-format", "xml"], "'--log-format': must be"),
        (["--project", "Not An Id"], "'--project': must be"),
    ],
)
async def test_a_wrong_option_is_wrong_usage_and_named(
    start_worker: StartWorker, arguments: list[str], setting: str
) -> None:
    async with start_worker(*arguments) as worker:
        assert await worker.end() == 2
        assert setting in worker.log_text()


async def test_a_wrong_url_is_named(start_worker: StartWorker) -> None:
    async with start_worker("--redis-url", "http://localhost") as worker:
        assert "redis://" in await one_sentence(worker)
