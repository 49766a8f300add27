"""A turn that is recorded again is the turn that was recorded first, whatever has become of its messages."""

from __future__ import annotations

from durable_memory import Message
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import ToolCall, Turn
from tests.integration.cases.conftest import OpenMemory


def told(turn: Turn) -> list[tuple[str, list[str]]]:
    """What a turn says, and the calls that it makes."""
    return [(message.text, [call.id for call in message.tool_calls]) for message in turn.messages]


async def ask(memory: Memory, *, attempt: int) -> Turn:
    """Records a turn that calls a tool; each attempt of the model uses other words and another id for the call."""
    asked = Message.assistant(f"attempt {attempt}", tool_calls=[ToolCall(f"call-{attempt}", "look")])
    return await memory.record_turn(["question", asked], operation_id="turn")


async def test_a_repeated_turn_gives_back_the_calls_that_wait_for_their_results(open_memory: OpenMemory) -> None:
    memory = open_memory()
    first = await ask(memory, attempt=1)
    again = await ask(memory, attempt=2)
    assert told(again) == told(first) == [("question", []), ("attempt 1", ["call-1"])]
    await memory.append(Message.tool("found", again.messages[-1].tool_calls[0].id))
    assert len((await memory.read()).messages) == 3


async def test_a_turn_that_is_a_call_alone_is_given_back_too(open_memory: OpenMemory) -> None:
    memory = open_memory()
    for attempt in (1, 2):
        asked = Message.assistant(tool_calls=[ToolCall(f"call-{attempt}", "look")])
        turn = await memory.record_turn(asked, operation_id="turn")
        assert told(turn) == [("", ["call-1"])]


async def test_a_turn_that_waits_for_its_summary_is_given_back_whole(open_memory: OpenMemory) -> None:
    memory = open_memory("small")
    await memory.record_turn(["first question", Message.assistant("first answer")], operation_id="turn")
    for _ in range(4):
        await memory.append("many words fill what this memory may hold " * 12)
    assert not any("first" in message.text for message in (await memory.read()).messages)
    again = await memory.record_turn(["first question", Message.assistant("other answer")], operation_id="turn")
    assert [text for text, _ in told(again)] == ["first question", "first answer"]


async def test_of_a_turn_that_is_gone_no_message_pretends_to_be_stored(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await ask(memory, attempt=1)
    await memory.clear(confirm=True)
    again = await ask(memory, attempt=2)
    assert again.result.already_applied
    assert [message.id for message in again.messages] == [None, None]
    assert (await memory.read()).messages == ()
