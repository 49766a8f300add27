"""`validate`, `list` without a resource and `schema` need no server."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from durable_memory.activities.wire_schema import wire_schema
from durable_memory.memory.declarations.json_schema import json_schema
from durable_memory.memory.declarations.reference_page import reference_page
from tests.integration.cli.programs import DECLARATIONS, PROGRAM, run_command, run_program

WRONG = "resource: memory\nid: Wrong!\nmax_tokens: many\n---\nresource: agent\nid: a\nmemory: nowhere\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(DECLARATIONS)
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "wrong.yaml").write_text(WRONG)
    return tmp_path


async def test_valid_declarations_are_named(folder: Path) -> None:
    ended = await run_program("validate", "--output", "json", cwd=folder)
    assert ended.code == 0
    assert ended.json() == {
        "valid": True,
        "memories": ["thread", "notes", "crowded", "trip"],
        "agents": ["clerk"],
        "budgets": {
            "thread": {"max_tokens": 600, "max_messages": None},
            "notes": {"max_tokens": None, "max_messages": 5},
            "crowded": {"max_tokens": None, "max_messages": 4},
            "trip": {"max_tokens": 1000, "max_messages": None},
        },
        "faults": [],
        "notes": [],
    }
    shown = (await run_program("validate", cwd=folder)).out
    assert "A conversation that is summarised" in shown
    assert "Files what was said" in shown


async def test_every_fault_is_listed_with_its_place(folder: Path) -> None:
    ended = await run_program("validate", "--memories", "memories", "--memories", "wrong", "-o", "json", cwd=folder)
    assert ended.code == 1
    assert ended.json()["valid"] is False
    places = [(fault["file"], fault["line"], fault["path"]) for fault in ended.json()["faults"]]
    assert places == [
        ("wrong/wrong.yaml", 2, "id"),
        ("wrong/wrong.yaml", 3, "max_tokens"),
        ("wrong/wrong.yaml", 7, "memory"),
    ]
    table = await run_program("validate", "--memories", "wrong", cwd=folder)
    assert (table.code, table.err) == (1, "Error: the declarations have 3 faults.\n")
    assert "wrong/wrong.yaml:7" in table.out


async def test_an_agents_memory_whose_key_only_callers_give_is_noted(tmp_path: Path) -> None:
    memory = "resource: memory\nid: desk\nmax_tokens: 900\n---\nresource: agent\nid: booking\nmemory: desk\n"
    (tmp_path / "memories").mkdir()
    declared = tmp_path / "memories" / "declared.yaml"
    declared.write_text(memory)
    ended = await run_program("validate", "-o", "json", cwd=tmp_path)
    assert ended.code == 0
    assert "Note: memories/declared.yaml:7: memory: nothing makes the key of memory 'desk' for" in ended.err
    assert [(note["line"], note["path"]) for note in ended.json()["notes"]] == [(7, "memory")]
    declared.write_text(memory + 'memory_key: "desk:{{ input.user }}"\n')
    assert (await run_program("validate", cwd=tmp_path)).err == ""


async def test_folders_come_from_the_command_line_else_from_the_environment(folder: Path) -> None:
    assert (await run_program("validate", cwd=folder, DURABLE_MEMORY_MEMORIES="wrong")).code == 1
    assert (
        await run_program("validate", "--memories", "memories", cwd=folder, DURABLE_MEMORY_MEMORIES="wrong")
    ).code == 0
    assert (await run_program("validate", "--memories", "wrong", cwd=folder)).code == 1


async def test_a_folder_that_does_not_exist_is_a_fault(folder: Path) -> None:
    ended = await run_program("validate", "--memories", "missing", cwd=folder)
    assert ended.code == 1
    assert "missing" in ended.out


async def test_resources_shows_what_is_declared(folder: Path) -> None:
    declared = (await run_program("resources", "--output", "json", cwd=folder)).json()
    assert declared[0] == {
        "id": "thread",
        "version": "2.1.0",
        "description": "A conversation that is summarised",
        "max_tokens": 600,
        "max_messages": None,
        "max_context_ratio": None,
        "model": None,
        "eviction_policy": "fifo",
        "flushing": "hybrid_summary",
        "persistence": "redis",
        "scope": "user",
        "ttl_seconds": None,
    }
    shown = (await run_program("resources", cwd=folder)).out
    assert "600 tokens, fifo, hybrid_summary, scope user, never expires" in shown
    assert "5 messages, fifo, drop, scope session, expires 1d after the last write" in shown


AGENTS = """
resource: agent
id: writer
description: Writes the reports
memories:
  - {id: thread, key: "report:{{ input.report }}", mode: append-only, record_turns: false}
  - {id: notes, mode: read-only, inject: {max_tokens: 50, label: What we know}}
---
resource: agent
id: watcher
memory: false
"""


async def test_agents_shows_what_they_may_do_with_which_memory(folder: Path) -> None:
    (folder / "memories" / "agents.yaml").write_text(AGENTS)
    listed = {agent["id"]: agent for agent in (await run_program("agents", "-o", "json", cwd=folder)).json()}
    assert listed["writer"] == {
        "id": "writer",
        "description": "Writes the reports",
        "memories": [
            {
                "id": "thread",
                "mode": "append-only",
                "key": "report:{{ input.report }}",
                "max_tokens": None,
                "label": None,
                "in_context": False,
                "takes_turns": False,
            },
            {
                "id": "notes",
                "mode": "read-only",
                "key": None,
                "max_tokens": 50,
                "label": "What we know",
                "in_context": True,
                "takes_turns": False,
            },
        ],
    }
    assert listed["clerk"]["memories"][0]["key"] == "user:{{ input.user_id }}"
    assert listed["watcher"]["memories"] == []
    shown = (await run_program("agents", cwd=folder)).out.splitlines()
    columns = [re.split(" {2,}", line) for line in shown]
    assert ["writer", "notes", "read-only", "given by the call", "no", "up to 50 tokens, as [What we know]"] in columns
    assert ["writer", "thread", "append-only", "report:{{ input.report }}", "no", "no, without inject"] in columns
    assert ["clerk", "thread", "read-write", "user:{{ input.user_id }}", "yes", "yes"] in columns
    assert ["watcher", "none"] in columns


async def test_schema_prints_the_json_schema_for_editors_or_its_fields(folder: Path) -> None:
    assert (await run_program("schema", cwd=folder)).json() == json_schema()
    table = (await run_program("schema", "--output", "table", cwd=folder)).out
    assert "flushing.summarize_threshold" in table
    assert "share, above 0 to 1; default: 0.8" in table


async def test_schema_prints_the_reference_of_this_version(folder: Path) -> None:
    assert (await run_program("schema", "--reference", cwd=folder)).out == reference_page()
    both = await run_program("schema", "--reference", "--wire", cwd=folder)
    assert both.code == 2
    assert "leave --wire out" in both.err


async def test_schema_of_the_wire_is_for_callers_in_other_languages(folder: Path) -> None:
    assert (await run_program("schema", "--wire", cwd=folder)).json() == wire_schema()
    table = (await run_program("schema", "--wire", "--output", "table", cwd=folder, COLUMNS="200")).out
    assert "memory.touch" in table
    assert "memory, ids, contract?" in table


async def test_a_model_that_cannot_be_asked_here_is_a_fault(folder: Path) -> None:
    declared = "resource: memory\nid: desk\nmax_tokens: 4000\nflushing:\n  summarizer: {type: llm, model: MODEL}\n"
    (folder / "wrong" / "wrong.yaml").write_text(declared.replace("MODEL", "gpt-4o"))
    ended = await run_program("validate", "--memories", "wrong", "-o", "json", cwd=folder)
    (fault,) = ended.json()["faults"]
    assert (ended.code, fault["line"], fault["path"]) == (1, 5, "flushing.summarizer.model")

    (folder / "wrong" / "wrong.yaml").write_text(declared.replace("MODEL", '"openai:gpt-4o"'))
    assert (await run_program("validate", "--memories", "wrong", cwd=folder)).code == 0
    # Python reads this file at its start: it hides the library as if it were not installed.
    (folder / "sitecustomize.py").write_text("import sys\nsys.modules['pydantic_ai'] = None\n")
    without = await run_command(PROGRAM, "validate", "--memories", "wrong", cwd=folder, PYTHONPATH=str(folder))
    assert without.code == 1
    assert "durable-memory[llm]" in without.out.replace("\n", "")
    # It stands beside all other faults, of its own document as well.
    (folder / "wrong" / "wrong.yaml").write_text(
        declared.replace("MODEL", '"openai:gpt-4o"').replace("4000", "many") + f"---\n{WRONG}"
    )
    ended = await run_command(
        PROGRAM, "validate", "--memories", "wrong", "-o", "json", cwd=folder, PYTHONPATH=str(folder)
    )
    faults = {(fault["file"], fault["line"], fault["path"]): fault["problem"] for fault in ended.json()["faults"]}
    assert list(faults) == [
        ("wrong/wrong.yaml", 3, "max_tokens"),
        ("wrong/wrong.yaml", 5, "flushing.summarizer"),
        ("wrong/wrong.yaml", 8, "id"),
        ("wrong/wrong.yaml", 9, "max_tokens"),
        ("wrong/wrong.yaml", 13, "memory"),
    ]
    assert "pip install 'durable-memory[llm]'" in faults["wrong/wrong.yaml", 5, "flushing.summarizer"]


LLM = 'resource: memory\nid: desk\nmax_tokens: 4000\nflushing:\n  summarizer: {type: llm, model: "openai:gpt-4o"}\n'


async def test_a_key_that_is_not_set_here_is_noted_with_its_place(tmp_path: Path) -> None:
    asked = "token_provider:\n  provider: google\n  model: gemini-2.5-pro\n  api_key_env: NO_SUCH_KEY\n"
    (tmp_path / "desk.yaml").write_text(LLM + asked)
    ended = await run_program("validate", "--memories", ".", "-o", "json", cwd=tmp_path, OPENAI_API_KEY="")
    assert ended.code == 0
    noted = [(note["file"], note["line"], note["path"]) for note in ended.json()["notes"]]
    assert noted == [
        ("desk.yaml", 9, "token_provider.api_key_env"),
        ("desk.yaml", 5, "flushing.summarizer.model"),
    ]
    counting, writing = ended.err.splitlines()
    assert "NO_SUCH_KEY is not set, so nothing corrects the estimates of the tokens of memory 'desk'" in counting
    assert "memory 'desk' needs the key of openai:gpt-4o: the environment variable OPENAI_API_KEY is not set" in writing
    assert (
        await run_program("validate", "--memories", ".", cwd=tmp_path, OPENAI_API_KEY="x", NO_SUCH_KEY="x")
    ).err == ""


async def test_models_that_a_summariser_of_ones_own_replaces_need_neither_extra_nor_key(tmp_path: Path) -> None:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "desk.yaml").write_text(LLM)
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['pydantic_ai'] = None\n")
    given = {"PYTHONPATH": str(tmp_path), "OPENAI_API_KEY": ""}
    assert (await run_command(PROGRAM, "validate", cwd=tmp_path, **given)).code == 1
    ended = await run_command(PROGRAM, "validate", cwd=tmp_path, **given, DURABLE_MEMORY_SUMMARIZER="summaries:make")
    assert (ended.code, ended.err) == (0, "")


async def test_the_limit_that_holds_is_shown_where_a_model_decides_it(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(
        "resource: memory\nid: desk\nmax_tokens: 9000\nmax_context_ratio: 0.04\n"
        "token_provider: {provider: anthropic, model: claude-sonnet-4-5}\n"
    )
    valid = await run_program("validate", "--memories", ".", "--output", "json", cwd=tmp_path)
    assert valid.json()["budgets"] == {"desk": {"max_tokens": 8_000, "max_messages": None}}
    assert "8,000 tokens" in (await run_program("validate", "--memories", ".", cwd=tmp_path)).out
    [declared] = (await run_program("resources", "--memories", ".", "-o", "json", cwd=tmp_path)).json()
    assert (declared["max_tokens"], declared["max_context_ratio"]) == (8_000, 0.04)
    assert declared["model"] == "claude-sonnet-4-5"
    shown = (await run_program("resources", "--memories", ".", cwd=tmp_path)).out
    assert "8,000 tokens, claude-sonnet-4-5, at most 0.04 of its window" in " ".join(shown.split())
