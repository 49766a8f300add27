"""What an agent may do with a memory, decided where a reference is resolved."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory.memory.access import APPENDING, MODES, READING, Access, Mode, allows, narrowest
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import MemoryAccessDenied, MemoryKeyInvalid
from durable_memory.memory.resolution import CalledFrom, resolve
from durable_memory.memory.types import MemoryRef

REGISTRY = Registry.from_resources(
    [
        {"resource": "memory", "id": "desk", "max_tokens": 1000},
        {"resource": "memory", "id": "profile", "max_tokens": 1000, "default_key_template": "user:{{ input.user }}"},
        {"resource": "memory", "id": "vault", "max_tokens": 1000, "agents_only": True},
        {"resource": "agent", "id": "single", "memory": "vault", "memory_key": "trip:{{ input.trip }}"},
        {
            "resource": "agent",
            "id": "shared",
            "memory": True,
            "memories": ["desk", "profile"],
            "memory_key": "trip:{{ input.trip }}",
        },
        {
            "resource": "agent",
            "id": "full",
            "memories": [
                {"id": "desk", "key": "trip:{{ input.trip }}"},
                {"id": "desk", "key": "everyone", "mode": "read-only", "inject": {"label": "Everyone"}},
                {"id": "profile", "mode": "append-only"},
            ],
        },
        {"resource": "agent", "id": "stateless", "memory": False},
    ]
)


def resolved(resource: str, **fields: Any) -> tuple[str, Access]:
    _, memory, access = resolve(MemoryRef(resource, **fields), REGISTRY, CalledFrom("shop"))
    return memory.key, access


@pytest.mark.parametrize(
    ("agent", "resource", "given", "key", "mode"),
    [
        ("single", "vault", {"trip": 7}, "trip:7", "read-write"),
        ("shared", "desk", {"trip": 7}, "trip:7", "read-write"),
        ("shared", "profile", {"trip": 7, "user": 1}, "trip:7", "read-write"),
        ("full", "profile", {"user": 1}, "user:1", "append-only"),
    ],
)
def test_each_tier_makes_its_key_and_its_mode(
    agent: str, resource: str, given: dict[str, Any], key: str, mode: Mode
) -> None:
    assert resolved(resource, agent=agent, input=given) == (key, Access(agent, mode))


@pytest.mark.parametrize(
    ("key", "mode"), [("trip:7", "read-write"), ("everyone", "read-only"), ("anything else", "read-only")]
)
def test_a_literal_key_has_the_mode_of_the_declaration_that_could_have_made_it(key: str, mode: Mode) -> None:
    assert resolved("desk", agent="full", key=key) == (key, Access("full", mode))


def test_a_memory_under_two_keys_needs_the_key() -> None:
    with pytest.raises(MemoryKeyInvalid, match="agent 'full' declares it under 2 keys; give the key"):
        resolved("desk", agent="full", input={"trip": 7})


def test_an_agent_reaches_what_it_declares_and_nothing_else() -> None:
    with pytest.raises(MemoryAccessDenied, match="'shared' has not declared memory 'vault'; it may use 'desk', 'prof"):
        resolved("vault", agent="shared", key="x")
    with pytest.raises(MemoryAccessDenied, match="'stateless' has not declared memory 'desk'; it may use none"):
        resolved("desk", agent="stateless", key="x")


def test_a_memory_for_agents_only_refuses_whoever_names_none() -> None:
    with pytest.raises(MemoryAccessDenied, match=r"memory 'vault' is for agents only") as caught:
        resolved("vault", key="secret-key")
    assert "secret-key" not in str(caught.value)
    assert resolved("vault", agent="single", key="x") == ("x", Access("single"))


def test_a_program_that_calls_for_itself_is_held_to_no_mode() -> None:
    assert resolved("desk", key="x") == ("x", Access(None, "read-write"))


@pytest.mark.parametrize("operation", ["write", "delete", "clear", "flush", "pin", "restore", "whatever comes"])
def test_what_is_neither_reading_nor_appending_is_for_read_write_alone(operation: str) -> None:
    assert [allows(mode, operation) for mode in MODES] == [True, False, False]


def test_each_mode_allows_less_than_the_one_before() -> None:
    assert [[allows(mode, one) for one in sorted(READING)] for mode in MODES] == [[True] * len(READING)] * 3
    assert [[allows(mode, one) for one in sorted(APPENDING)] for mode in MODES] == [[True] * 2, [True] * 2, [False] * 2]
    assert narrowest({"read-write", "read-only", "append-only"}) == "read-only"
    assert narrowest({"read-write", "append-only"}) == "append-only"
