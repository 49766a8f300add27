"""Files of declarations, and what loading them says of their faults."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.errors import InvalidDeclarations

DESK = "resource: memory\nid: desk\nmax_tokens: 1000\n"
"""A memory resource without faults, in three lines."""


def faults_of(folder: Path, *texts: str | bytes) -> list[str]:
    """The faults of files a.yaml, b.yaml, …, one line each, without the folder."""
    for name, text in zip("abcdefgh", texts, strict=False):
        raw = text.encode() if isinstance(text, str) else text
        (folder / f"{name}.yaml").write_bytes(raw)
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([folder], {})
    assert str(caught.value).splitlines() == [str(fault) for fault in caught.value.faults]
    return [line.removeprefix(f"{folder}{os.sep}") for line in str(caught.value).splitlines()]
