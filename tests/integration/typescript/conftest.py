"""The TypeScript example, running; where Node.js is missing its tests are skipped, except in CI, which installs it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.typescript.desk import Desk, installed, open_desk


@pytest.fixture(scope="session")
async def desk(server_folder: Path) -> AsyncIterator[Desk]:
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"{' and '.join(missing)} not found: the TypeScript example needs Node.js 18 or later")
    # Not one of pytest's folders, which stay for a while: the packages are 250 MB.
    with tempfile.TemporaryDirectory(prefix="durable-memory-typescript-") as name:
        folder = Path(name)
        await installed(folder)
        async with open_desk(folder, server_folder / "typescript") as running:
            yield running
