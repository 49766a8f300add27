"""The memories and agents that these tests declare; budgets are small, so that a few messages fill them."""

from __future__ import annotations

from typing import Any

_SMALL = {"summarize_threshold": 0.8, "target_ratio": 0.4, "summary_tokens": 80, "keep_last": 1}


def _memory(resource_id: str, **fields: Any) -> dict[str, Any]:
    return {"resource": "memory", "id": resource_id, **fields}


DECLARATIONS: tuple[dict[str, Any], ...] = (
    _memory("chat", max_tokens=4000, scope="user", default_key_template="user:{{ input.user_id }}"),
    _memory("trips", max_tokens=4000, scope="user"),
    _memory("archive", max_tokens=2_000_000, scope="user"),
    _memory("scratch", max_tokens=4000, scope="temp"),
    _memory("kept", max_tokens=4000, scope="session"),
    _memory("cleared", max_tokens=4000, scope="session", on_workflow_end="clear"),
    _memory(
        "flushed",
        max_tokens=4000,
        scope="session",
        on_workflow_end="flush",
        flushing={"keep_last": 0, "summary_tokens": 200},
    ),
    _memory("small", max_tokens=400, scope="user", flushing=_SMALL, locking={"flush_ttl": "3s"}),
    _memory("patient", max_tokens=400, scope="user", flushing=_SMALL),
    _memory("ring", max_tokens=400, scope="user", flushing={"type": "drop", "keep_last": 1}),
    _memory(
        "log", type="message_count_based", max_messages=100_000, scope="user", flushing={"type": "drop", "keep_last": 0}
    ),
    _memory(
        "narrow",
        max_tokens=400,
        scope="user",
        flushing=_SMALL,
        overflow={"max_tokens": 800},
        locking={"flush_ttl": "1s"},
    ),
    _memory("brief", max_tokens=4000, scope="session", persistence={"ttl": "1s"}),
    _memory("calls", max_tokens=400, scope="user", flushing=_SMALL, open_group_ttl="1s"),
    {"resource": "agent", "id": "booking", "memory": "trips", "memory_key": "trip:{{ input.trip_id }}"},
)
