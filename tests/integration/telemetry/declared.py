"""The memories of these tests: small, so that a few messages fill them."""

from __future__ import annotations

from durable_memory import Registry

DECLARATIONS = (
    {
        "resource": "memory",
        "id": "small",
        "max_tokens": 400,
        "flushing": {"summarize_threshold": 0.8, "target_ratio": 0.4, "summary_tokens": 80, "keep_last": 1},
    },
    {
        "resource": "memory",
        "id": "ring",
        "max_messages": 5,
        "type": "message_count_based",
        "flushing": {"type": "drop", "keep_last": 0},
    },
    {"resource": "memory", "id": "private", "max_tokens": 400, "privacy_policy": {"redact_entities": ["email"]}},
    {"resource": "memory", "id": "cut", "max_tokens": 400, "oversize": "truncate", "flushing": {"type": "drop"}},
)
REGISTRY = Registry.from_resources(DECLARATIONS)
