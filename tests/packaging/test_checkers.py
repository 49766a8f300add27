"""The checkers see every module: a folder they do not enter would look clean for ever."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from mypy.find_sources import create_source_list
from mypy.main import process_options

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.fixture
def checked(tracked: tuple[str, ...], shipped: dict[str, str]) -> set[str]:
    """Every Python file, the product by its installed paths."""
    return {name for name in (shipped.get(name, name) for name in tracked) if name.endswith(".py")}


def test_mypy_sees_every_module(checked: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CHECKOUT)
    sources, options = process_options([])
    assert {source.path for source in sources} == checked
    names = {source.module for source in create_source_list(["durable_memory"], options)}
    assert "durable_memory.memory.types.message" in names
    assert "memory.types.message" not in names


def test_pyright_sees_every_module(checked: set[str]) -> None:
    command = [str(Path(sys.executable).with_name("basedpyright")), "--verbose"]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True, start_new_session=True) as pyright:
        assert pyright.stdout is not None
        found = (re.fullmatch(r"Found (\d+) source files", line.strip()) for line in pyright.stdout)
        count = next(match[1] for match in found if match)
        # The count is all that is asked; `make check` waits for the rest. The command runs a program of its own.
        os.killpg(pyright.pid, signal.SIGKILL)
    assert int(count) == len(checked)


def test_coverage_sees_every_module(shipped: dict[str, str], tmp_path: Path) -> None:
    coverage = [sys.executable, "-m", "coverage"]
    data = f"--data-file={tmp_path / 'data'}"
    subprocess.run([*coverage, "run", data, "-m", "durable_memory_command"], cwd=CHECKOUT, check=True)
    subprocess.run([*coverage, "combine", "--quiet", data, str(tmp_path)], cwd=CHECKOUT, check=True)
    report = [*coverage, "json", "--quiet", data, "--fail-under=0", "-o", str(tmp_path / "report.json")]
    subprocess.run(report, cwd=CHECKOUT, check=True)
    seen = set(json.loads((tmp_path / "report.json").read_text())["files"])
    assert seen == {name for name in shipped if name.endswith(".py")}
