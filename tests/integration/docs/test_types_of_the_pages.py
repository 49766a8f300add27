"""The Python files of the documentation are typed as strictly as the product, so that they can be copied."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.integration.docs.pages import CHECKOUT, files_of

CONFIGURATION = f"""
[mypy]
strict = true
mypy_path = {CHECKOUT}
[mypy-durable_memory.*]
follow_imports = silent
"""


async def test_mypy_finds_no_fault_in_any_file_of_the_pages(tmp_path: Path) -> None:
    pages = [
        files_of(page)
        for page in (
            "README.md",
            *(f"docs/{name}.md" for name in ("openai-agents", "python", "security", "sharing", "telemetry")),
        )
    ]
    written = [(name, text) for files in pages for name, text in files.items() if name.endswith(".py")]
    assert len({name for name, _ in written}) == len(written) >= len(pages)
    for name, text in written:
        (tmp_path / name).write_text(text)
    (tmp_path / "mypy.ini").write_text(CONFIGURATION)
    mypy = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "mypy", "--no-incremental", *(name for name, _ in written)),
        cwd=tmp_path,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await mypy.communicate()
    assert said.decode() == f"Success: no issues found in {len(written)} source files\n"
