"""Fixtures that start workers on the shared servers: import them beside a fixture `project` of one's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from temporalio.client import Client

from durable_memory.dev import Valkey, start_valkey
from tests.integration.cli.programs import DECLARATIONS
from tests.integration.worker.workers import WorkerProcess, worker_process

StartWorker = Callable[..., AbstractAsyncContextManager[WorkerProcess]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the worker runs; ./memories is what it loads by default."""
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(DECLARATIONS)
    return tmp_path


@pytest.fixture
async def own_valkey(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Valkey]:
    """A Valkey that a test may stop, slow down, misconfigure and give a password."""
    valkey = await start_valkey(tmp_path_factory.mktemp("own-valkey"))
    yield valkey
    valkey.server.kill()


@pytest.fixture
def start_worker(folder: Path, project: str, redis_url: str, temporal_client: Client) -> StartWorker:
    """Starts a worker on the shared servers, on a project and a queue of the test's own; options win."""

    def start(*arguments: str, **given: Any) -> AbstractAsyncContextManager[WorkerProcess]:
        shared = {
            "REDIS_URL": redis_url,
            "TEMPORAL_ADDRESS": temporal_client.service_client.config.target_host,
            "DURABLE_MEMORY_PROJECT": project,
            "DURABLE_MEMORY_TASK_QUEUE": project,
        }
        return worker_process(*arguments, cwd=folder, **{**shared, **given})

    return start
