"""The sample memories are valid, and mean what their comments say."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.resolution import CalledFrom, resolve
from durable_memory.memory.types import MemoryRef

MEMORIES = Path(__file__).parents[2] / "memories"
REGISTRY = Registry.load([MEMORIES])


def test_the_shipped_samples_declare_these_memories_and_agents() -> None:
    assert [resource.id for resource in REGISTRY.memories()] == ["customer-support", "scratchpad", "session"]
    assert [agent.id for agent in REGISTRY.agents()] == ["triage", "billing"]


def test_every_sample_says_what_it_is_for() -> None:
    for resource in REGISTRY.memories():
        assert resource.description
        assert resource.version == "1.0.0"


def test_all_agents_of_the_desk_share_one_memory_of_a_customer() -> None:
    references = [
        MemoryRef("customer-support", key="user:42"),
        MemoryRef("customer-support", input={"user_id": 42}),
        MemoryRef("customer-support", input={"user_id": "42"}, agent="triage"),
        MemoryRef("customer-support", input={"user_id": 42}, agent="billing"),
    ]
    memories = {resolve(reference, REGISTRY, CalledFrom("demo")).memory for reference in references}
    assert [memory.key for memory in memories] == ["user:42"]


def test_customer_support_is_summarised_and_stays() -> None:
    resource = REGISTRY.memory("customer-support")
    limits = resource.limits()
    assert (limits.summarize, limits.summary_tokens, limits.max_tokens) == (True, 400, 4000)
    assert (resource.ttl, resource.workflow_end_action) == (timedelta(days=30), "flush")


def test_the_scratchpad_drops_and_goes_with_its_workflow() -> None:
    resource = REGISTRY.memory("scratchpad")
    limits = resource.limits()
    assert (limits.summarize, limits.max_messages, resource.workflow_end_action) == (False, 50, "clear")
    _, memory, _ = resolve(MemoryRef("scratchpad"), REGISTRY, CalledFrom("demo", "order-7"))
    assert memory.key == "order-7:main"


def test_the_session_watches_tokens_and_messages() -> None:
    resource = REGISTRY.memory("session")
    limits = resource.limits()
    assert (limits.due_tokens, limits.due_messages, limits.policy) == (5760, 160, "lru")
    assert (resource.ttl, resource.workflow_end_action) == (timedelta(hours=24), "keep")
