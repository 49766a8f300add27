"""The packages of the group `deploy`: what wants one is skipped where it is missing, but fails in CI, which has it."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import NoReturn

import pytest


def module(name: str) -> ModuleType:
    """Returns a module of the group."""
    if importlib.util.find_spec(name) is None:
        _missing(name)
    return importlib.import_module(name)


def program(name: str) -> Path:
    """Returns a program of the group."""
    found = Path(sys.executable).with_name(name)
    if not found.is_file():
        _missing(name)
    return found


def _missing(name: str) -> NoReturn:
    message = f"{name} not found: .venv/bin/python -m pip install --group deploy"
    if os.environ.get("CI"):
        pytest.fail(message)
    pytest.skip(message)
