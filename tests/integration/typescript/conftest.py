"""The TypeScript example, running; where Node.js is missing its tests are skipped, except in CI, which installs it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.integration.typescript.desk import Desk, installed, open_desk


@pytest.fixture(scope="session")
async def desk(tmp_path_factory: pytest.TempPathFactory, server_folder: Path) -> AsyncIterator[Desk]:
    missing = [program for program in ("node", "npm") if shutil.which(program) is None]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"{' and '.join(missing)} not found: the TypeScript example needs Node.js 18 or later")
    folder = tmp_path_factory.mktemp("typescript")
    await installed(folder)
    async with open_desk(folder, server_folder / "typescript") as running:
        yield running
