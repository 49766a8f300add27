"""The scripts: what changes a memory asks for the caller's mode first, and each has all the parts that it uses."""

from __future__ import annotations

import re
from importlib.resources import files

import pytest

from durable_memory.memory.stores.redis.scripts import load_script

ALL = {
    path.name.removesuffix(".lua"): path.read_text()
    for path in files("durable_memory.memory.stores.redis").iterdir()
    if path.name.endswith(".lua") and not path.name.startswith("part_")
}
OF_A_MEMORY = {name for name in ALL if not name.startswith(("index_", "spend", "probe"))}
READ = {"read", "find", "touch", "stats", "plan", "scan", "recorded"}
ASKS_ITSELF = {"heal"}
"""The other parts would meet the damage that it mends."""
NEED_A_BATCH = {"content", "draft", "renew", "fail"}
"""Only a begin gives one."""

WORDS_OF_LUA = frozenset(
    {"and", "elseif", "error", "for", "function", "if", "in", "ipairs", "next", "not", "or", "pairs", "return"}
    | {"tonumber", "tostring", "type", "unpack", "until", "while"}
)


@pytest.mark.parametrize("name", sorted(OF_A_MEMORY - READ - NEED_A_BATCH - ASKS_ITSELF))
def test_a_script_that_changes_a_memory_asks_for_the_mode_before_all_else(name: str) -> None:
    lines = [line for line in ALL[name].splitlines() if line.startswith("-- parts: ") or not line.startswith("--")]
    gate = "may_append" if name in ("append", "try_append") else "may_change"
    assert lines[0].split()[2] == gate


@pytest.mark.parametrize("name", sorted(ALL))
def test_a_script_has_all_the_parts_whose_functions_it_calls(name: str) -> None:
    source = re.sub(r"--[^\n]*|'[^'\n]*'", "", load_script(name).source.decode())
    defined = set(re.findall(r"function (\w+)", source))
    for names in re.findall(r"local ([\w, ]+)", source) + re.findall(r"function\s*\w*\(([\w, ]*)\)", source):
        defined.update(re.findall(r"\w+", names))
    called = set(re.findall(r"(?<![\w.:])([A-Za-z_]\w*)\s*\(", source))
    assert called - defined - WORDS_OF_LUA == set()
