"""Fields of a memory resource together: defaults that depend on others, and rules between them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations
from tests.unit.declarations.resource_documents import (
    BY_MESSAGES,
    BY_PRIORITY,
    BY_TOKENS,
    DIVIDED,
    declared,
    problem_of,
    with_field,
)


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


@pytest.mark.parametrize("scope", ["user", "app", "project"])
def test_workflows_own_what_outlives_them_all_only_where_their_end_does_something(scope: str) -> None:
    assert not declared(BY_TOKENS, scope=scope).has_owners
    assert not declared(BY_TOKENS, scope=scope, persistence__ttl="30d").has_owners
    assert declared(BY_TOKENS, scope=scope, on_workflow_end="flush").has_owners


@pytest.mark.parametrize(("scope", "ttl"), [("temp", "2h"), ("session", None), ("session", "30d")])
def test_workflows_own_what_might_be_cleared_after_them_under_another_declaration(scope: str, ttl: str | None) -> None:
    assert declared(BY_TOKENS, scope=scope, persistence__ttl=ttl).has_owners


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


def test_three_rounded_thirds_count_as_the_whole_budget() -> None:
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


@pytest.mark.parametrize("keyword", ["", " ", "?!", "\u26a0\ufe0f", "\u20e3", "\u26a0\u0301", "__", "x" * 101])
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


def test_what_is_kept_and_does_not_fit_is_told_with_the_default_that_nobody_wrote() -> None:
    kept = "flushing.keep_last: does not fit: keep_first and keep_last keep 2 groups from being flushed, and the memory"
    by_default = str(_refusal(with_field(BY_MESSAGES, "max_messages", 3)))
    assert by_default.endswith(f"{kept} holds 2 messages beside its summary; keep_last is 2 where nothing is written")
    written = with_field(with_field(BY_MESSAGES, "max_messages", 3), "flushing.keep_last", 2)
    assert str(_refusal(written)).endswith(f"{kept} holds 2 messages beside its summary")
    drop = with_field(with_field(BY_MESSAGES, "max_messages", 2), "flushing", {"type": "drop", "keep_last": 2})
    assert str(_refusal(drop)).endswith(f"{kept} holds 2 messages")


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
