"""No field is read and then forgotten: each has a test that shows what it does to a memory, and it is named here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final, get_args

import pytest
from pydantic import BaseModel

from durable_memory.memory.declarations.agent import AgentResource, DeclaredMemory
from durable_memory.memory.declarations.resource import MemoryResource

ROOT: Final = Path(__file__).parents[3]

_LIMITS = "tests/unit/declarations/test_field_limits.py"
_RULES = "tests/unit/declarations/test_rules_between_fields.py"
_VALUES = "tests/unit/declarations/test_field_values.py"
_AGENTS = "tests/unit/declarations/test_agent.py"
_LIST = "tests/unit/cli/test_declarations.py"
_EVICTION = "durable_memory/testing/contracts/eviction.py"
_SELECTION = "durable_memory/testing/contracts/flush_selecting.py"
_LLM = "tests/integration/llm/"
_CALIBRATION = "tests/integration/tokens/test_calibration.py"
_SECTIONS = "tests/integration/cases/test_sections.py"
_TOKENS = "tests/integration/tokens/test_token_providers.py"
_BREAKER = "tests/unit/stores/test_breaker.py"
_PRIVACY = "tests/integration/privacy/test_redaction.py"

MEMORY: Final = {
    "resource": (_VALUES, "test_a_wrong_value_is_refused_by_the_name_of_its_field"),
    "id": (
        "tests/integration/cases/test_keys.py",
        "test_one_key_in_two_resources_projects_and_prefixes_is_four_memories",
    ),
    "description": (_LIST, "test_resources_shows_what_is_declared"),
    "version": (_LIST, "test_resources_shows_what_is_declared"),
    "type": (_RULES, "test_every_limit_is_hard_whatever_the_type_watches"),
    "max_tokens": (_EVICTION, "test_no_more_is_evicted_than_the_budget_needs"),
    "max_messages": (_EVICTION, "test_the_number_of_messages_is_a_budget_too"),
    "max_context_ratio": (_TOKENS, "test_a_share_of_the_window_bounds_the_view_and_the_smaller_limit_wins"),
    "token_provider.provider": (_TOKENS, "test_a_message_has_the_tokens_of_its_model"),
    "token_provider.model": (_TOKENS, "test_a_message_has_the_tokens_of_its_model"),
    "token_provider.api_key_env": (_CALIBRATION, "test_one_request_corrects_the_counts_that_follow"),
    "token_provider.endpoint": (_CALIBRATION, "test_one_request_corrects_the_counts_that_follow"),
    "token_provider.fallback": (_TOKENS, "test_bytes_are_counted_without_a_tokenizer"),
    "token_provider.settings.context_window": (
        _TOKENS,
        "test_a_share_of_the_window_bounds_the_view_and_the_smaller_limit_wins",
    ),
    "token_provider.settings.encoding": (_TOKENS, "test_a_message_has_the_tokens_of_its_model"),
    "token_provider.settings.estimate_factor": (_TOKENS, "test_a_message_has_the_tokens_of_its_model"),
    "token_allocation.short_term": (_SECTIONS, "test_a_long_conversation_pushes_no_booking_out"),
    "token_allocation.long_term": (_LIMITS, "test_a_field_changes_its_limits_and_no_others"),
    "token_allocation.system": (_SECTIONS, "test_what_is_too_large_for_a_share_is_refused_with_both_numbers"),
    "token_allocation.user_defined": (_SECTIONS, "test_a_message_stands_in_the_section_that_it_names"),
    "eviction_policy.type": (
        "tests/integration/policies/test_what_stays.py",
        "test_what_stays_is_what_the_definition_says",
    ),
    "eviction_policy.priority_keywords": (
        "tests/integration/policies/test_what_stays.py",
        "test_what_stays_is_what_the_definition_says",
    ),
    "flushing.type": (
        "tests/integration/policies/test_short_forms.py",
        "test_a_flush_drops_by_the_policy_that_the_short_form_names",
    ),
    "flushing.summarize_threshold": (_SELECTION, "test_at_the_threshold_the_oldest_go_until_the_target"),
    "flushing.target_ratio": (_SELECTION, "test_at_the_threshold_the_oldest_go_until_the_target"),
    "flushing.summary_tokens": (
        "tests/protocol/test_flush_in_progress.py",
        "test_r9_a_batch_never_allows_a_summary_larger_than_its_room",
    ),
    "flushing.summarize_oldest_percent": (_SELECTION, "test_at_least_the_declared_share_of_the_messages_is_taken"),
    "flushing.keep_first": (_SELECTION, "test_both_ends_of_the_conversation_are_kept"),
    "flushing.keep_last": (_SELECTION, "test_both_ends_of_the_conversation_are_kept"),
    "flushing.summarizer.type": (
        f"{_LLM}test_whose_summariser.py",
        "test_each_resource_has_the_summariser_that_it_declares",
    ),
    "flushing.summarizer.model": (
        f"{_LLM}test_whose_summariser.py",
        "test_each_resource_has_the_summariser_that_it_declares",
    ),
    "flushing.summarizer.prompt": (
        f"{_LLM}test_what_a_model_answers.py",
        "test_a_prompt_of_ones_own_takes_the_place_of_the_task_and_of_no_rule",
    ),
    "flushing.summarizer.endpoint": (
        f"{_LLM}test_what_a_model_answers.py",
        "test_an_answer_that_is_whole_and_fits_is_the_summary",
    ),
    "flushing.summarizer.stream": (
        f"{_LLM}test_whole_answers.py",
        "test_a_whole_answer_has_its_text_its_tokens_and_its_price",
    ),
    "flushing.summarizer.api_key_env": (
        f"{_LLM}test_whose_summariser.py",
        "test_a_worker_that_lacks_the_extra_or_the_key_says_so_at_its_start",
    ),
    "flushing.summarizer.max_input_tokens": (
        f"{_LLM}test_what_a_model_answers.py",
        "test_more_than_one_request_may_hold_is_summarised_in_parts",
    ),
    "flushing.summarizer.timeout": (
        f"{_LLM}test_what_a_model_answers.py",
        "test_a_stream_that_trickles_is_given_up_at_its_timeout",
    ),
    "flushing.summarizer.fallback": (
        f"{_LLM}test_durable_summaries.py",
        "test_without_a_fallback_the_messages_wait_and_health_says_why",
    ),
    "flushing.summarizer.daily_token_budget": (
        f"{_LLM}test_daily_budget.py",
        "test_a_spent_budget_asks_nobody_and_the_rules_write",
    ),
    "oversize": (
        "tests/integration/tokens/test_truncation.py",
        "test_a_text_is_cut_between_characters_to_nearly_its_room",
    ),
    "open_group_ttl": (
        "tests/integration/janitor/test_upkeep.py",
        "test_an_abandoned_group_is_closed_without_a_step_of_its_own",
    ),
    "overflow.max_tokens": (_EVICTION, "test_a_full_overflow_refuses_for_now_and_passes_after_a_flush"),
    "overflow.max_messages": (_EVICTION, "test_an_overflow_full_of_messages_refuses_too"),
    "persistence.type": (
        "tests/integration/worker/test_failed_starts.py",
        "test_a_memory_that_would_end_with_the_process",
    ),
    "persistence.ttl": (
        "tests/integration/redis/test_expiry.py",
        "test_a_memory_whose_declared_life_changes_follows_it",
    ),
    "persistence.refresh_on_read": (
        "tests/integration/cases/test_lifetimes.py",
        "test_reads_keep_a_memory_alive_where_the_resource_says_so_and_looking_after_it_does_not",
    ),
    "persistence.circuit_breaker.enabled": (
        "tests/integration/redis/test_circuit_breaker.py",
        "test_another_resource_on_the_same_store_has_its_own_fate",
    ),
    "persistence.circuit_breaker.timeout": (
        _BREAKER,
        "test_a_call_without_an_answer_in_time_is_a_failure_that_names_the_timeout",
    ),
    "persistence.circuit_breaker.max_failures": (_BREAKER, "test_so_many_failures_in_a_row_open_it_and_no_fewer"),
    "persistence.circuit_breaker.reset_timeout": (
        _BREAKER,
        "test_after_the_reset_time_one_call_tries_and_its_answer_closes_it",
    ),
    "privacy_policy.redact_patterns": (_PRIVACY, "test_of_1000_varied_messages_no_secret_is_stored"),
    "privacy_policy.redact_entities": (_PRIVACY, "test_of_1000_varied_messages_no_secret_is_stored"),
    "privacy_policy.non_persistable_message_types": (
        _PRIVACY,
        "test_kinds_that_are_not_kept_are_counted_and_open_no_groups",
    ),
    "privacy_policy.default_redaction_string": (_PRIVACY, "test_counting_and_the_digest_are_of_what_is_stored"),
    "privacy_policy.require_encryption": (
        "tests/integration/privacy/test_required_encryption.py",
        "test_no_client_connects_without_keys_and_redis_is_not_even_asked",
    ),
    "locking.flush_ttl": (
        "durable_memory/testing/contracts/flush_leasing.py",
        "test_a_lease_that_ended_lets_another_in_and_its_batch_is_stale",
    ),
    "scope": (_RULES, "test_the_scope_decides_lifetime_and_end"),
    "agents_only": ("tests/integration/agents/test_modes.py", "test_a_memory_for_agents_only_is_closed_to_programs"),
    "default_key_template": (
        "tests/unit/declarations/test_resolution.py",
        "test_a_reference_by_id_alone_uses_the_default_template",
    ),
    "on_workflow_end": (
        "tests/integration/temporal/test_workflow_ends.py",
        "test_the_end_of_a_workflow_does_what_the_resource_declares",
    ),
}

AGENT: Final = {
    "resource": (_AGENTS, "test_an_agent_may_have_the_id_of_a_memory"),
    "id": ("tests/integration/agents/test_modes.py", "test_a_reference_of_one_agent_opens_nothing_for_another"),
    "description": (_LIST, "test_valid_declarations_are_named"),
    "memory": (_AGENTS, "test_the_first_tier_is_one_memory_which_may_have_a_key"),
    "memories": (
        "tests/integration/agents/test_context.py",
        "test_each_memory_stands_under_its_label_in_the_order_of_the_declaration",
    ),
    "memory_key": (
        "tests/unit/declarations/test_resolution.py",
        "test_the_agents_template_goes_before_the_resources",
    ),
}

USE: Final = {
    "id": ("tests/unit/declarations/test_access.py", "test_an_agent_reaches_what_it_declares_and_nothing_else"),
    "key": ("tests/unit/declarations/test_access.py", "test_each_tier_makes_its_key_and_its_mode"),
    "mode": ("tests/integration/agents/test_modes.py", "test_a_handle_does_what_its_mode_allows"),
    "inject.max_tokens": (
        "tests/integration/agents/test_context.py",
        "test_a_share_caps_its_memory_and_leaves_the_rest_to_others",
    ),
    "inject.label": (
        "tests/integration/agents/test_context.py",
        "test_each_memory_stands_under_its_label_in_the_order_of_the_declaration",
    ),
    "record_turns": (
        "tests/integration/agents/test_record_turn.py",
        "test_a_memory_without_turns_takes_what_calls_on_it_append_and_stands_in_the_context",
    ),
}


def fields_of(model: type[BaseModel], above: str = "") -> Iterator[str]:
    for name, info in model.model_fields.items():
        options = (info.annotation, *get_args(info.annotation))
        parts = [option for option in options if isinstance(option, type) and issubclass(option, BaseModel)]
        for part in parts:
            yield from fields_of(part, f"{above}{name}.")
        if not parts:
            yield f"{above}{name}"


@pytest.mark.parametrize(("model", "shown"), [(MemoryResource, MEMORY), (AgentResource, AGENT), (DeclaredMemory, USE)])
def test_every_field_has_a_test_of_its_effect(model: type[BaseModel], shown: dict[str, tuple[str, str]]) -> None:
    assert set(shown) == set(fields_of(model))


@pytest.mark.parametrize(("file", "name"), sorted({*MEMORY.values(), *AGENT.values(), *USE.values()}))
def test_the_tests_named_here_exist(file: str, name: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tests = {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))}
    assert name in tests
