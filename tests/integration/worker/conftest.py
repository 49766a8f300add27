"""A project of the test's own for a worker on the shared servers."""

from __future__ import annotations

import uuid

import pytest

from tests.integration.worker.starting import StartWorker, folder, own_valkey, start_worker

__all__ = ["StartWorker", "folder", "own_valkey", "start_worker"]


@pytest.fixture
def project() -> str:
    return f"worker-{uuid.uuid4().hex[:12]}"
