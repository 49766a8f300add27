"""An agent declares the one memory that it may use."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import InvalidDeclarations

MEMORY: dict[str, Any] = {"resource": "memory", "id": "desk", "max_tokens": 1000}
AGENT: dict[str, Any] = {"resource": "agent", "id": "booking", "memory": "desk"}


def test_an_agent_needs_an_id_and_a_memory_and_may_have_a_key() -> None:
    documents = [MEMORY, {**AGENT, "description": "Books trips", "memory_key": "trip:{{ input.trip }}"}]
    agent = Registry.from_resources(documents).agent("booking")
    assert (agent.id, agent.memory, agent.description) == ("booking", "desk", "Books trips")
    assert agent.key_template is not None
    assert agent.key_template.render({"input": {"trip": 7}}, "desk") == "trip:7"
    assert Registry.from_resources([MEMORY, AGENT]).agent("booking").key_template is None


@pytest.mark.parametrize(
    ("change", "path", "problem"),
    [
        ({"id": "Booking"}, "id", "lower-case"),
        ({"memory": "desc"}, "memory", "there is no memory resource 'desc'; did you mean 'desk'?"),
        ({"memory": "Desk"}, "memory", "lower-case"),
        ({"memory_key": "{{ x }}"}, "memory_key", "a name without a dot is not allowed"),
        ({"memory_key": 7}, "memory_key", "must be text"),
        ({"memory_kee": "x"}, "memory_kee", "did you mean 'memory_key'?"),
        ({"mode": "read-only"}, "mode", "is not a field here"),
        ({"description": 1}, "description", "must be text"),
    ],
)
def test_a_wrong_agent_is_refused_by_the_name_of_its_field(change: dict[str, Any], path: str, problem: str) -> None:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([MEMORY, {**AGENT, **change}])
    (fault,) = caught.value.faults
    assert fault.path == path
    assert problem in fault.problem


def test_an_agent_without_a_memory_is_refused() -> None:
    with pytest.raises(InvalidDeclarations, match="resource 1: memory: is missing"):
        Registry.from_resources([{"resource": "agent", "id": "booking"}])


def test_an_agent_may_have_the_id_of_a_memory() -> None:
    registry = Registry.from_resources([MEMORY, {**AGENT, "id": "desk"}])
    assert registry.agent("desk").memory == registry.memory("desk").id
