"""What these tests share: a project, a Valkey of their own, and the files that git tracks and a wheel ships."""

from __future__ import annotations

import uuid

import pytest

from tests.integration.worker.starting import own_valkey
from tests.packaging.conftest import shipped, tracked

__all__ = ["own_valkey", "shipped", "tracked"]


@pytest.fixture
def project() -> str:
    return f"deploy-{uuid.uuid4().hex[:12]}"
