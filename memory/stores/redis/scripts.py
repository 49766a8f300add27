"""The Lua scripts beside this file: each is a `*.lua`, behind the shared `part_*.lua` that its header names."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_PACKAGE: Final = "durable_memory.memory.stores.redis"
_PARTS_LINE: Final = "-- parts: "


@dataclass(frozen=True, slots=True)
class Script:
    """A script, ready to be sent. call: `EVALSHA <sha>` without its arguments, in the protocol's encoding."""

    name: str
    source: bytes
    sha: bytes
    call: bytes


def _text(name: str) -> str:
    return files(_PACKAGE).joinpath(f"{name}.lua").read_text("utf-8")


@cache
def load_script(name: str) -> Script:
    """Assembles the script `name`."""
    body = _text(name)
    header = next((line for line in body.splitlines() if line.startswith(_PARTS_LINE)), _PARTS_LINE)
    parts = [_text(f"part_{part}") for part in header.removeprefix(_PARTS_LINE).split()]
    source = "\n".join([*parts, body]).encode()
    sha = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
    return Script(name, source, sha, b"$7\r\nEVALSHA\r\n$40\r\n" + sha + b"\r\n")
