"""The Lua scripts beside this file, and how they are put together from parts.

A part is a file `part_*.lua`. It says in a line `-- needs: …` which parts it uses names of, and in lines `-- gives: …`
which of its own names are for others. In a script the line `-- parts: …` stands for the parts that it names, each one
behind those that it needs; none stands twice. A part has such a line where another one is to stand in its middle.

A line `-- numbers: …` stands for locals of these names, with the numbers that Python has by them: each is written once.
Of a packed list of numbers it is the form, as struct takes it.

`<COUNTERS>`, `<LIMITS>` and `<STATS>` stand for the names of what is packed or answered (forms.py), with commas between
them. In `<COUNTERS: m.%>` each name stands in the place of `%`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from durable_memory.memory.eviction import policies
from durable_memory.memory.stores import values
from durable_memory.memory.stores.index_port import BOUND_RUNS
from durable_memory.memory.stores.redis.forms import COUNTERS, LIMITS, STATS

_PACKAGE: Final = "durable_memory.memory.stores.redis"
_PARTS: Final = "-- parts: "
_NEEDS: Final = "-- needs: "
_NUMBERS_LINE: Final = re.compile(r"^(?P<indent> *)-- numbers: (?P<names>.*)$", re.MULTILINE)
_PACKED: Final = {"COUNTERS": COUNTERS, "LIMITS": LIMITS}
_LISTS: Final = {**_PACKED, "STATS": STATS}
_LIST: Final = re.compile(rf"<(?P<list>{'|'.join(_LISTS)})(?:: (?P<each>[^<>]+))?>")

NUMBERS: Final[Mapping[str, int]] = {
    "BAND": policies.BAND,
    "BOUND_RUNS": BOUND_RUNS,
    "EPOCH_MS": policies.EPOCH_MS,
    "HALF_LIFE_MS": policies.HALF_LIFE_MS,
    "KEPT_AFTER_DEADLINE_MS": values.KEPT_AFTER_DEADLINE_MS,
    "LONGEST_KEPT_MS": values.LONGEST_KEPT_MS,
    "MODE": LIMITS.index("mode") + 1,
    "MOST_OPEN": values.MOST_OPEN,
    "MOST_RANGES": values.MOST_RANGES,
    "MOST_STEPS": policies.MOST_STEPS,
    "STEP": policies.STEP,
    "STEPS": policies.STEPS,
    "TICKS_PER_MS": policies.TICKS_PER_MS,
}
"""What scripts and Python count by alike."""

_FORMS: Final = {name: f">{'d' * len(names)}" for name, names in _PACKED.items()}
"""How struct packs a list."""

_VALUES: Final[Mapping[str, int | str]] = {**NUMBERS, **_FORMS}


@dataclass(frozen=True, slots=True)
class Script:
    """A script, ready to be sent. call: `EVALSHA <sha>` without its arguments, in the protocol's encoding."""

    source: bytes
    sha: bytes
    call: bytes


def _text(name: str) -> str:
    return filled_in(files(_PACKAGE).joinpath(f"{name}.lua").read_text("utf-8"))


def filled_in(text: str) -> str:
    """Returns the text of a file with its numbers and lists in it."""
    return _LIST.sub(_as_list, _NUMBERS_LINE.sub(_as_locals, text))


def _as_locals(line: re.Match[str]) -> str:
    names = line["names"].split()
    return f"{line['indent']}local {', '.join(names)} = {', '.join(repr(_VALUES[name]) for name in names)}"


def _as_list(mark: re.Match[str]) -> str:
    return ", ".join((mark["each"] or "%").replace("%", name) for name in _LISTS[mark["list"]])


def _parts(names: str, included: set[str]) -> Iterator[str]:
    for name in names.split():
        if name not in included:
            included.add(name)
            yield from _lines(_text(f"part_{name}").splitlines(), included)


def _lines(lines: list[str], included: set[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith(_NEEDS):
            yield from _parts(line.removeprefix(_NEEDS), included)
    for line in lines:
        text = line.lstrip()
        if text.startswith(_PARTS):
            yield from _parts(text.removeprefix(_PARTS), included)
        else:
            yield line


@cache
def load_script(name: str) -> Script:
    """Assembles the script `name`."""
    source = "\n".join(_lines(_text(name).splitlines(), set())).encode()
    sha = hashlib.sha1(source, usedforsecurity=False).hexdigest().encode()
    return Script(source, sha, b"$7\r\nEVALSHA\r\n$40\r\n" + sha + b"\r\n")
