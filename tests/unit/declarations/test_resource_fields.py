"""Every field of a memory resource: what it accepts, what it refuses, and what it changes."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from datetime import timedelta
from typing import Any, get_args

import pytest
from pydantic import BaseModel

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.limits import Share

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


ACCEPTED: dict[str, list[object]] = {
    "resource": ["memory"],
    "id": ["a", "0", "customer-support", "customer_support", "x" * 100],
    "description": ["", "What it is for", "x" * 1000],
    "version": ["1.2.0", "0.0.1", "1.0.0-rc.1"],
    "type": ["token_based", "buffer"],
    "max_tokens": [160, 1_000_000_000],
    "max_messages": [4, 1_000_000_000],
    "max_context_ratio": [0.00125, 0.5, 1, 1.0],
    "token_provider.provider": ["openai"],
    "token_provider.model": ["gpt-4o", "gpt-4o-2024-08-06", "o3-mini", "ft:gpt-4o:acme::x1", "gpt-3.5-turbo"],
    "token_provider.api_key_env": ["ANTHROPIC_API_KEY", "key_2"],
    "token_provider.endpoint": ["https://gateway.example.com/v1", "http://127.0.0.1:8080"],
    "token_provider.fallback": ["tiktoken"],
    "token_provider.settings.context_window": [1000, 1_000_000_000],
    "token_provider.settings.encoding": ["o200k_base", "cl100k_base"],
    "token_provider.settings.estimate_factor": [0.5, 1, 4.0],
    "token_allocation.short_term": [0.5, 0.5009, 0.4991],
    "token_allocation.long_term": [0.25, 0.2509],
    "token_allocation.system": [0.2, 0.1995],
    "token_allocation.user_defined": [{"bookings": 0.05}, {"a": 0.03, "0-b_c": 0.02}],
    "eviction_policy.type": ["fifo", "lru", "lfu", "priority", "token_aware_lru"],
    "eviction_policy.priority_keywords": [["visa"], ["credit card", "返金", "C++"], ["x" * 100] * 100],
    "flushing.type": ["hybrid_summary", "drop", "simple_fifo", "lru", "lfu", "priority", "token_aware_lru"],
    "flushing.summarize_threshold": [0.51, 1, 1.0],
    "flushing.target_ratio": [0, 0.0, 0.79],
    "flushing.summary_tokens": [16, 997],
    "flushing.summarize_oldest_percent": [0, 0.4, 1],
    "flushing.keep_first": [0, 5],
    "flushing.keep_last": [0, 5],
    "flushing.summarizer.type": ["llm"],
    "flushing.summarizer.model": ["openai:gpt-4o-mini", "anthropic:claude-haiku-4-5", "openai:org/model:7b"],
    "flushing.summarizer.prompt": ["Keep the prices.", "x" * 8000],
    "flushing.summarizer.endpoint": ["https://llm.example.com/v1", "http://127.0.0.1:8080"],
    "flushing.summarizer.api_key_env": ["OPENAI_API_KEY", "_key2"],
    "flushing.summarizer.max_input_tokens": [256, 96_000],
    "flushing.summarizer.timeout": ["1s", "5m"],
    "flushing.summarizer.fallback": ["rule_based", "none"],
    "flushing.summarizer.daily_token_budget": [16_000, 1_000_000_000],
    "oversize": ["reject", "truncate"],
    "open_group_ttl": ["1ms", "7d"],
    "overflow.max_tokens": [2000, 1_000_000],
    "overflow.max_messages": [200, 1_000_000],
    "persistence.type": ["redis", "in_memory"],
    "persistence.ttl": ["150ms", "72h", None],
    "persistence.refresh_on_read": [True, False],
    "persistence.circuit_breaker.enabled": [True, False],
    "persistence.circuit_breaker.timeout": ["10ms", "1m"],
    "persistence.circuit_breaker.max_failures": [1, 1000],
    "persistence.circuit_breaker.reset_timeout": ["100ms", "1h"],
    "privacy_policy.redact_patterns": [[], [r"\b\d{2}-\d{7}\b", "(foo|bar)+", "(a+)+$", "x" * 2000]],
    "privacy_policy.redact_entities": [[], ["email", "api_key"]],
    "privacy_policy.non_persistable_message_types": [[], ["tool"], ["system", "user"], ["assistant", "tool"]],
    "locking.flush_ttl": ["1s", "1000ms", "1h"],
    "scope": ["temp", "session", "user", "app", "project"],
    "agents_only": [True, False],
    "default_key_template": ["user:{{ input.user_id }}", "global"],
    "on_workflow_end": ["keep", "flush", "clear"],
}
REFUSED: dict[str, list[tuple[object, str]]] = {
    "agents_only": [("yes", "must be true or false"), (1, "must be true or false")],
    "resource": [("memori", "did you mean 'memory'"), ("tool", "must be memory or agent"), (1, "must be memory")],
    "id": [
        ("", "1 to 100 lower-case"),
        ("Desk", "lower-case"),
        ("-a", "begin with a letter"),
        ("a b", "lower-case"),
        ("a/b", "lower-case"),
        ("a\n", "lower-case"),
        ("é", "lower-case"),
        ("x" * 101, "1 to 100"),
        (7, "must be text; put it in quotes"),
    ],
    "description": [("x" * 1001, "at most 1000 characters"), (["x"], "must be text")],
    "version": [(1.2, "must be text; put it in quotes"), ("1.2", "three numbers"), ("v1.2.0", "three numbers")],
    "type": [("banana", "must be token_based, message_count_based or buffer"), ("bufer", "did you mean 'buffer'")],
    "max_tokens": [
        (0, "at least 1"),
        (-5, "at least 1"),
        (1.5, "whole number"),
        ("9", "whole number"),
        (True, "whole"),
    ],
    "max_messages": [(0, "at least 1"), ("ten", "whole number"), (10**10, "at most 1000000000")],
    "max_context_ratio": [(0, "more than 0"), (1.01, "at most 1"), ("40%", "number"), (0.000001, "leaves no token")],
    "token_provider.provider": [
        ("opena", "did you mean 'openai'"),
        ("vertex", "must be openai, anthropic, google, mistral, deepseek, xai or other"),
    ],
    "token_provider.model": [
        ("gpt-4oo", "did you mean 'gpt-4o'"),
        ("claude-opus-4-5", "is no model of openai; did you mean provider: anthropic?"),
        ("", "at least 1 characters"),
        (4, "must be text"),
    ],
    "token_provider.api_key_env": [
        ("sk-ant-api03-secret", "must be the name of an environment variable"),
        ("", "must be the name of an environment variable"),
        (5, "must be text"),
    ],
    "token_provider.endpoint": [
        ("gateway.example.com", "must be a URL"),
        ("ftp://gateway.example.com", "must be a URL"),
        ("https://me:secret@gateway.example.com", "must hold no user"),
    ],
    "token_provider.fallback": [
        ("bytes", "has no effect: the model is counted exactly, by o200k_base"),
        ("none", "must be tiktoken or bytes"),
    ],
    "token_provider.settings.context_window": [(0, "at least 1"), ("128k", "whole number")],
    "token_provider.settings.encoding": [("o200k", "did you mean 'o200k_base'"), ("p50k_base", "must be")],
    "token_provider.settings.estimate_factor": [(0.4, "at least 0.5"), (4.1, "at most 4"), ("x", "number")],
    "token_allocation.short_term": [(0, "more than 0"), (1.5, "at most 1"), ("half", "must be a number")],
    "token_allocation.long_term": [(-0.1, "at least 0"), (1, "less than 1"), ("x", "must be a number")],
    "token_allocation.system": [(-0.1, "at least 0"), (1, "less than 1")],
    "token_allocation.user_defined": [
        ({"Book ings": 0.05}, "1 to 64 of a-z"),
        ({"": 0.05}, "1 to 64 of a-z"),
        ({f"s{number}": 0.05 / 17 for number in range(17)}, "at most 16"),
        (0.05, "must be a mapping"),
    ],
    "eviction_policy.type": [
        ("lruu", "did you mean 'lru'"),
        ("random", "must be fifo, lru, lfu, priority or token_aware_lru"),
        (1, "must be fifo"),
    ],
    "eviction_policy.priority_keywords": [
        ("visa", "must be a list"),
        (["visa"] * 101, "at most 100 items"),
    ],
    "flushing.type": [("hybrid", "must be hybrid_summary, drop, simple_fifo, lru"), ("dropp", "did you mean 'drop'")],
    "flushing.summarize_threshold": [
        (0, "more than 0"),
        (1.1, "at most 1"),
        ("80%", "must be a number"),
        (True, "must be a number"),
        (float("nan"), "must be"),
    ],
    "flushing.target_ratio": [
        (-0.1, "at least 0"),
        (1, "less than 1"),
        (0.8, "0.8 is not below 0.8"),
        (0.9, "0.9 is not below 0.8"),
    ],
    "flushing.summary_tokens": [
        (0, "at least 1"),
        (15, "need 16 at least"),
        (1000, "leaves no room for messages"),
        ("a", "whole number"),
    ],
    "flushing.summarize_oldest_percent": [(-0.1, "at least 0"), (40, "at most 1"), ("40%", "must be a number")],
    "flushing.keep_first": [(-1, "at least 0"), (898, "does not fit"), (1.5, "whole number")],
    "flushing.keep_last": [(-1, "at least 0"), (900, "does not fit"), (1_000_000, "at most 100000")],
    "flushing.summarizer.type": [("lm", "did you mean 'llm'"), ("model", "must be rule_based or llm")],
    "flushing.summarizer.model": [
        ("gpt-4o-mini", "must be openai:<model> or anthropic:<model>"),
        ("mistral:large", "is openai:<model> with endpoint"),
        ("openai:", "must be openai:<model>"),
        (4, "must be text"),
        (None, "is missing"),
    ],
    "flushing.summarizer.prompt": [("", "at least 1"), ("x" * 8001, "at most 8000")],
    "flushing.summarizer.endpoint": [
        ("llm.example.com", "must be a URL"),
        ("ftp://llm.example.com", "must be a URL"),
        ("http://:8080/v1", "must be a URL"),
        ("http://host:port/v1", "must be a URL"),
        ("https://user:word@llm.example.com", "no user, password or query"),
        ("https://llm.example.com/v1?key=secret", "no user, password or query"),
    ],
    "flushing.summarizer.api_key_env": [
        ("sk-proj-abc", "the name of an environment variable"),
        ("", "the name of an environment variable"),
    ],
    "flushing.summarizer.max_input_tokens": [
        (255, "at least 256"),
        (1.5, "whole number"),
        (96_001, "in the 128000 tokens of openai:gpt-4o-mini: write at most 96000"),
    ],
    "flushing.summarizer.timeout": [("999ms", "from 1s to 5m"), ("6m", "from 1s to 5m"), (30, "without a unit")],
    "flushing.summarizer.fallback": [("rules", "must be rule_based or none"), (False, "must be rule_based or none")],
    "flushing.summarizer.daily_token_budget": [(0, "at least 1"), (15_999, "must be at least max_input_tokens")],
    "oversize": [("drop", "must be reject or truncate"), ("trunc", "did you mean 'truncate'")],
    "open_group_ttl": [(3600, "number without a unit"), ("0s", "longer than zero"), ("soon", "not a duration")],
    "overflow.max_tokens": [(1999, "at least twice max_tokens"), (0, "at least 1")],
    "overflow.max_messages": [(199, "at least twice max_messages"), (0, "at least 1")],
    "persistence.type": [("memory", "must be redis or in_memory"), ("reddis", "did you mean 'redis'")],
    "persistence.ttl": [
        (0, "number without a unit"),
        ("", "not a duration"),
        (72, "number"),
        ("0h", "longer than zero"),
    ],
    "persistence.refresh_on_read": [("yes", "must be true or false")],
    "persistence.circuit_breaker.enabled": [("on", "must be true or false"), (1, "must be true or false")],
    "persistence.circuit_breaker.timeout": [("9ms", "from 10ms to 1m"), (150, "number without a unit")],
    "persistence.circuit_breaker.max_failures": [(0, "at least 1"), (1001, "at most 1000"), (1.5, "whole number")],
    "persistence.circuit_breaker.reset_timeout": [("99ms", "from 100ms to 1h"), ("2h", "from 100ms to 1h")],
    "privacy_policy.redact_patterns.0": [
        ([r"(?<=a)b"], "no regular expression of RE2 (invalid perl operator)"),
        ([r"(a)\1"], "look-around and back-references do not exist there"),
        (["("], "no regular expression of RE2"),
        ([""], "at least 1 characters"),
        (["x" * 2001], "at most 2000 characters"),
        ([r"[\p{L}\p{N}]{1,60}@"], "too large once its repetitions are written out"),
        ([5], "must be text; put it in quotes"),
    ],
    "privacy_policy.redact_entities.0": [(["emial"], "did you mean 'email'"), (["name"], "must be email, phone,")],
    "privacy_policy.non_persistable_message_types.0": [(["tools"], "did you mean 'tool'"), (["function"], "must be")],
    "privacy_policy.non_persistable_message_types": [
        (["system", "user", "assistant", "tool"], "nothing would ever be stored"),
        (["assistant"], "must name tool too"),
    ],
    "privacy_policy.default_redaction_string": [
        ("", "at least 1 characters"),
        ("x" * 101, "at most 100 characters"),
        (" x", "without space around it"),
        ("a\nb", "printable"),
        ("[removed]", "has no effect without redact_patterns or redact_entities"),
    ],
    "locking.flush_ttl": [("999ms", "from 1s to 1h"), ("61m", "from 1s to 1h"), (30, "number without a unit")],
    "scope": [("usr", "did you mean 'user'"), ("global", "must be temp, session, user, app or project")],
    "default_key_template": [
        ("{{ 7*7 }}", "is not allowed"),
        ("{{ .workflow.input.x }}", "is a template of Go"),
        ("", "can never give a valid key"),
        (5, "must be text"),
    ],
    "on_workflow_end": [("clean", "did you mean 'clear'"), ("delete", "must be keep, flush or clear")],
}


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


def test_every_field_of_the_model_is_tested_here() -> None:
    fields = set(paths_of(MemoryResource))
    assert set(ACCEPTED) | {"privacy_policy.default_redaction_string"} == fields  # which needs another field beside it
    assert {path.removesuffix(".0") for path in REFUSED} == fields
    assert set(CHANGES) | NO_LIMIT == fields


@pytest.mark.parametrize(("path", "value"), [(path, value) for path, values in ACCEPTED.items() for value in values])
def test_a_right_value_is_accepted(path: str, value: object) -> None:
    data = with_field(base_of(path), path, value)
    assert Registry.from_resources([data]).memories()


@pytest.mark.parametrize(
    ("path", "value", "problem"),
    [(path, value, problem) for path, cases in REFUSED.items() for value, problem in cases],
)
def test_a_wrong_value_is_refused_by_the_name_of_its_field(path: str, value: object, problem: str) -> None:
    assert problem in problem_of(base_of(path), path, value)


NO_LIMIT = {
    "eviction_policy.priority_keywords",
    "flushing.summarizer.type",
    "flushing.summarizer.model",
    "flushing.summarizer.prompt",
    "flushing.summarizer.endpoint",
    "flushing.summarizer.api_key_env",
    "flushing.summarizer.max_input_tokens",
    "flushing.summarizer.timeout",
    "flushing.summarizer.fallback",
    "flushing.summarizer.daily_token_budget",
    "privacy_policy.redact_patterns",
    "privacy_policy.redact_entities",
    "privacy_policy.non_persistable_message_types",
    "privacy_policy.default_redaction_string",
    "persistence.circuit_breaker.enabled",
    "persistence.circuit_breaker.timeout",
    "persistence.circuit_breaker.max_failures",
    "persistence.circuit_breaker.reset_timeout",
    "resource",
    "id",
    "description",
    "version",
    "oversize",
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
    "open_group_ttl": (BY_TOKENS, "5m", {"open_group_ms": 300_000}),
    "overflow.max_tokens": (BY_TOKENS, 2000, {"overflow_tokens": 2000}),
    "overflow.max_messages": (BY_MESSAGES, 300, {"overflow_messages": 300}),
    "persistence.ttl": (BY_TOKENS, "7d", {"ttl_ms": 604_800_000}),
    "persistence.refresh_on_read": (BY_TOKENS, True, {"refresh_on_read": True}),
    "locking.flush_ttl": (BY_TOKENS, "20s", {"lease_ms": 20_000}),
    "scope": (BY_TOKENS, "user", {"ttl_ms": None}),
}


@pytest.mark.parametrize("path", CHANGES)
def test_a_field_changes_its_limits_and_no_others(path: str) -> None:
    base, value, expected = CHANGES[path]
    before = Registry.from_resources([base]).memories()[0].limits()
    after = Registry.from_resources([with_field(base, path, value)]).memories()[0].limits()
    changed = {name: getattr(after, name) for name in after.__slots__ if getattr(after, name) != getattr(before, name)}
    assert changed == expected


def test_the_defaults_of_a_token_budget() -> None:
    resource = declared(BY_TOKENS)
    limits = resource.limits()
    assert (limits.max_tokens, limits.max_messages, limits.summarize) == (1000, None, True)
    assert (limits.summary_tokens, limits.room_tokens, limits.overflow_tokens) == (100, 900, 4000)
    assert (limits.due_tokens, limits.target_tokens) == (720, 450)
    assert (limits.due_messages, limits.target_messages, limits.overflow_messages) == (None, None, None)
    assert (limits.keep_first, limits.keep_last, limits.policy) == (0, 2, "fifo")
    assert (limits.open_group_ms, limits.ttl_ms, limits.lease_ms) == (3_600_000, 86_400_000, 30_000)
    assert (resource.oversize, resource.persistence.type, resource.scope) == ("reject", "redis", "session")


def test_the_defaults_of_a_message_budget() -> None:
    limits = declared(BY_MESSAGES).limits()
    assert (limits.max_tokens, limits.max_messages, limits.room_messages) == (None, 100, 99)
    assert (limits.summary_tokens, limits.overflow_tokens, limits.overflow_messages) == (350, None, 400)
    assert (limits.due_messages, limits.target_messages) == (80, 49)


def test_every_limit_is_hard_whatever_the_type_watches() -> None:
    limits = declared(BY_TOKENS, max_messages=10).limits()
    assert (limits.max_tokens, limits.max_messages, limits.due_messages) == (1000, 10, None)


def test_shares_are_taken_of_the_number_as_written() -> None:
    # 0.55 * 100 is 55.00000000000001 in floating point, and its ceiling would be 56.
    resource = declared(BY_MESSAGES, max_messages=101, flushing__summarize_threshold=0.55)
    assert resource.limits().due_messages == 55


@pytest.mark.parametrize(
    ("scope", "ttl", "action", "allowed"),
    [
        ("temp", timedelta(hours=1), "clear", {"clear"}),
        ("session", timedelta(hours=24), "keep", {"keep", "flush", "clear"}),
        ("user", None, "keep", {"keep", "flush"}),
        ("app", None, "keep", {"keep", "flush"}),
        ("project", None, "keep", {"keep", "flush"}),
    ],
)
def test_the_scope_decides_lifetime_and_end(scope: str, ttl: timedelta | None, action: str, allowed: set[str]) -> None:
    resource = declared(BY_TOKENS, scope=scope)
    assert (resource.ttl, resource.workflow_end_action) == (ttl, action)
    for choice in sorted(allowed):
        assert declared(BY_TOKENS, scope=scope, on_workflow_end=choice).workflow_end_action == choice
    for choice in sorted({"keep", "flush", "clear"} - allowed):
        data = with_field(BY_TOKENS, "scope", scope)
        assert f"where scope is {scope}" in problem_of(data, "on_workflow_end", choice)


def test_null_is_for_ever_also_where_the_scope_has_a_lifetime() -> None:
    resource = declared(BY_TOKENS, persistence__ttl=None)
    assert (resource.scope, resource.ttl, resource.limits().ttl_ms) == ("session", None, None)


@pytest.mark.parametrize(
    ("kind", "given", "missing"),
    [
        ("token_based", {"max_messages": 10}, "max_tokens"),
        ("message_count_based", {"max_tokens": 10}, "max_messages"),
        ("buffer", {}, "max_tokens"),
    ],
)
def test_a_type_needs_the_budget_that_it_watches(kind: str, given: dict[str, int], missing: str) -> None:
    with pytest.raises(InvalidDeclarations, match=rf"{missing}: is missing"):
        Registry.from_resources([{"resource": "memory", "id": "desk", "type": kind, **given}])


@pytest.mark.parametrize("given", [{"max_tokens": 200}, {"max_messages": 100}])
def test_a_buffer_needs_one_budget(given: dict[str, int]) -> None:
    limits = declared({"resource": "memory", "id": "desk", "type": "buffer", **given}).limits()
    assert (limits.due_tokens is None) == ("max_tokens" not in given)
    assert (limits.due_messages is None) == ("max_messages" not in given)


def test_what_would_have_no_effect_is_refused() -> None:
    drop = with_field(BY_TOKENS, "flushing.type", "drop")
    assert "no effect where flushing.type is drop" in problem_of(drop, "flushing.summary_tokens", 50)
    assert "no effect where flushing.type is drop" in problem_of(drop, "overflow.max_tokens", 5000)
    assert "no effect where flushing.type is drop" in problem_of(drop, "flushing.summarizer", {"type": "rule_based"})
    assert "no effect where type is rule_based" in problem_of(BY_TOKENS, "flushing.summarizer.fallback", "none")
    assert "write overflow.max_tokens" in problem_of(BY_TOKENS, "overflow.max_messages", 5000)
    assert "write overflow.max_messages" in problem_of(BY_MESSAGES, "overflow.max_tokens", 5000)


@pytest.mark.parametrize(
    ("short", "policy"),
    [
        ("simple_fifo", "fifo"),
        *((name, name) for name in ("lru", "lfu", "priority", "token_aware_lru")),
    ],
)
def test_a_short_form_is_drop_with_its_policy(short: str, policy: str) -> None:
    resource = declared(BY_TOKENS, flushing__type=short)
    long = declared(BY_TOKENS, flushing__type="drop", eviction_policy__type=policy)
    assert (resource.policy, resource.flushing.strategy) == (policy, "drop")
    assert resource.limits() == long.limits()
    assert declared(BY_TOKENS, flushing__type=short, eviction_policy__type=policy).limits() == long.limits()
    other = "fifo" if policy != "fifo" else "lru"
    named = with_field(BY_TOKENS, "eviction_policy.type", other)
    assert problem_of(named, "flushing.type", short) == (
        f"{short} is short for drop with the policy {policy}, but eviction_policy.type is {other}: "
        "write drop, or leave eviction_policy.type out"
    )
    assert f"no effect where flushing.type is {short}" in problem_of(
        with_field(BY_TOKENS, "flushing.type", short), "flushing.summary_tokens", 50
    )


def test_keywords_go_with_the_short_form_of_their_policy() -> None:
    keywords = with_field(BY_TOKENS, "eviction_policy.priority_keywords", ["visa"])
    resource = declared(keywords, flushing__type="priority")
    assert resource.keywords is not None
    with pytest.raises(InvalidDeclarations, match=r"no effect where flushing\.type is lru"):
        declared(keywords, flushing__type="lru")


def test_shares_divide_the_budget_in_the_order_of_the_view() -> None:
    limits = declared(DIVIDED, token_allocation__user_defined={"z": 0.03, "a": 0.02}).limits()
    assert [(share.section, share.tokens) for share in limits.shares] == [
        ("system", 200),
        ("long_term", 250),
        ("z", 30),
        ("a", 20),
        ("short_term", 500),
    ]
    assert (limits.due_tokens, limits.target_tokens, limits.summary_tokens) == (None, None, 100)
    assert [(share.due_tokens, share.target_tokens) for share in limits.shares[1:3]] == [(None, None), (24, 15)]
    by_messages = declared(DIVIDED, type="message_count_based", max_messages=50).limits()
    assert {(share.due_tokens, share.target_tokens) for share in by_messages.shares} == {(None, None)}
    assert by_messages.due_messages is not None


def test_thirds_are_a_whole() -> None:
    thirds = {"short_term": 0.3333, "long_term": 0.3333, "system": 0.3333}
    shares = declared(BY_TOKENS, token_allocation=thirds, max_tokens=999).limits().shares
    assert [share.tokens for share in shares] == [333, 333, 333]


@pytest.mark.parametrize(
    ("path", "value", "where", "problem"),
    [
        ("token_allocation.short_term", 0.502, "token_allocation", "must add up to 1.0"),
        ("token_allocation.user_defined", {}, "token_allocation", "these shares are 0.95"),
        ("token_allocation.user_defined", {"system": 0.05}, "token_allocation.user_defined.system", "built-in section"),
        (
            "token_allocation.user_defined",
            {"tiny": 0.0001, "b": 0.05},
            "token_allocation.user_defined.tiny",
            "no token",
        ),
        ("token_allocation.user_defined", {"b": 0.05, "c": 0}, "token_allocation.user_defined.c", "more than 0"),
        ("flushing.summary_tokens", 250, "flushing.summary_tokens", "250 is not below the 250 tokens of long_term"),
        ("flushing.keep_last", 500, "flushing.keep_last", "section short_term holds 500 tokens"),
        ("flushing.type", "drop", "token_allocation.long_term", "no effect where flushing.type is drop"),
    ],
)
def test_what_shares_cannot_be_is_refused(path: str, value: object, where: str, problem: str) -> None:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([with_field(DIVIDED, path, value)])
    (fault,) = caught.value.faults
    assert (fault.path, problem in fault.problem) == (where, True), fault


def test_shares_need_a_budget_and_summaries_need_a_share() -> None:
    assert "and there is none; write max_tokens" in str(
        _refusal({**BY_MESSAGES, "token_allocation": {"short_term": 1.0}})
    )
    assert "gives summaries no room" in str(_refusal({**BY_TOKENS, "token_allocation": {"short_term": 1.0}}))
    assert (
        declared({**BY_TOKENS, "flushing": {"type": "drop"}, "token_allocation": {"short_term": 1.0}}).limits().shares
    )
    few = {**BY_TOKENS, "token_allocation": {"short_term": 0.98, "long_term": 0.02}}
    assert "token_allocation.long_term: leaves 10 tokens for summaries" in str(_refusal(few))


def _refusal(data: dict[str, Any]) -> InvalidDeclarations:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([data])
    return caught.value


def test_keywords_need_the_policy_that_looks_for_them() -> None:
    problem = problem_of(BY_TOKENS, "eviction_policy.priority_keywords", ["visa"])
    assert problem == "has no effect where eviction_policy.type is fifo; write type: priority, or remove it"
    assert declared(BY_TOKENS).keywords is None


@pytest.mark.parametrize("keyword", ["", " ", "?!", "x" * 101])
def test_a_keyword_must_be_one_that_can_be_found(keyword: str) -> None:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([with_field(BY_PRIORITY, "eviction_policy.priority_keywords", ["visa", keyword])])
    (fault,) = caught.value.faults
    assert fault.path == "eviction_policy.priority_keywords.1"
    assert fault.problem == "must have a letter or a digit, and at most 100 characters"


def test_a_summary_must_leave_room() -> None:
    assert "at least 2" in problem_of(BY_MESSAGES, "max_messages", 1)
    assert "leaves no room" in problem_of(BY_TOKENS, "max_tokens", 1)
    assert "need 16 at least: raise it" in problem_of(BY_TOKENS, "max_tokens", 159)
    assert "does not fit" in problem_of(with_field(BY_MESSAGES, "max_messages", 3), "flushing.keep_last", 2)
    drop = with_field(BY_MESSAGES, "flushing", {"type": "drop", "keep_last": 0})
    assert declared(drop, max_messages=1).limits().room_messages == 1


def test_problems_between_fields_are_reported_together() -> None:
    data = with_field(with_field(BY_TOKENS, "flushing.target_ratio", 0.9), "overflow.max_tokens", 10)
    data |= {"scope": "temp", "on_workflow_end": "keep"}
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources([data])
    paths = {fault.path for fault in caught.value.faults}
    assert paths == {"flushing.target_ratio", "overflow.max_tokens", "on_workflow_end"}


def test_a_template_is_ready_to_be_rendered() -> None:
    resource = declared(BY_TOKENS, default_key_template="user:{{ input.id }}")
    template = resource.key_template
    assert template is not None
    assert template.render({"input": {"id": 7}}, "desk") == "user:7"
    assert resource.key_template is template
    assert declared(BY_TOKENS).key_template is None


def test_a_declaration_does_not_change() -> None:
    resource = declared(BY_TOKENS)
    with pytest.raises(ValueError, match="frozen"):
        setattr(resource, "max_tokens", 5)  # noqa: B010 - a checker would refuse the assignment itself
    assert resource.limits() is resource.limits()


def test_durations_may_be_given_in_code() -> None:
    resource = MemoryResource(id="desk", max_tokens=200, open_group_ttl=timedelta(minutes=3))
    assert resource.limits().open_group_ms == 180_000
