"""An agent declares the memories that it may use, in one of three tiers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import InvalidDeclarations

MEMORY: dict[str, Any] = {"resource": "memory", "id": "desk", "max_tokens": 1000}
PROFILE: dict[str, Any] = {**MEMORY, "id": "profile", "default_key_template": "user:{{ input.user }}"}
AGENT: dict[str, Any] = {"resource": "agent", "id": "booking", "memory": "desk"}
BARE: dict[str, Any] = {"resource": "agent", "id": "booking"}


def declared(**fields: Any) -> list[tuple[str, str | None, str, int | None, str | None]]:
    """How an agent with these fields uses its memories."""
    agent = Registry.from_resources([MEMORY, PROFILE, {**BARE, **fields}]).agent("booking")
    return [
        (use.resource, use.key.source if use.key else None, use.mode, use.max_tokens, use.label) for use in agent.uses
    ]


def faults(**fields: Any) -> list[tuple[str, str]]:
    """What is wrong with an agent of these fields."""
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([MEMORY, PROFILE, {**BARE, **fields}])
    return [(fault.path, fault.problem) for fault in caught.value.faults]


def test_the_first_tier_is_one_memory_which_may_have_a_key() -> None:
    assert declared(memory="desk") == [("desk", None, "read-write", None, None)]
    key = "trip:{{ input.trip }}"
    assert declared(memory="desk", memory_key=key) == [("desk", key, "read-write", None, None)]


def test_the_second_tier_is_several_memories_under_one_key() -> None:
    assert declared(memory=True, memories=["desk", "profile"], memory_key="user:{{ input.user }}") == [
        ("desk", "user:{{ input.user }}", "read-write", None, None),
        ("profile", "user:{{ input.user }}", "read-write", None, None),
    ]


def test_the_third_tier_gives_each_memory_a_key_a_mode_and_a_share() -> None:
    memories = [
        {"id": "desk", "key": "trip:{{ input.trip }}", "inject": {"max_tokens": 300, "label": "Trip thread"}},
        {"id": "profile", "mode": "read-only"},
        {"id": "profile", "key": "everyone", "mode": "append-only"},
        "desk",
    ]
    assert declared(memories=memories) == [
        ("desk", "trip:{{ input.trip }}", "read-write", 300, "Trip thread"),
        ("profile", None, "read-only", None, None),
        ("profile", "everyone", "append-only", None, None),
        ("desk", None, "read-write", None, None),
    ]


def test_an_agent_may_be_stateless() -> None:
    assert declared(memory=False) == []


THREE: list[dict[str, Any]] = [{"id": "desk"}]


@pytest.mark.parametrize(
    ("fields", "path", "problem"),
    [
        ({"memory": "desk", "memories": THREE}, "memories", "stands beside `memory`"),
        ({"memory": "desk", "memories": ["profile"]}, "memories", "stands beside `memory`"),
        ({"memory": True, "memories": THREE, "memory_key": "x"}, "memories", "stands beside `memory`"),
        ({"memory": True, "memory_key": "x"}, "memories", "is missing; memory: true takes the list of ids"),
        ({"memory": True, "memories": ["desk"]}, "memory_key", "is missing; memory: true puts all"),
        ({"memory": True}, "memory", "is true, but names no memory"),
        ({"memory": False, "memories": ["desk"]}, "memories", "stands beside memory: false"),
        ({"memory": False, "memory_key": "x"}, "memory_key", "stands beside memory: false"),
        ({"memories": THREE, "memory_key": "x"}, "memory_key", "in `memories` each memory has its own key"),
        ({}, "memory", "is missing; write the id of a memory"),
        ({"memories": []}, "memories", "names no memory; write memory: false"),
        ({"memories": "desk"}, "memories", "must be a list"),
        ({"memories": [7]}, "memories.0", "must be text; put it in quotes"),
        ({"memories": ["Desk"]}, "memories.0", "lower-case"),
        ({"memories": ["dask"]}, "memories.0", "there is no memory resource 'dask'; did you mean 'desk'?"),
        ({"memories": [{"id": "profil"}]}, "memories.0.id", "did you mean 'profile'?"),
        ({"memories": [{"id": "desk", "mode": "readonly"}]}, "memories.0.mode", "did you mean 'read-only'?"),
        ({"memories": [{"id": "desk", "mod": "x"}]}, "memories.0.mod", "did you mean 'mode'?"),
        ({"memories": [{"id": "desk", "key": "{{ x }}"}]}, "memories.0.key", "a name without a dot"),
        ({"memories": [{"key": "x"}]}, "memories.0.id", "is missing"),
        ({"memories": [{"id": "desk", "inject": {"label": "a\nb"}}]}, "memories.0.inject.label", "must be one line"),
        ({"memories": [{"id": "desk", "inject": {"max_tokens": 0}}]}, "memories.0.inject.max_tokens", "at least 1"),
        (
            {"memories": [{"id": "desk", "mode": "read-only", "record_turns": False}]},
            "memories.0.record_turns",
            "is of no use with mode: read-only",
        ),
        ({"memories": [{"id": "desk", "inject": {"tokens": 9}}]}, "memories.0.inject.tokens", "is not a field here"),
        ({"memories": ["desk", "desk"]}, "memories.1", "names memory 'desk' under the key of memories.0"),
        (
            {"memories": ["profile", {"id": "profile", "key": "user:{{input.user}}"}]},
            "memories.1",
            "names memory 'profile' under the key of memories.0",
        ),
        (
            {"memory": True, "memories": ["desk", "desk"], "memory_key": "x"},
            "memories.1",
            "names memory 'desk' under the key of memories.0",
        ),
    ],
)
def test_each_mixture_and_slip_has_its_own_message(fields: dict[str, Any], path: str, problem: str) -> None:
    ((found, text),) = faults(**fields)
    assert found == path
    assert problem in text


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"id": "Booking"}, "id", "lower-case"),
        ({"memory": "desc"}, "memory", "there is no memory resource 'desc'; did you mean 'desk'?"),
        ({"memory": "Desk"}, "memory", "lower-case"),
        ({"memory": ["chat"]}, "memory", "must be the id of a memory, true or false; several memories stand in"),
        ({"memory_key": "{{ x }}"}, "memory_key", "a name without a dot is not allowed"),
        ({"memory_key": 7}, "memory_key", "must be text"),
        ({"memory_kee": "x"}, "memory_kee", "did you mean 'memory_key'?"),
        ({"mode": "read-only"}, "mode", "is not a field here; it belongs under memories"),
        ({"memory": None, "memories": [{"id": "desk", "max_tokens": 5}]}, "memories.0.max_tokens", "under inject"),
        ({"description": 1}, "description", "must be text"),
    ],
)
def test_a_wrong_agent_is_refused_by_the_name_of_its_field(change: dict[str, Any], path: str, problem: str) -> None:
    ((found, text),) = faults(**{**AGENT, **change})
    assert found == path
    assert problem in text


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("caf\u00e9", "cafe\u0301"),
        ("{{ input.trip | lower }}", "{{input.trip|lower}}"),
        ("trip/booking", "trip/{{ agent.id }}"),
        ("{{ agent.id | lower }}:{{ input.trip }}", "booking:{{ input.trip }}"),
    ],
)
def test_two_ways_to_write_one_key_are_one_key(first: str, second: str) -> None:
    twice = [{"id": "desk", "key": first}, {"id": "desk", "key": second}]
    ((path, problem),) = faults(memories=twice)
    assert path == "memories.1"
    assert "under the key of memories.0" in problem


@pytest.mark.parametrize(
    ("first", "second", "label"),
    [
        ({}, {}, "desk"),
        ({"inject": {"label": "Trip"}}, {"inject": {"label": "Trip"}}, "Trip"),
        ({}, {"mode": "append-only", "inject": {"max_tokens": 50}}, "desk"),
    ],
)
def test_two_memories_in_a_context_need_two_labels(first: dict[str, Any], second: dict[str, Any], label: str) -> None:
    uses = [{"id": "desk", "key": "a", **first}, {"id": "desk", "key": "b", **second}]
    ((path, problem),) = faults(memories=uses)
    assert path == "memories.1"
    assert problem.startswith(f"stands in a context under '{label}', as memories.0 does")


def test_a_memory_that_stands_in_no_context_needs_no_label() -> None:
    assert len(declared(memories=[{"id": "desk", "key": "a"}, {"id": "desk", "key": "b", "mode": "append-only"}])) == 2


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("trip 1", "trip1"),
        ("K", "k"),
        ("{{ input.trip }}", "{{ input.trip | lower }}"),
        ("{{ input.trip }}", "{{ input.trip | default('none') }}"),
        ("{{ agent.id | sha256 }}", "booking"),
    ],
)
def test_keys_that_only_look_alike_are_two(first: str, second: str) -> None:
    other_label = {"label": "Other"}
    one, other = declared(memories=[{"id": "desk", "key": first}, {"id": "desk", "key": second, "inject": other_label}])
    assert one != other


def test_a_fault_in_a_list_stands_at_its_own_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "resource: memory\nid: desk\nmax_tokens: 900\n---\nresource: agent\nid: booking\nmemories:\n"
        "  - id: desk\n    mode: readwrite\n  - id: dusk\n  - desk\n  - {id: desk, key: x, mod: y}\n"
    )
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path], {})
    assert [(fault.line, fault.path) for fault in caught.value.faults] == [
        (9, "memories.0.mode"),
        (10, "memories.1.id"),
        (12, "memories.3.mod"),
    ]


def test_an_agent_may_have_the_id_of_a_memory() -> None:
    registry = Registry.from_resources([MEMORY, {**AGENT, "id": "desk"}])
    assert registry.agent("desk").memory == registry.memory("desk").id


def test_an_id_that_is_to_be_changed_itself_is_suggested_to_nobody() -> None:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([{**MEMORY, "id": "Desk"}, AGENT])
    assert [(fault.path, fault.problem.partition(",")[0]) for fault in caught.value.faults] == [
        ("id", "must be 1 to 100 lower-case letters"),
        ("memory", "there is no memory resource 'desk'"),
    ]
