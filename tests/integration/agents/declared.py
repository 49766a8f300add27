"""Agents in every mode, and the memories that they share."""

from __future__ import annotations

from typing import Any

_DESK = {"max_tokens": 2000, "scope": "user", "flushing": {"keep_last": 0}}


def declarations(persistence: str = "redis") -> list[dict[str, Any]]:
    """The declarations of these tests, with their memories in Redis or in the process."""
    kept = {"type": persistence}
    return [
        {"resource": "memory", "id": "desk", **_DESK, "persistence": kept},
        {"resource": "memory", "id": "other", **_DESK, "persistence": kept},
        {
            "resource": "memory",
            "id": "often",
            "max_tokens": 2000,
            "max_messages": 3,
            "eviction_policy": {"type": "lfu"},
            "flushing": {"type": "drop"},
            "persistence": kept,
        },
        {
            "resource": "memory",
            "id": "vault",
            **_DESK,
            "persistence": kept,
            "agents_only": True,
            "default_key_template": "user:{{ input.user }}",
        },
        *(
            {"resource": "agent", "id": mode, "memories": [{"id": name, "mode": mode} for name in ("desk", "vault")]}
            for mode in ("read-write", "append-only", "read-only")
        ),
        {"resource": "agent", "id": "stranger", "memory": "other"},
        {"resource": "agent", "id": "regular", "memory": "often"},
        {
            "resource": "agent",
            "id": "clerk",
            "memories": [
                {"id": "vault", "mode": "read-only", "inject": {"max_tokens": 300, "label": "Profile"}},
                {"id": "other", "key": "log:{{ input.user }}", "mode": "append-only"},
                {"id": "desk", "key": "trip:{{ input.user }}", "inject": {"label": "Trip thread"}},
            ],
        },
        *(
            {
                "resource": "agent",
                "id": debater,
                "memory": True,
                "memories": ["desk", "other"],
                "memory_key": "d:{{ input.user }}",
            }
            for debater in ("debater-a", "debater-b")
        ),
        {
            "resource": "agent",
            "id": "twins",
            "memories": [
                {"id": "desk", "key": "a:{{ input.a }}"},
                {"id": "desk", "key": "a:{{ input.b }}", "inject": {"label": "Other"}},
            ],
        },
        {
            "resource": "agent",
            "id": "scribe",
            "memory": True,
            "memories": ["desk", "other"],
            "memory_key": "s:{{ input.user }}",
        },
        {
            "resource": "memory",
            "id": "trip",
            **_DESK,
            "persistence": kept,
            "token_allocation": {
                "short_term": 0.5,
                "long_term": 0.2,
                "system": 0.2,
                "user_defined": {"bookings": 0.1},
            },
        },
        {"resource": "memory", "id": "audit", "max_tokens": 100, "flushing": {"type": "drop"}, "persistence": kept},
        {
            "resource": "memory",
            "id": "held-back",
            "max_tokens": 200,
            "overflow": {"max_tokens": 400},
            "flushing": {"summary_tokens": 40, "keep_last": 0},
            "persistence": kept,
        },
        {
            "resource": "memory",
            "id": "clipped",
            "max_tokens": 100,
            "flushing": {"type": "drop"},
            "oversize": "truncate",
            "persistence": kept,
        },
        *(
            {
                "resource": "agent",
                "id": f"trip-and-{other}",
                "memory": True,
                "memories": ["trip", other],
                "memory_key": "t:{{ input.user }}",
            }
            for other in ("audit", "clipped", "held-back")
        ),
        *(
            {"resource": "memory", "id": name, **_DESK, "persistence": kept, "privacy_policy": policy}
            for name, policy in (
                ("no-phones", {"redact_entities": ["phone"]}),
                ("no-names", {"redact_patterns": ["Ada"]}),
                ("no-answers", {"redact_entities": ["phone"], "non_persistable_message_types": ["assistant", "tool"]}),
                ("nothing", {"non_persistable_message_types": ["user", "assistant", "tool"]}),
            )
        ),
        *(
            {
                "resource": "agent",
                "id": "--".join(used),
                "memories": [{"id": name, "key": "p:{{ input.user }}"} for name in used],
            }
            for used in (
                ["no-phones"],
                ["no-phones", "no-names"],
                ["no-names", "no-phones"],
                ["desk", "no-phones"],
                ["no-answers", "no-phones"],
                ["nothing", "no-names"],
                ["no-answers"],
                ["nothing"],
                ["clipped", "desk"],
            )
        ),
        {
            "resource": "agent",
            "id": "keeper",
            "memories": [
                {"id": "other", "key": "facts:{{ input.user }}", "record_turns": False},
                {"id": "desk", "key": "trip:{{ input.user }}", "inject": {"label": "Trip thread"}},
            ],
        },
        {"resource": "agent", "id": "stateless", "memory": False},
    ]
