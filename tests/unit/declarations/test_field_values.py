"""Every field of a memory resource: what it accepts, and what it refuses."""

from __future__ import annotations

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from tests.unit.declarations.resource_documents import (
    base_of,
    paths_of,
    problem_of,
    with_field,
)

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
    "flushing.summarizer.stream": [False, True],
    "flushing.summarizer.api_key_env": ["OPENAI_API_KEY", "_key2"],
    "flushing.summarizer.max_input_tokens": [256, 96_000],
    "flushing.summarizer.timeout": ["1s", "5m"],
    "flushing.summarizer.fallback": ["rule_based", "none"],
    "flushing.summarizer.daily_token_budget": [40_812, 1_000_000_000],
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
    "privacy_policy.require_encryption": [True, False],
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
    "flushing.summarizer.stream": [("maybe", "must be true or false")],
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
    "flushing.summarizer.daily_token_budget": [
        (0, "at least 1"),
        (17_011, "17011 tokens do not pay for one full request, which may cost 17012"),
    ],
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
    "privacy_policy.require_encryption": [("yes", "must be true or false"), (["k1"], "must be true or false")],
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


def test_every_field_of_the_model_is_tested_here() -> None:
    fields = set(paths_of(MemoryResource))
    assert set(ACCEPTED) | {"privacy_policy.default_redaction_string"} == fields  # which needs another field beside it
    assert {path.removesuffix(".0") for path in REFUSED} == fields


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
