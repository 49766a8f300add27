"""Tables where stdout is no terminal: one line a row, nothing folded and nothing cut; at a terminal they are folded."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.integration.cli.conftest import Cli
from tests.integration.cli.programs import Ended, run_program, shown_at_a_terminal

LONG = "What everybody said about the delivery to Ghent and who has to be told of it before anything is sent. " * 4
DECLARED = f"""
resource: memory
id: desk
version: 1.0.0
description: "{LONG}"
max_messages: 4
scope: user
type: message_count_based
overflow: {{max_messages: 8}}
"""
AGENTS = """
resource: memory
id: customer-support
max_tokens: 4000
---
resource: agent
id: booking
memories:
  - id: customer-support
    key: "user:{{ input.user_id }}"
    mode: append-only
    inject: {max_tokens: 2000, label: Support thread}
"""
NARROW = {"COLUMNS": "40"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(DECLARED)
    return tmp_path


def lines_of(ended: Ended) -> list[str]:
    assert ended.err == ""
    return ended.out.splitlines()


async def test_validate_and_resources_have_a_line_for_each_declaration(folder: Path) -> None:
    assert lines_of(await run_program("validate", cwd=folder, **NARROW)) == [
        "All declarations are valid",
        "kind    id    budget      description",
        f"memory  desk  4 messages  {LONG.strip()}",
    ]
    assert lines_of(await run_program("resources", cwd=folder, **NARROW)) == [
        "Declared memory resources",
        "resource      declaration",
        f"desk / 1.0.0  {LONG.strip()} / 4 messages, fifo, hybrid_summary, scope user, never expires",
    ]


async def test_validate_has_a_line_for_each_fault(folder: Path) -> None:
    (folder / "memories" / "declared.yaml").write_text(
        "resource: memory\nid: desk\nmax_tokenz: 100\ntype: of no kind\n"
    )
    ended = await run_program("validate", cwd=folder, **NARROW)
    faults = json.loads((await run_program("validate", "-o", "json", cwd=folder)).out)["faults"]
    title, headings, *rows = ended.out.splitlines()
    assert (title, headings.split()) == ("Faults", ["place", "field", "problem"])
    assert [row.endswith(fault["problem"]) for row, fault in zip(rows, faults, strict=True)] == [True] * len(faults)


async def test_list_stats_and_health_have_a_line_for_each_memory_and_number(cli: Cli) -> None:
    key = f"user:{'0123456789' * 12}"
    for count in (3, 4, 4):
        batch = [{"role": "user", "content": f"Note {number}"} for number in range(count)]
        await cli("append", "desk", key, "--json", "-", stdin=json.dumps(batch))
    title, headings, row = lines_of(await cli("list", "desk", **NARROW))
    assert title.endswith(": 1 memory")
    assert headings.split()[:4] == ["resource", "key", "messages", "tokens"]
    assert row.split()[:2] == ["desk", key]
    stats = lines_of(await cli("stats", "desk", key, **NARROW))
    assert stats[0] == f"desk  {key}"
    assert [line.partition("  ")[0] for line in stats[1:3]] == ["view", "budget"]
    health = lines_of(await cli("health", "desk", key, **NARROW))
    [problem] = (await cli("health", "desk", key, "-o", "json")).json()["problems"]
    assert [line for line in health if line.startswith("problem ") and line.endswith(f"  {problem}")]


async def test_read_has_a_line_for_each_message_whatever_it_holds(cli: Cli) -> None:
    await cli("append", "desk", "k", "First line\n\n\tand a second\u2028and äpfel 蘋果", "--role", "assistant")
    await cli("append", "desk", "k", "word " * 100)
    shown = lines_of(await cli("read", "desk", "k", **NARROW))
    assert [line[:10] for line in shown[:2]] == ["desk  k", "section   "]
    assert [line.partition("  ")[0] for line in shown[2:4]] == ["short_term", "short_term"]
    assert shown[2].endswith("  First line / and a second / and äpfel 蘋果")
    assert shown[3].endswith(("word " * 100).strip())
    assert shown[4].startswith("2 messages, ")
    assert len(shown) == 5


async def test_a_terminal_gets_lines_of_its_width(folder: Path) -> None:
    shown = (await shown_at_a_terminal("validate", cwd=folder, width=60)).splitlines()
    assert max(map(len, shown)) <= 60
    assert len([line for line in shown if "everybody" in line or "delivery" in line]) > 1


@pytest.mark.parametrize("width", range(72, 100, 3))
async def test_no_line_is_wider_than_a_terminal_that_what_is_copied_leaves_room(tmp_path: Path, width: int) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(AGENTS)
    shown = (await shown_at_a_terminal("agents", cwd=tmp_path, width=width)).splitlines()
    assert max(map(len, shown)) <= width
    assert "customer-support" in " ".join(shown)


async def test_a_terminal_that_is_too_narrow_folds_no_id_and_no_heading(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(AGENTS)
    shown = await shown_at_a_terminal("agents", cwd=tmp_path, width=50)
    assert "customer-support" in shown
    assert "in a context" in shown
