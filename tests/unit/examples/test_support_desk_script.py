"""The demo's case: it is long and varied enough to show what a memory does, and its facts can be checked."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message, as_messages

if TYPE_CHECKING:
    from script import Conversation, Turn

SCRIPT = Path(__file__).parents[3] / "examples" / "support_desk" / "script.py"
SMALLEST_BUDGET = 3_000
"""Tokens: what the demo's memory holds at least. Facts must be older than this when they are needed."""


@pytest.fixture(scope="module")
def conversation() -> Iterator[Conversation]:
    # Examples are no package: the file is loaded from its place, as the demo does by standing beside it.
    spec = importlib.util.spec_from_file_location("support_desk_script", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by its name
    spec.loader.exec_module(module)
    loaded: Conversation = module.load_conversation()
    yield loaded
    del sys.modules[spec.name]


def spoken(messages: Sequence[Message]) -> str:
    """All words of the messages that a model would see."""
    parts = [text for message in messages for text in (message.text, *(call.arguments for call in message.tool_calls))]
    return "\n".join(parts)


async def tokens_of(messages: Sequence[Message]) -> int:
    counts = await TiktokenCounter().count(messages)
    assert not any(count.estimated for count in counts)
    return sum(count.tokens for count in counts)


def test_the_case_is_long_enough_and_starts_with_the_only_system_prompt(conversation: Conversation) -> None:
    roles = [message.role for message in conversation.messages]
    assert 80 <= len(roles) <= 120
    assert roles[0] == "system"
    assert set(roles[1:]) == {"user", "assistant", "tool"}


async def test_the_case_overflows_its_budget_several_times(conversation: Conversation) -> None:
    assert 9_000 <= await tokens_of(conversation.messages) <= 14_000


def test_a_memory_takes_every_message_as_it_is(conversation: Conversation) -> None:
    assert as_messages(conversation.messages) == conversation.messages
    for message in conversation.messages:
        assert Message.from_dict(message.to_dict()) == message


def test_every_tool_call_has_its_result_in_order_before_anybody_speaks_again(conversation: Conversation) -> None:
    seen: set[str] = set()
    for turn in conversation.turns:
        waiting: list[str] = []
        for message in turn.messages:
            if message.role == "tool":
                assert message.tool_call_id == waiting.pop(0)
                continue
            assert waiting == []
            waiting = [call.id for call in message.tool_calls]
            assert seen.isdisjoint(waiting)
            seen.update(waiting)
        assert waiting == []


def test_arguments_and_results_of_tools_are_json_objects(conversation: Conversation) -> None:
    for message in conversation.messages:
        texts = [call.arguments for call in message.tool_calls] + ([message.text] if message.role == "tool" else [])
        assert all(isinstance(json.loads(text), dict) for text in texts)


def test_parallel_tool_calls_of_two_and_of_three_appear(conversation: Conversation) -> None:
    sizes = [len(message.tool_calls) for message in conversation.messages]
    assert sizes.count(2) >= 10
    assert sizes.count(3) >= 2


def test_every_turn_ends_with_an_answer_of_its_agent(conversation: Conversation) -> None:
    for turn in conversation.turns:
        assert turn.incoming.role == "user"
        assert turn.recorded[-1].role == "assistant"
        assert turn.recorded[-1].text
        assert {message.agent for message in turn.recorded if message.role == "assistant"} == {turn.agent}


def test_two_workflow_types_take_turns_in_every_session(conversation: Conversation) -> None:
    stretches = [[turns[0].workflow for turns in session.stretches()] for session in conversation.sessions]
    assert stretches == [
        ["TriageWorkflow", "BillingWorkflow"],
        ["TriageWorkflow", "BillingWorkflow"],
        ["TriageWorkflow", "BillingWorkflow", "TriageWorkflow"],
    ]
    assert [turn for session in conversation.sessions for turns in session.stretches() for turn in turns] == list(
        conversation.turns
    )


def test_within_a_session_a_workflow_takes_over_with_the_words_of_the_other_agent(conversation: Conversation) -> None:
    for session in conversation.sessions:
        stretches = list(session.stretches())
        assert stretches[0][0].speaker == "customer"
        for before, after in pairwise(stretches):
            assert after[0].speaker == before[0].agent
            assert after[0].incoming.name == before[0].agent
            assert {turn.speaker for turn in after[1:]} <= {"customer"}


def test_sessions_are_days_apart(conversation: Conversation) -> None:
    starts = [session.starts_at for session in conversation.sessions]
    assert all(start.tzinfo is not None for start in starts)
    assert all((later - earlier).days >= 1 for earlier, later in pairwise(starts))


def test_turns_are_found_by_their_id(conversation: Conversation) -> None:
    ids = [turn.id for turn in conversation.turns]
    assert len(set(ids)) == len(ids)
    assert [conversation.turn(turn_id) for turn_id in ids] == list(conversation.turns)
    with pytest.raises(KeyError, match="s9-t99"):
        conversation.turn("s9-t99")


def test_the_text_shows_other_scripts_emoji_and_long_answers(conversation: Conversation) -> None:
    by_customer = spoken([turn.incoming for turn in conversation.turns if turn.speaker == "customer"])
    names = [unicodedata.name(character, "") for character in by_customer]
    for script in ("HIRAGANA", "CJK UNIFIED", "GREEK SMALL"):
        assert sum(name.startswith(script) for name in names) >= 30
    assert "Žofie Křížová" in by_customer
    assert re.search("[\U0001f300-\U0001faff]", by_customer)
    answers = [turn.recorded[-1].text for turn in conversation.turns]
    assert sum(answer.count("\n\n") >= 2 for answer in answers) >= 8


def test_only_reserved_mail_addresses_appear(conversation: Conversation) -> None:
    hosts = set(re.findall(r"[\w.]+@([\w.-]+\w)", spoken(conversation.messages)))
    assert hosts == {"example.com"}


def test_ten_facts_are_asked_for(conversation: Conversation) -> None:
    assert len(conversation.facts) == 10
    assert len({fact.question for fact in conversation.facts}) == 10


def test_each_fact_is_said_where_the_script_says_so_and_not_before(conversation: Conversation) -> None:
    for fact in conversation.facts:
        known_in = [turn.id for turn in conversation.turns if fact.known_in(spoken(turn.messages))]
        assert known_in[0] == fact.said_in, fact.question


def test_each_fact_is_needed_by_an_answer_whose_question_does_not_repeat_it(conversation: Conversation) -> None:
    for fact in conversation.facts:
        turn = conversation.turn(fact.needed_in)
        assert fact.known_in(spoken(turn.recorded)), fact.question
        assert not any(word in turn.incoming.text for word in fact.words), fact.question


async def test_each_fact_is_out_of_the_window_when_it_is_needed(conversation: Conversation) -> None:
    turns: list[Turn] = list(conversation.turns)
    ids = [turn.id for turn in turns]
    for fact in conversation.facts:
        earlier = turns[: ids.index(fact.needed_in)]
        last_said = max(index for index, turn in enumerate(earlier) if fact.known_in(spoken(turn.messages)))
        between = [message for turn in earlier[last_said + 1 :] for message in turn.messages]
        assert await tokens_of(between) > SMALLEST_BUDGET, fact.question
