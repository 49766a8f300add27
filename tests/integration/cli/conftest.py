"""A folder with declarations, and the command line in a project of the test's own."""

from __future__ import annotations

import uuid
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.integration.cli.programs import DECLARATIONS, Ended, run_program

Cli = Callable[..., Awaitable[Ended]]


@pytest.fixture
def project() -> str:
    return f"cli-{uuid.uuid4().hex[:12]}"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the programs run; ./memories is what they load by default."""
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(DECLARATIONS)
    return tmp_path


@pytest.fixture
def cli(folder: Path, redis_url: str, project: str) -> Cli:
    """Runs `durable-memory` against the shared Redis, without Temporal."""

    async def run(*arguments: str, stdin: str = "", **given: str) -> Ended:
        shared = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": project, **given}
        return await run_program(*arguments, cwd=folder, stdin=stdin, **shared)

    return run
