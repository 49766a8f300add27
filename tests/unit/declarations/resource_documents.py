"""Documents of a memory resource, to put one field into."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations

BY_TOKENS: dict[str, Any] = {"resource": "memory", "id": "desk", "max_tokens": 1000}
GUARDED: dict[str, Any] = {**BY_TOKENS, "persistence": {"circuit_breaker": {"enabled": True}}}
BY_PRIORITY: dict[str, Any] = {**BY_TOKENS, "eviction_policy": {"type": "priority"}}
DIVIDED: dict[str, Any] = {
    **BY_TOKENS,
    "token_allocation": {"short_term": 0.5, "long_term": 0.25, "system": 0.2, "user_defined": {"bookings": 0.05}},
}
BY_MODEL: dict[str, Any] = {
    **BY_TOKENS,
    "flushing": {"summarizer": {"type": "llm", "model": "openai:gpt-4o-mini"}},
}
BY_MESSAGES: dict[str, Any] = {
    "resource": "memory",
    "id": "desk",
    "type": "message_count_based",
    "max_messages": 100,
}


def with_field(base: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    *parents, name = path.split(".")
    data = copy.deepcopy(base)
    level = data
    for parent in parents:
        level = level.setdefault(parent, {})
    level[name] = value
    return data


def declared(base: dict[str, Any], **fields: object) -> MemoryResource:
    data = base
    for path, value in fields.items():
        data = with_field(data, path.replace("__", "."), value)
    return Registry.from_resources([data]).memory(data["id"])


def problem_of(base: dict[str, Any], path: str, value: object) -> str:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([faulty(base, path, value)])
    (fault,) = caught.value.faults
    assert fault.path == path
    return fault.problem


def faulty(base: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """Returns the document with a value that has its fault at `path`, which may be the first item of a list."""
    data = with_field(base, path.removesuffix(".0"), value)
    if path.startswith("privacy_policy.default_redaction_string") and value != "[removed]":
        data["privacy_policy"]["redact_entities"] = ["email"]
    return data


WITH_MODEL: dict[str, Any] = {**BY_TOKENS, "token_provider": {"provider": "openai", "model": "gpt-4o"}}
ASKED_MODEL: dict[str, Any] = {**BY_TOKENS, "token_provider": {"provider": "google", "model": "gemini-2.5-pro"}}
UNKNOWN_MODEL: dict[str, Any] = {
    **BY_TOKENS,
    "token_provider": {"provider": "other", "model": "our-own", "settings": {"context_window": 8_000}},
}


BASES: dict[str, dict[str, Any]] = {
    "persistence.circuit_breaker.": GUARDED,
    "token_allocation.": DIVIDED,
    "eviction_policy.priority_keywords": BY_PRIORITY,
    "flushing.summarizer.": BY_MODEL,
    "overflow.max_messages": BY_MESSAGES,
    "token_provider.api_key_env": ASKED_MODEL,
    "token_provider.endpoint": ASKED_MODEL,
    "token_provider.settings.": UNKNOWN_MODEL,
    "token_provider.": WITH_MODEL,
    "max_context_ratio": WITH_MODEL,
}
"""What stands beside a field, by the beginning of its path."""


def base_of(path: str) -> dict[str, Any]:
    return next((base for beginning, base in BASES.items() if path.startswith(beginning)), BY_TOKENS)


def paths_of(model: type[BaseModel], above: str = "") -> Iterator[str]:
    for name, info in model.model_fields.items():
        options = get_args(info.annotation) or (info.annotation,)
        parts = [option for option in options if isinstance(option, type) and issubclass(option, BaseModel)]
        for part in parts:
            yield from paths_of(part, f"{above}{name}.")
        if not parts:
            yield f"{above}{name}"
