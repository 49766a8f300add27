"""The demo, run as a person runs it."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import psutil

DEMO = Path(__file__).parents[3] / "examples" / "support_desk" / "demo.py"


async def test_the_demo_keeps_its_promises_and_leaves_nothing_behind(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(DEMO),
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    text = output.decode()
    assert process.returncode == 0, text
    assert "No model is called" in text
    assert "killed with SIGKILL" in text
    assert "= 120 of 120" in text
    assert "cleared, as declared" in text
    assert "appendfsync" not in text  # its workers warn of a Redis that may lose what it acknowledged
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - pathlib in async code is refused as blocking
    assert [other.pid for other in psutil.process_iter() if str(tmp_path) in " ".join(command(other))] == []


def command(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:  # it ended while we looked, or is a zombie
        return []
