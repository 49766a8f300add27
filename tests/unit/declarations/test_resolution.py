"""From a reference to a memory: the key given, else the agent's template, else the resource's, else an error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import (
    InvalidDeclarations,
    MemoryAccessDenied,
    MemoryKeyInvalid,
    MemoryUnknownResource,
)
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.resolution import CalledFrom, resolve, resolve_agent
from durable_memory.memory.types import AgentRef, MemoryRef

REGISTRY = Registry.from_resources(
    [
        {"resource": "memory", "id": "desk", "max_tokens": 1000, "default_key_template": "user:{{ input.user_id }}"},
        {"resource": "memory", "id": "notes", "max_tokens": 1000},
        {"resource": "memory", "id": "run", "max_tokens": 1000, "default_key_template": "{{ workflow.id }}"},
        {
            "resource": "memory",
            "id": "all",
            "max_tokens": 1000,
            "default_key_template": "{{ project.id }}/{{ workflow.type }}/{{ agent.id }}",
        },
        {"resource": "agent", "id": "booking", "memory": "desk", "memory_key": "trip:{{ input.trip_id }}"},
        {"resource": "agent", "id": "billing", "memory": "desk"},
        {"resource": "agent", "id": "scribe", "memory": "notes"},
        {"resource": "agent", "id": "auditor", "memory": "all"},
        {"resource": "memory", "id": "cases", "max_tokens": 1000},
        {"resource": "agent", "id": "clerk", "memories": [{"id": "cases", "key": "case:{{ input.case }}"}]},
        {"resource": "agent", "id": "archive", "memory": "cases"},
    ]
)


def key_of(resource: str, **fields: Any) -> str:
    _, memory, _ = resolve(MemoryRef(resource, **fields), REGISTRY, CalledFrom("shop"))
    return memory.key


def test_the_identity_has_project_resource_and_key() -> None:
    resource, memory, _ = resolve(MemoryRef("desk", key="user:42"), REGISTRY, CalledFrom("shop"))
    assert resource is REGISTRY.memory("desk")
    assert memory == MemoryId("shop", "desk", "user:42")


def test_a_reference_by_id_alone_uses_the_default_template() -> None:
    assert key_of("desk", input={"user_id": 42}) == "user:42"


def test_a_literal_key_and_a_rendered_one_meet_in_one_memory() -> None:
    assert key_of("desk", key="user:zoe\N{COMBINING DIAERESIS}") == key_of("desk", input={"user_id": "zoë"})


def test_the_agents_template_goes_before_the_resources() -> None:
    assert key_of("desk", agent="booking", input={"trip_id": "t1", "user_id": 42}) == "trip:t1"
    assert key_of("desk", agent="billing", input={"user_id": 42}) == "user:42"
    assert key_of("desk", agent="booking", key="user:7") == "user:7"


def test_a_template_that_fails_never_falls_back_to_another() -> None:
    with pytest.raises(MemoryKeyInvalid, match=r"input\.trip_id, which is not given"):
        key_of("desk", agent="booking", input={"user_id": 42})


def test_without_key_and_template_there_is_no_memory() -> None:
    with pytest.raises(MemoryKeyInvalid, match="no key is given, and it has no default_key_template"):
        key_of("notes")
    with pytest.raises(MemoryKeyInvalid, match=r"; give a key$"):
        key_of("notes", agent="scribe", input={"user_id": 42})
    with pytest.raises(MemoryKeyInvalid, match=r"; give a key, or an agent that makes one: clerk$"):
        key_of("cases", input={"case": 7})
    with pytest.raises(MemoryKeyInvalid, match=r"input\.user_id, which is not given"):
        key_of("desk")
    with pytest.raises(MemoryKeyInvalid, match="is empty"):
        key_of("desk", key="")


def test_a_key_and_an_input_are_one_too_many() -> None:
    with pytest.raises(MemoryKeyInvalid, match="not both"):
        key_of("desk", key="user:42", input={"user_id": 43})


def test_the_workflow_is_known_only_inside_one() -> None:
    _, memory, _ = resolve(MemoryRef("run"), REGISTRY, CalledFrom("shop", "order-7", "Order"))
    assert memory.key == "order-7"
    with pytest.raises(
        MemoryKeyInvalid, match=r"workflow\.id, which is not given: outside a workflow pass the key, or"
    ):
        key_of("run")


def test_a_reference_that_names_a_workflow_means_its_memory_to_any_other() -> None:
    parents = MemoryRef("all", agent="auditor", workflow_id="order-7", workflow_type="Order")
    for caller in (None, "child"):
        _, memory, _ = resolve(parents, REGISTRY, CalledFrom("shop", caller, caller))
        assert memory.key == "shop/Order/auditor"
    run = MemoryRef("run", workflow_id="order-7", workflow_type="Order")
    assert resolve(run, REGISTRY, CalledFrom("shop", "child")).memory.key == "order-7"
    agents = AgentRef("auditor", workflow_id="order-7", workflow_type="Order")
    (_, found), *others = resolve_agent(agents, REGISTRY, CalledFrom("shop", "child", "Child"))
    assert (found.memory.key, others) == ("shop/Order/auditor", [])


def test_what_a_reference_does_not_say_of_its_workflow_is_not_taken_from_another() -> None:
    half = MemoryRef("all", agent="auditor", workflow_id="order-7")
    with pytest.raises(MemoryKeyInvalid, match=r"workflow\.type, which is not given"):
        resolve(half, REGISTRY, CalledFrom("shop", "child", "Child"))


def test_a_key_stands_whatever_workflow_gave_the_reference_out() -> None:
    lent = MemoryRef("run", key="mine", workflow_id="order-7", workflow_type="Order", run_id="run-1")
    _, memory, _ = resolve(lent, REGISTRY, CalledFrom("shop", "child", "Child"))
    assert memory.key == "mine"


def test_project_type_and_agent_are_variables() -> None:
    ref = MemoryRef("all", agent="auditor")
    _, memory, _ = resolve(ref, REGISTRY, CalledFrom("shop", "w", "Order"))
    assert memory.key == "shop/Order/auditor"


def test_input_cannot_pretend_to_be_another_scope() -> None:
    with pytest.raises(MemoryKeyInvalid, match=r"workflow\.id"):
        key_of("run", input={"workflow": {"id": "stolen"}, "workflow.id": "stolen", "id": "stolen"})


def test_an_agent_reaches_only_the_memory_that_it_declares() -> None:
    with pytest.raises(MemoryAccessDenied, match="agent 'scribe' has not declared memory 'desk'"):
        key_of("desk", agent="scribe", key="user:42")


def test_unknown_names_are_errors_and_not_no_memory() -> None:
    with pytest.raises(MemoryUnknownResource, match="no agent 'bookin' is declared; did you mean 'booking'"):
        key_of("desk", agent="bookin", key="user:42")
    with pytest.raises(MemoryUnknownResource, match="did you mean 'desk'"):
        key_of("dusk", key="user:42")


def test_an_agents_memory_must_exist_at_load() -> None:
    with pytest.raises(InvalidDeclarations, match="there is no memory resource 'desk'"):
        Registry.from_resources([{"resource": "agent", "id": "a", "memory": "desk"}])


@given(st.one_of(st.text(max_size=300), st.integers(), st.none(), st.booleans(), st.floats(), st.lists(st.integers())))
def test_any_input_gives_a_valid_key_or_a_key_error(value: object) -> None:
    try:
        key = key_of("desk", input={"user_id": value})
    except MemoryKeyInvalid:
        return
    assert key.startswith("user:")
    assert 5 < len(key) <= 256
    # The key of a rendered template is a valid literal key, and means the same memory.
    assert key_of("desk", key=key) == key
