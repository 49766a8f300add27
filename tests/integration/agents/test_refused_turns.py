"""What one memory of an agent refuses is written to none of them; what has begun all the same is completed."""

from __future__ import annotations

import pytest

from durable_memory import Memory, MemoryClient, Message, ToolCall
from durable_memory.memory.errors import MemoryBackpressure, MemoryInvalid, MemoryOrphanResult, MemoryOversize
from tests.integration.agents.conftest import unique
from tests.integration.agents.recording import ONE_TOO_LARGE, TURN, record_in_one, said

REFUSED = {
    "a section that one does not declare": ([TURN[0], Message.assistant("Booked.", section="bookings")], MemoryInvalid),
    "a message larger than its room": (ONE_TOO_LARGE, MemoryOversize),
    "system messages larger together": ([Message.system("Rule. " * 25)] * 3, MemoryOversize),
}


@pytest.mark.parametrize("slip", REFUSED)
async def test_what_one_memory_refuses_for_good_is_written_to_none(client: MemoryClient, slip: str) -> None:
    user = unique("user")
    agent = client.agent("trip-and-audit", input={"user": user})
    messages, error = REFUSED[slip]
    with pytest.raises(error, match=r"^audit: "):
        await agent.record_turn(messages, operation_id="turn-1")
    for resource in ("trip", "audit"):
        assert await said(client, resource, f"t:{user}") == []
    # So the same operation is free for other words.
    turn = await agent.record_turn(TURN, operation_id="turn-1")
    assert [one.result.already_applied for one in turn.turns] == [False, False]
    for resource in ("trip", "audit"):
        assert await said(client, resource, f"t:{user}") == ["To Lyon, please.", "Booked."]


async def test_a_result_that_one_memory_never_saw_the_call_of_is_written_to_none(client: MemoryClient) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    call = Message.assistant(tool_calls=[ToolCall("call-1", "look_up", "{}")])
    await agent.memories[0].append(call)
    with pytest.raises(MemoryOrphanResult, match=r"^other: "):
        await agent.record_turn(Message.tool("In Lyon.", "call-1"), operation_id="turn-1")
    assert (await agent.memories[0].stats()).messages["short_term"] == 1
    # Put right, the same operation passes.
    await agent.memories[1].append(call)
    turn = await agent.record_turn(Message.tool("In Lyon.", "call-1"), operation_id="turn-1")
    assert [one.result.already_applied for one in turn.turns] == [False, False]


async def append_without_end(memory: Memory) -> None:
    for number in range(100):
        await memory.append(f"Night {number} in Rome. " * 6)


async def test_an_overflow_of_one_memory_that_is_full_keeps_the_turn_out_of_all(client: MemoryClient) -> None:
    user = unique("user")
    agent = client.agent("trip-and-held-back", input={"user": user})
    with pytest.raises(MemoryBackpressure):
        await append_without_end(agent.memories[1])
    with pytest.raises(MemoryBackpressure, match=r"^held-back: ") as refused:
        await agent.record_turn("And what to see there? " * 8, operation_id="turn-1")
    assert refused.value.retryable
    assert await said(client, "trip", f"t:{user}") == []
    await agent.memories[1].flush(force=True)
    turn = await agent.record_turn("And what to see there? " * 8, operation_id="turn-1")
    assert [one.result.already_applied for one in turn.turns] == [False, False]


async def test_what_is_refused_in_the_middle_says_where_the_turn_stands_and_is_completed_later(
    client: MemoryClient,
) -> None:
    user = unique("user")
    agent = client.agent("scribe", input={"user": user})
    call, result = Message.assistant(tool_calls=[ToolCall("call-1", "look_up", "{}")]), Message.tool("Here.", "call-1")
    for memory in agent.memories:
        await memory.append(call)
    # The first attempt ended between the two, and meanwhile the second memory has lost the call.
    await record_in_one(agent, 0, result)
    await agent.memories[1].clear(confirm=True)
    with pytest.raises(MemoryOrphanResult) as refused:
        await agent.record_turn(result, operation_id="turn-1")
    assert refused.value.message.endswith(
        "the turn stands in desk and not yet in other: once that is put right, the same operation again completes it; "
        "or delete its messages where it stands"
    )
    found = await agent.recorded_turn(operation_id="turn-1")
    assert found is not None
    assert [one.resource for one in found.turns] == ["desk"]
    await agent.memories[1].append(call)
    turn = await agent.record_turn(result, operation_id="turn-1")
    assert [one.result.already_applied for one in turn.turns] == [True, False]


async def test_what_a_memory_cuts_is_no_reason_to_refuse_the_turn(client: MemoryClient) -> None:
    user = unique("user")
    turn = await client.agent("trip-and-clipped", input={"user": user}).record_turn(ONE_TOO_LARGE)
    assert [len(one.result.ids) for one in turn.turns] == [2, 2]
    assert (await said(client, "trip", f"t:{user}"))[1] == ONE_TOO_LARGE[1].text
    assert 0 < len((await said(client, "clipped", f"t:{user}"))[-1]) < len(ONE_TOO_LARGE[1].text)


async def test_what_has_begun_is_completed_though_the_words_sent_again_are_refused(client: MemoryClient) -> None:
    user = unique("user")
    agent = client.agent("trip-and-audit", input={"user": user})
    # The first attempt ended between the two.
    await record_in_one(agent, 0, TURN)
    turn = await agent.record_turn(ONE_TOO_LARGE, operation_id="turn-1")
    assert [message.text for message in turn.messages] == ["To Lyon, please.", "Booked."]
    assert [one.result.already_applied for one in turn.turns] == [True, False]
    for resource in ("trip", "audit"):
        assert await said(client, resource, f"t:{user}") == ["To Lyon, please.", "Booked."]


async def test_without_an_operation_id_too_nothing_is_written_of_what_is_refused(client: MemoryClient) -> None:
    user = unique("user")
    with pytest.raises(MemoryOversize, match=r"^audit: "):
        await client.agent("trip-and-audit", input={"user": user}).record_turn(ONE_TOO_LARGE)
    assert await said(client, "trip", f"t:{user}") == []
