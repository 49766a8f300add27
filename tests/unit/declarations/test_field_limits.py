"""Every field of a memory resource: what it changes in the limits of its memories."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.limits import Share
from tests.unit.declarations.resource_documents import (
    BY_MESSAGES,
    BY_TOKENS,
    DIVIDED,
    WITH_MODEL,
    paths_of,
    with_field,
)

NO_LIMIT = {
    "eviction_policy.priority_keywords",
    "flushing.summarizer.type",
    "flushing.summarizer.model",
    "flushing.summarizer.prompt",
    "flushing.summarizer.endpoint",
    "flushing.summarizer.stream",
    "flushing.summarizer.api_key_env",
    "flushing.summarizer.max_input_tokens",
    "flushing.summarizer.timeout",
    "flushing.summarizer.fallback",
    "flushing.summarizer.daily_token_budget",
    "privacy_policy.redact_patterns",
    "privacy_policy.redact_entities",
    "privacy_policy.non_persistable_message_types",
    "privacy_policy.default_redaction_string",
    "privacy_policy.require_encryption",
    "persistence.circuit_breaker.enabled",
    "persistence.circuit_breaker.timeout",
    "persistence.circuit_breaker.max_failures",
    "persistence.circuit_breaker.reset_timeout",
    "resource",
    "id",
    "description",
    "version",
    "token_provider.provider",
    "token_provider.model",
    "token_provider.api_key_env",
    "token_provider.endpoint",
    "token_provider.fallback",
    "token_provider.settings.context_window",
    "token_provider.settings.encoding",
    "token_provider.settings.estimate_factor",
    "persistence.type",
    "agents_only",
    "default_key_template",
    "on_workflow_end",
}
"""Fields that change something else than Limits; tested one by one below."""


def parts(system: int, long_term: int, bookings: int, short_term: int) -> tuple[Share, ...]:
    """The shares of DIVIDED in tokens, each with the threshold and the target of its section."""
    return (
        Share("system", system),
        Share("long_term", long_term),
        *(
            Share(section, tokens, due_tokens=-(-tokens * 4 // 5), target_tokens=tokens // 2)
            for section, tokens in (("bookings", bookings), ("short_term", short_term))
        ),
    )


CHANGES: dict[str, tuple[dict[str, Any], object, dict[str, object]]] = {
    "type": (
        {**BY_TOKENS, "max_messages": 100},
        "buffer",
        {"due_messages": 80, "target_messages": 49},
    ),
    "max_tokens": (
        BY_TOKENS,
        2000,
        {
            "max_tokens": 2000,
            "summary_tokens": 200,
            "overflow_tokens": 8000,
            "due_tokens": 1440,
            "target_tokens": 900,
        },
    ),
    "max_context_ratio": (
        {**WITH_MODEL, "max_tokens": 64_000},
        0.25,
        {
            "max_tokens": 32_000,
            "summary_tokens": 3_200,
            "overflow_tokens": 128_000,
            "due_tokens": 23_040,
            "target_tokens": 14_400,
        },
    ),
    "max_messages": (
        BY_MESSAGES,
        201,
        {"max_messages": 201, "due_messages": 160, "target_messages": 100, "overflow_messages": 804},
    ),
    # A sum that is not quite 1 is the whole: no share takes more than its part of it.
    "token_allocation.short_term": (DIVIDED, 0.501, {"shares": parts(199, 249, 49, 500)}),
    "token_allocation.long_term": (DIVIDED, 0.249, {"shares": parts(200, 249, 50, 500)}),
    "token_allocation.system": (DIVIDED, 0.201, {"shares": parts(200, 249, 49, 499)}),
    "token_allocation.user_defined": (DIVIDED, {"bookings": 0.0505}, {"shares": parts(199, 249, 50, 499)}),
    "eviction_policy.type": (BY_TOKENS, "lfu", {"policy": "lfu"}),
    "flushing.type": (
        BY_TOKENS,
        "drop",
        {"summarize": False, "summary_tokens": 0, "overflow_tokens": None, "due_tokens": 800, "target_tokens": 500},
    ),
    "flushing.summarize_threshold": (BY_TOKENS, 0.55, {"due_tokens": 495}),
    "flushing.target_ratio": (BY_TOKENS, 0.25, {"target_tokens": 225}),
    "flushing.summary_tokens": (BY_TOKENS, 300, {"summary_tokens": 300, "due_tokens": 560, "target_tokens": 350}),
    "flushing.summarize_oldest_percent": (BY_TOKENS, 0.4, {"oldest_share": 0.4}),
    "flushing.keep_first": (BY_TOKENS, 3, {"keep_first": 3}),
    "flushing.keep_last": (BY_TOKENS, 7, {"keep_last": 7}),
    "oversize": (BY_TOKENS, "truncate", {"result_reserve": 64}),
    "open_group_ttl": (BY_TOKENS, "5m", {"open_group_ms": 300_000}),
    "overflow.max_tokens": (BY_TOKENS, 2000, {"overflow_tokens": 2000}),
    "overflow.max_messages": (BY_MESSAGES, 300, {"overflow_messages": 300}),
    "persistence.ttl": (BY_TOKENS, "7d", {"ttl_ms": 604_800_000}),
    "persistence.refresh_on_read": (BY_TOKENS, True, {"refresh_on_read": True}),
    "locking.flush_ttl": (BY_TOKENS, "20s", {"lease_ms": 20_000}),
    "scope": (BY_TOKENS, "user", {"ttl_ms": None}),
}


def test_every_field_of_the_model_is_tested_here() -> None:
    assert set(CHANGES) | NO_LIMIT == set(paths_of(MemoryResource))


@pytest.mark.parametrize("path", CHANGES)
def test_a_field_changes_its_limits_and_no_others(path: str) -> None:
    base, value, expected = CHANGES[path]
    before = Registry.from_resources([base]).memories()[0].limits()
    after = Registry.from_resources([with_field(base, path, value)]).memories()[0].limits()
    changed = {name: getattr(after, name) for name in after.__slots__ if getattr(after, name) != getattr(before, name)}
    assert changed == expected
