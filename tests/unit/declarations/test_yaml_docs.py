"""What docs/yaml.md shows is what the loader does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from durable_memory.memory.declarations.agent import AgentResource, DeclaredMemory, Inject
from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.declarations.resource import SCOPES, MemoryResource, OnWorkflowEnd, Scope
from durable_memory.memory.errors import InvalidDeclarations
from tests.unit.declarations.test_resource_fields import paths_of

PAGE = (Path(__file__).parents[3] / "docs" / "yaml.md").read_text("utf-8")
FENCE = re.compile(r"^```([a-z ]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
BLOCKS: list[tuple[str, str]] = FENCE.findall(PAGE)
ROW = re.compile(r"^\| `([a-z_.\[\]]+)` \|", re.MULTILINE)


def section(title: str) -> str:
    return PAGE.split(f"## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_every_block_is_run_here() -> None:
    assert {kind for kind, _ in BLOCKS} == {"yaml", "yaml wrong", "text"}


@pytest.mark.parametrize("text", [text for kind, text in BLOCKS if kind == "yaml"])
def test_a_block_loads(tmp_path: Path, text: str) -> None:
    (tmp_path / "page.yaml").write_text(text, "utf-8")
    assert load_folders([tmp_path], {})


def test_the_wrong_file_gives_the_faults_that_are_shown(tmp_path: Path) -> None:
    (wrong,) = [text for kind, text in BLOCKS if kind == "yaml wrong"]
    (shown,) = [text for kind, text in BLOCKS if kind == "text"]
    (tmp_path / "desk.yaml").write_text(wrong, "utf-8")
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path], {})
    assert str(caught.value).replace(str(tmp_path / "desk.yaml"), "desk.yaml") == shown.strip()


def test_the_tables_have_a_row_for_every_field_and_no_other() -> None:
    assert sorted(ROW.findall(section("Fields of a memory"))) == sorted(paths_of(MemoryResource))
    entry = [*DeclaredMemory.model_fields, *(f"inject.{name}" for name in Inject.model_fields)]
    listed = [f"memories[].{name}" for name in entry if name != "inject"]
    assert sorted(ROW.findall(section("Agents"))) == sorted([*AgentResource.model_fields, *listed])


def test_the_block_with_all_fields_has_all_fields(tmp_path: Path) -> None:
    (text,) = [text for kind, text in BLOCKS if kind == "yaml" and "circuit_breaker" in text]
    (tmp_path / "page.yaml").write_text(text, "utf-8")
    (resource,) = load_folders([tmp_path], {})
    assert resource.model_fields_set == set(MemoryResource.model_fields)


def test_the_blocks_with_agents_have_all_fields(tmp_path: Path) -> None:
    used: set[str] = set()
    for index, text in enumerate(text for kind, text in BLOCKS if kind == "yaml" and "resource: agent" in text):
        (tmp_path / f"{index}.yaml").write_text(text, "utf-8")
        for agent in load_folders([tmp_path / f"{index}.yaml"], {}):
            used |= agent.model_fields_set if isinstance(agent, AgentResource) else set()
    assert used == set(AgentResource.model_fields)


@pytest.mark.parametrize("scope", SCOPES)
def test_the_table_of_scopes_is_the_products(scope: Scope) -> None:
    (row,) = [
        line for line in re.findall(r"^\|.*", section("Scopes"), re.MULTILINE) if f"`{scope}`" in line.split("|")[1]
    ]
    ttl, actions = row.split("|")[2:4]
    resource = MemoryResource(id="x", max_tokens=200, scope=scope)
    assert ttl.strip(" `") == {"temp": "1h", "session": "24h"}.get(scope, "null")
    words: list[OnWorkflowEnd] = re.findall(r"`(\w+)`", actions)
    assert words[0] == resource.workflow_end_action
    assert set(words[1:]) == set(SCOPES[scope].actions)
