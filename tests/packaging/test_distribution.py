"""What is installed is what is in git: every module and data file, from the sdist and the wheel."""

from __future__ import annotations

import json
import subprocess
import tarfile
import zipfile
from pathlib import Path


def test_the_wheel_holds_exactly_the_files_of_the_product(wheel: Path, shipped: dict[str, str]) -> None:
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == set(shipped.values())


def test_the_sdist_can_be_built_again_and_carries_licence_and_readme(
    distributions: Path, shipped: dict[str, str]
) -> None:
    (sdist,) = distributions.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "README.md", "pyproject.toml", *shipped} <= held


def run(python: Path, code: str, folder: Path) -> str:
    done = subprocess.run([python, "-I", "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_installed_module_can_be_imported_outside_the_checkout(
    installed: Path, shipped: dict[str, str], tmp_path: Path
) -> None:
    modules = [
        name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for name in shipped.values()
        if name.endswith(".py")
    ]
    code = f"""
import importlib, json, sys
files = [importlib.import_module(name).__file__ for name in {modules!r}]
print(json.dumps([file for file in files if not file.startswith(sys.prefix)]))
"""
    assert json.loads(run(installed, code, tmp_path)) == []


def test_what_a_workflow_imports_loads_no_driver(installed: Path, tmp_path: Path) -> None:
    code = """
import json, sys
from durable_memory import AgentMemory, Message
print(json.dumps(sorted({name.partition(".")[0] for name in sys.modules})))
"""
    loaded = set(json.loads(run(installed, code, tmp_path)))
    assert "durable_memory" in loaded
    assert loaded.isdisjoint({"redis", "tiktoken", "pydantic_settings", "jinja2", "yaml", "typer", "rich"})


def test_every_public_name_is_there(installed: Path, tmp_path: Path) -> None:
    code = """
import durable_memory
print(sorted(name for name in durable_memory.__all__ if getattr(durable_memory, name, None) is None))
"""
    assert run(installed, code, tmp_path).strip() == "[]"


def test_the_command_line_program_explains_itself(installed: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [installed.with_name("durable-memory"), "--help"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "Usage: durable-memory" in done.stdout
