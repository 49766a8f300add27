"""A turn is written back to every memory that its agent may write to, once, whatever breaks in the middle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from durable_memory import MemoryClient, Message
from durable_memory.memory.errors import (
    MemoryInvalid,
    MemoryUnavailable,
)
from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.forwarding import ForwardingStore
from durable_memory.memory.stores.values import Entry, Operation
from durable_memory.memory.types import AppendResult
from tests.integration.agents.conftest import unique
from tests.integration.agents.recording import ONE_TOO_LARGE, OTHER_WORDS, TURN, record_in_one, said
from tests.wrapped_stores import through


async def test_a_turn_goes_to_every_memory_that_may_be_written(client: MemoryClient) -> None:
    user = unique("user")
    turn = await client.agent("clerk", input={"user": user}).record_turn(TURN)
    assert [(one.resource, len(one.result.ids), one.result.created) for one in turn.turns] == [
        ("other", 2, True),
        ("desk", 2, True),
    ]
    assert turn.messages == tuple(replace(message, agent="clerk") for message in TURN)
    words = ["To Lyon, please.", "Booked."]
    assert await said(client, "other", f"log:{user}") == await said(client, "desk", f"trip:{user}") == words
    assert await said(client, "vault", f"user:{user}") == []
    thread = await client.memory("desk", f"trip:{user}").read()
    assert {message.agent for message in thread.messages} == {"clerk"}


async def test_a_memory_without_turns_takes_what_calls_on_it_append_and_stands_in_the_context(
    client: MemoryClient,
) -> None:
    user = unique("user")
    agent = client.agent("keeper", input={"user": user})
    facts, _ = agent.memories
    await facts.append("Ada lives in Lyon.")
    turn = await agent.record_turn(TURN, operation_id="turn-1")
    assert [one.resource for one in turn.turns] == ["desk"]
    found = await agent.recorded_turn(operation_id="turn-1")
    assert found is not None
    assert [one.resource for one in found.turns] == ["desk"]
    assert await said(client, "other", f"facts:{user}") == ["Ada lives in Lyon."]
    assert [(part.resource, part.messages) for part in (await agent.context()).memories] == [("other", 1), ("desk", 2)]


async def test_the_same_operation_is_applied_once(client: MemoryClient) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    first = await agent.record_turn(TURN, operation_id="turn-1")
    again = await agent.record_turn(TURN, operation_id="turn-1")
    assert [one.result.ids for one in again.turns] == [one.result.ids for one in first.turns]
    assert [one.result.already_applied for one in again.turns] == [True, True]
    assert await said(client, "desk", f"s:{user}") == ["To Lyon, please.", "Booked."]


@pytest.mark.parametrize("given", ["trip-7/scribe", "scribe:trip-7", "given-to:scribe:trip-7", "trip-7"])
async def test_no_operation_id_of_a_memory_is_that_of_a_turn_of_an_agent(client: MemoryClient, given: str) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    await agent.record_turn("Book it.", operation_id="trip-7")
    turn = await client.memory("desk", f"s:{user}").record_turn("Something else.", operation_id=given)
    assert not turn.result.already_applied
    assert await said(client, "desk", f"s:{user}") == ["Book it.", "Something else."]


async def test_two_agents_may_give_their_turns_in_one_memory_the_same_operation_id(client: MemoryClient) -> None:
    user = unique("user")
    for debater, operation_id in (("debater-a", "1"), ("debater-b", "1"), ("debater-b", "debater-a:1")):
        turn = await client.agent(debater, input={"user": user}).record_turn(debater, operation_id=operation_id)
        assert [one.result.already_applied for one in turn.turns] == [False, False]
    assert await said(client, "desk", f"d:{user}") == ["debater-a", "debater-b", "debater-b"]


async def test_an_operation_id_may_be_as_long_as_that_of_a_memory(client: MemoryClient) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    for length in (992, 994, 1_000):
        first = await agent.record_turn(TURN, operation_id="x" * length)
        again = await agent.record_turn(TURN, operation_id="x" * length)
        found = await agent.recorded_turn(operation_id="x" * length)
        assert [one.result.already_applied for one in first.turns] == [False, False]
        assert [one.result.already_applied for one in again.turns] == [True, True]
        assert found is not None
        assert [one.result.ids for one in found.turns] == [one.result.ids for one in first.turns]
    other = await agent.record_turn(TURN, operation_id="x" * 999 + "y")
    assert [one.result.already_applied for one in other.turns] == [False, False]
    with pytest.raises(MemoryInvalid, match=r"has 1,001 characters; the limit is 1,000"):
        await agent.record_turn(TURN, operation_id="x" * 1_001)


CALL_ADA = [Message.user("Ada: +49 30 1234567"), Message.assistant("Ada has +49 30 1234567.")]


@pytest.mark.parametrize(
    ("agent", "stored"),
    [
        ("no-phones", ["Ada: [redacted]", "Ada has [redacted]."]),
        ("no-phones--no-names", ["Ada: [redacted]", "Ada has [redacted]."]),
        ("no-names--no-phones", ["[redacted]: +49 30 1234567", "[redacted] has +49 30 1234567."]),
        ("desk--no-phones", ["Ada: +49 30 1234567", "Ada has +49 30 1234567."]),
        ("nothing--no-names", ["[redacted]: +49 30 1234567", "[redacted] has +49 30 1234567."]),
        ("no-answers", ["Ada: [redacted]"]),
    ],
)
async def test_the_first_attempt_returns_what_is_stored_as_its_repetitions_do(
    client: MemoryClient, agent: str, stored: list[str]
) -> None:
    mine = client.agent(agent, input={"user": unique("user")})
    first = await mine.record_turn(CALL_ADA, operation_id="turn-1")
    again = await mine.record_turn(CALL_ADA, operation_id="turn-1")
    found = await mine.recorded_turn(operation_id="turn-1")
    assert found is not None
    assert [message.text for message in first.messages] == stored
    assert [message.text for message in found.messages] == stored
    assert again.messages == first.messages


async def test_a_refusal_of_a_turn_is_screened_by_every_policy_it_would_meet(client: MemoryClient) -> None:
    wrong = {"role": "user", "content": "x", "metadata": {"Ada, +49 30 1234567": float("nan")}}
    for agent, shown in (("no-names--no-phones", "[redacted], [redacted]"), ("desk--no-phones", "Ada, [redacted]")):
        with pytest.raises(MemoryInvalid) as refused:
            await client.agent(agent, input={"user": unique("user")}).record_turn([wrong])
        assert f"messages[0].metadata.{shown}: " in refused.value.message


async def test_a_memory_that_keeps_all_of_a_turn_tells_it_before_one_that_keeps_a_part(client: MemoryClient) -> None:
    mine = client.agent("no-answers--no-phones", input={"user": unique("user")})
    first = await mine.record_turn(CALL_ADA, operation_id="turn-1")
    again = await mine.record_turn(CALL_ADA, operation_id="turn-1")
    found = await mine.recorded_turn(operation_id="turn-1")
    assert found is not None
    assert [message.text for message in first.messages] == ["Ada: [redacted]", "Ada has [redacted]."]
    assert [message.text for message in found.messages] == ["Ada: [redacted]", "Ada has [redacted]."]
    assert again.messages == first.messages


async def test_a_part_of_a_turn_that_other_memories_lack_is_not_told_as_the_turn(client: MemoryClient) -> None:
    user = unique("user")
    mine = client.agent("no-answers--no-phones", input={"user": user})
    # The first attempt ended between the two.
    await record_in_one(mine, 0, CALL_ADA)
    recorded = await mine.recorded_turn(operation_id="turn-1")
    assert recorded is not None
    assert (recorded.messages, [one.resource for one in recorded.turns]) == ((), ["no-answers"])
    await mine.record_turn(CALL_ADA, operation_id="turn-1")
    assert await said(client, "no-phones", f"p:{user}") == ["Ada: [redacted]", "Ada has [redacted]."]


async def test_a_turn_of_which_nothing_is_kept_comes_back_as_it_was_sent(client: MemoryClient) -> None:
    turn = await client.agent("nothing", input={"user": unique("user")}).record_turn(CALL_ADA)
    assert turn.messages == tuple(CALL_ADA)


async def test_what_a_memory_cut_is_what_the_first_attempt_returns_and_the_others_have_all(
    client: MemoryClient,
) -> None:
    user = unique("user")
    mine = client.agent("clipped--desk", input={"user": user})
    large = ONE_TOO_LARGE[1]
    first = await mine.record_turn(large, operation_id="turn-1")
    again = await mine.record_turn(large, operation_id="turn-1")
    assert 0 < len(first.messages[0].text) < len(large.text)
    assert again.messages == first.messages
    assert await said(client, "desk", f"p:{user}") == [large.text]


@pytest.mark.parametrize(
    ("agent", "words", "in_the_other"),
    [
        ("clipped--desk", [ONE_TOO_LARGE[1]], [ONE_TOO_LARGE[1].text]),
        ("no-names--no-phones", CALL_ADA, ["Ada: [redacted]", "Ada has [redacted]."]),
    ],
)
async def test_what_the_first_memory_cut_or_took_out_is_in_the_others_after_a_repetition_too(
    client: MemoryClient, agent: str, words: list[Message], in_the_other: list[str]
) -> None:
    mine = client.agent(agent, input={"user": unique("user")})
    # The first attempt ended between the two.
    await record_in_one(mine, 0, words)
    again = await mine.record_turn(words, operation_id="turn-1")
    assert [one.result.already_applied for one in again.turns] == [True, False]
    assert [message.text for message in (await mine.memories[1].read()).messages] == in_the_other


async def test_a_recorded_turn_is_told_with_the_memories_that_hold_it(client: MemoryClient) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    assert await agent.recorded_turn(operation_id="turn-1") is None
    await record_in_one(agent, 1, TURN)
    half = await agent.recorded_turn(operation_id="turn-1")
    assert half is not None
    assert [one.resource for one in half.turns] == [agent.memories[1].id.resource]
    assert [message.text for message in half.messages] == ["To Lyon, please.", "Booked."]
    await agent.record_turn(half.messages, operation_id="turn-1")
    whole = await agent.recorded_turn(operation_id="turn-1")
    assert whole is not None
    assert [one.resource for one in whole.turns] == [memory.id.resource for memory in agent.memories]
    with pytest.raises(MemoryInvalid, match="outside an activity"):
        await agent.recorded_turn()


async def test_the_words_that_stand_are_found_where_the_first_memory_has_lost_some(client: MemoryClient) -> None:
    agent = client.agent("scribe", input={"user": unique("user")})
    first = await agent.record_turn(TURN, operation_id="turn-1")
    await agent.memories[0].delete(first.turns[0].result.ids[:1])
    again = await agent.record_turn(OTHER_WORDS, operation_id="turn-1")
    assert [message.text for message in again.messages] == ["To Lyon, please.", "Booked."]
    assert [one.result.already_applied for one in again.turns] == [True, True]


@pytest.mark.parametrize("first", [TURN, [TURN[0]], [*TURN, Message.user("Thank you.")]], ids=["2", "1", "3"])
async def test_the_words_that_stand_go_to_the_others_however_many_messages_are_sent_again(
    client: MemoryClient, first: list[Message]
) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    # The first attempt ended between the two.
    await record_in_one(agent, 0, first)
    again = await agent.record_turn(OTHER_WORDS, operation_id="turn-1")
    words = [message.text for message in first]
    assert [message.text for message in again.messages] == words
    assert await said(client, "desk", f"s:{user}") == await said(client, "other", f"s:{user}") == words


async def test_one_operation_id_of_two_agents_is_two_operations(client: MemoryClient) -> None:
    user = unique("user")
    await client.agent("scribe", input={"user": user}).record_turn(TURN, operation_id="turn-1")
    await client.memory("desk", f"s:{user}").append("Mine.", operation_id="turn-1")
    assert await said(client, "desk", f"s:{user}") == ["To Lyon, please.", "Booked.", "Mine."]


class OtherIsSilent(ForwardingStore):
    """A store that does not answer appends to one resource."""

    async def append(
        self, memory: MemoryId, entries: Sequence[Entry], operation: Operation, limits: Limits
    ) -> AppendResult:
        if memory.resource == "other":
            raise MemoryUnavailable("the store does not answer")
        return await super().append(memory, entries, operation, limits)


async def test_a_repetition_completes_what_broke_in_the_middle_with_the_words_that_stand(client: MemoryClient) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    with pytest.raises(MemoryUnavailable) as failed:
        await through(client, OtherIsSilent).agent(agent.ref).record_turn(TURN, operation_id="turn-1")
    half = "the turn stands in desk and not yet in other: the same operation again completes it"
    assert str(failed.value) == failed.value.message == f"the store does not answer; {half}"
    assert (await said(client, "desk", f"s:{user}"), await said(client, "other", f"s:{user}")) == (
        ["To Lyon, please.", "Booked."],
        [],
    )
    turn = await agent.record_turn(OTHER_WORDS, operation_id="turn-1")
    assert [one.result.already_applied for one in turn.turns] == [True, False]
    assert [message.text for message in turn.messages] == ["To Lyon, please.", "Booked."]
    for resource in ("desk", "other"):
        assert await said(client, resource, f"s:{user}") == ["To Lyon, please.", "Booked."]


async def test_an_agent_that_may_write_nowhere_records_nowhere(client: MemoryClient) -> None:
    assert (await client.agent("stateless").record_turn(TURN)).turns == ()
    with pytest.raises(MemoryInvalid, match=r"messages\[0\].role"):
        await client.agent("stateless").record_turn([{"role": "nobody", "content": "x"}])
