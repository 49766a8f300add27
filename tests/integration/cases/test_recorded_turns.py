"""A turn that is recorded again is the turn that was recorded first, whatever has become of its messages."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory import Message
from durable_memory.memory.errors import MemoryInvalid, MemoryOperationConflict
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


async def test_a_turn_can_be_asked_for_before_the_model_is_asked_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    assert await memory.recorded_turn(operation_id="turn") is None
    first = await ask(memory, attempt=1)
    recorded = await memory.recorded_turn(operation_id="turn")
    assert recorded is not None
    assert told(recorded) == told(first)
    assert (recorded.result.ids, recorded.result.already_applied) == (first.result.ids, True)
    assert await memory.recorded_turn(operation_id="another") is None


async def test_a_recorded_turn_that_is_gone_is_still_recorded(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await ask(memory, attempt=1)
    await memory.clear(confirm=True)
    recorded = await memory.recorded_turn(operation_id="turn")
    assert recorded is not None
    assert recorded.messages == ()


async def test_outside_an_activity_a_recorded_turn_needs_its_operation_id(open_memory: OpenMemory) -> None:
    with pytest.raises(MemoryInvalid, match="operation_id: is needed outside an activity"):
        await open_memory().recorded_turn()


async def test_an_id_of_another_kind_of_operation_is_no_turn(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.write("new", operation_id="write")
    with pytest.raises(MemoryOperationConflict):
        await memory.recorded_turn(operation_id="write")


async def test_an_append_can_answer_with_the_view(open_memory: OpenMemory) -> None:
    memory = open_memory()
    assert (await memory.append("a")).view is None
    appended = await memory.append("b", want_view=True)
    assert appended.view == await memory.read()


@pytest.mark.parametrize(("field", "value"), [("before_id", 5), ("since_version", 5), ("since_version", "")])
async def test_a_page_or_a_version_that_is_none_is_refused_by_name(
    open_memory: OpenMemory, field: str, value: object
) -> None:
    given: dict[str, Any] = {field: value}
    with pytest.raises(MemoryInvalid, match=f"^{field}: "):
        await open_memory().read(**given)
