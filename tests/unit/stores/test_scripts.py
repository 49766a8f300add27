"""Every script that changes a memory asks for the caller's mode first."""

from __future__ import annotations

from importlib.resources import files

import pytest

SCRIPTS = {
    path.name.removesuffix(".lua"): path.read_text()
    for path in files("durable_memory.memory.stores.redis").iterdir()
    if path.name.endswith(".lua") and not path.name.startswith(("part_", "index_", "spend"))
}
READ = {"read", "find", "touch", "stats", "plan", "scan", "recorded"}
ASKS_ITSELF = {"heal"}
"""The other parts would meet the damage that it mends."""
NEED_A_BATCH = {"content", "draft", "renew", "fail"}
"""Only a begin gives one."""


@pytest.mark.parametrize("name", sorted(set(SCRIPTS) - READ - NEED_A_BATCH - ASKS_ITSELF))
def test_a_script_that_changes_a_memory_asks_for_the_mode_before_all_else(name: str) -> None:
    lines = [line for line in SCRIPTS[name].splitlines() if line.startswith("-- parts: ") or not line.startswith("--")]
    gate = "may_append" if name in ("append", "try_append") else "may_change"
    assert lines[0].split()[2] == gate
