"""The Lua scripts beside this file. In a script, the line `-- parts: …` stands for the `part_*.lua` that it names."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

_PACKAGE: Final = "durable_memory.memory.stores.redis"
_PARTS_LINE: Final = "-- parts: "


@dataclass(frozen=True, slots=True)
class Script:
    """A script, ready to be sent. call: `EVALSHA <sha>` without its arguments, in the protocol's encoding."""

    source: bytes
    sha: bytes
    call: bytes


def _text(name: str) -> str:
    return files(_PACKAGE).joinpath(f"{name}.lua").read_text("utf-8")


def _lines(name: str, included: set[str]) -> Iterator[str]:
    for line in _text(name).splitlines():
        if line.startswith(_PARTS_LINE):
            for part in line.removeprefix(_PARTS_LINE).split():
                if part not in included:
                    included.add(part)
                    yield from _lines(f"part_{part}", included)
        else:
            yield line


@cache
def load_script(name: str) -> Script:
    """Assembles the script `name`."""
    source = "\n".join(_lines(name, set())).encode()
    sha = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
    return Script(source, sha, b"$7\r\nEVALSHA\r\n$40\r\n" + sha + b"\r\n")
