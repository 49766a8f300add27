"""The registry is a snapshot that answers by id and helps with a misspelling."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from durable_memory import MemoryClient
from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.model_access import check_models
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations, MemoryUnknownResource


def memory(resource_id: str) -> dict[str, Any]:
    return {"resource": "memory", "id": resource_id, "max_tokens": 1000}


def test_models_and_mappings_may_be_declared_in_code() -> None:
    desk = MemoryResource(id="desk", max_tokens=1000)
    booking = AgentResource(id="booking", memory="notes")
    registry = Registry.from_resources([desk, memory("notes"), booking])
    assert registry.memory("desk") is desk
    assert registry.agent("booking") is booking
    assert [resource.id for resource in registry.memories()] == ["desk", "notes"]
    assert registry.agents() == (booking,)


def test_what_is_shipped_for_redis_can_be_kept_in_memory_with_all_its_other_fields() -> None:
    sealed = {**memory("sealed"), "privacy_policy": {"require_encryption": True}, "persistence": {"ttl": "2h"}}
    shipped = Registry.from_resources([sealed, AgentResource(id="booking", memory="sealed")])
    kept = shipped.in_memory()
    [resource] = kept.memories()
    assert (resource.persistence.type, resource.ttl) == ("in_memory", shipped.memory("sealed").ttl)
    assert resource.model_dump(exclude={"persistence"}) == shipped.memory("sealed").model_dump(exclude={"persistence"})
    assert kept.agents() == shipped.agents()
    assert shipped.memory("sealed").persistence.type == "redis"


async def test_what_is_kept_in_memory_asks_no_model_and_needs_no_key_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    model = {"type": "llm", "model": "openai:gpt-4o-mini", "fallback": "none"}
    flushing = {"summarizer": model, "summary_tokens": 300}
    shipped = Registry.from_resources([{**memory("desk"), "flushing": flushing}])
    with pytest.raises(InvalidDeclarations, match="OPENAI_API_KEY is not set"):
        check_models(shipped)
    kept = shipped.in_memory()
    check_models(kept)
    assert kept.memory("desk").flushing.summary_tokens == 300
    async with await MemoryClient.connect(memories=kept) as client:
        desk = client.memory("desk", "k")
        await desk.append([f"The parcel {number} is late." for number in range(20)])
        assert (await desk.flush(force=True)).outcome == "committed"


def test_what_is_kept_in_memory_asks_no_counting_endpoint() -> None:
    provider = {"provider": "anthropic", "model": "claude-haiku-4-5", "api_key_env": "ANTHROPIC_API_KEY"}
    shipped = Registry.from_resources([{**memory("desk"), "token_provider": provider}])
    asked, unasked = shipped.memory("desk").counting, shipped.in_memory().memory("desk").counting
    assert asked is not None
    assert asked.endpoint is not None
    assert unasked == replace(asked, endpoint=None)


def test_faults_in_code_name_the_place_in_the_list() -> None:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources(
            [memory("desk"), {**memory("desk"), "scop": "user"}, AgentResource(id="a", memory="notes"), memory("desk")]
        )
    assert str(caught.value).splitlines() == [
        "resource 2: id: this memory is declared twice, first at resource 1",
        "resource 2: scop: is not a field here; did you mean 'scope'?",
        "resource 3: memory: there is no memory resource 'notes'",
        "resource 4: id: this memory is declared twice, first at resource 1",
    ]


@pytest.mark.parametrize("name", [None, 1, ("resource",)])
def test_a_declaration_in_code_whose_field_is_named_by_no_text_is_a_fault_as_others(name: Any) -> None:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([{name: "memory", "id": "desk"}])
    assert [str(fault) for fault in caught.value.faults] == [
        "resource 1: resource: is missing; a document begins with resource: memory or agent"
    ]


def test_an_unknown_id_is_answered_with_a_near_miss_and_what_is_declared() -> None:
    registry = Registry.from_resources([memory("desk"), memory("customer-support")])
    with pytest.raises(MemoryUnknownResource) as caught:
        registry.memory("customer_support")
    assert str(caught.value) == (
        "no memory resource 'customer_support' is declared; did you mean 'customer-support'? "
        "Declared: customer-support, desk"
    )
    with pytest.raises(MemoryUnknownResource, match="no agent 'disk' is declared; no agent is declared"):
        registry.agent("disk")


def test_an_id_of_the_other_kind_is_told_as_such() -> None:
    registry = Registry.from_resources([memory("desk"), {"resource": "agent", "id": "clerk", "memory": "desk"}])
    with pytest.raises(MemoryUnknownResource, match=r"^'clerk' is declared as an agent, not as the memory resource"):
        registry.memory("clerk")
    with pytest.raises(MemoryUnknownResource, match=r"^'desk' is declared as a memory resource, not as the agent"):
        registry.agent("desk")


def test_a_long_list_of_ids_is_left_out() -> None:
    registry = Registry.from_resources([memory(f"m{number}") for number in range(11)])
    with pytest.raises(MemoryUnknownResource) as caught:
        registry.memory("zzz")
    assert str(caught.value) == "no memory resource 'zzz' is declared"


def test_what_is_too_long_for_an_id_is_not_repeated() -> None:
    registry = Registry.from_resources([memory("desk")])
    with pytest.raises(MemoryUnknownResource) as caught:
        registry.memory("private words " * 50)
    assert "private" not in str(caught.value)


def test_a_snapshot_cannot_be_changed() -> None:
    registry = Registry.from_resources([memory("desk")])
    with pytest.raises(AttributeError):
        setattr(registry, "extra", 1)  # noqa: B010 - a checker would refuse the assignment itself
    assert isinstance(registry.memories(), tuple)


def test_the_fingerprint_is_that_of_what_is_declared_and_not_of_its_order() -> None:
    desk, till = ({"resource": "memory", "id": each, "max_tokens": 300, "scope": "user"} for each in ("desk", "till"))
    declared = Registry.from_resources([desk, till])
    assert declared.fingerprint == Registry.from_resources([till, desk]).fingerprint
    assert declared.fingerprint != Registry.from_resources([desk]).fingerprint
    assert declared.fingerprint != Registry.from_resources([{**desk, "max_tokens": 301}, till]).fingerprint
