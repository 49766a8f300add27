"""Models that give their tool calls the same ids again and again: each call keeps its own result."""

from __future__ import annotations

from durable_memory import Message, View
from durable_memory.memory.types import ToolCall
from durable_memory.openai_agents import MemorySession
from tests.integration.cases.conftest import OpenMemory


def calling(what: str, *ids: str) -> Message:
    """What a model says that numbers the calls of each answer from the start."""
    return Message.assistant(what, tool_calls=[ToolCall(call_id, "look") for call_id in ids or ("call_0",)])


def said(view: View) -> list[str]:
    """The texts of a view, in its order."""
    return [message.text for message in view.messages]


async def test_a_call_that_was_given_up_takes_the_result_of_no_later_turn(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.append(["look here", calling("given up")])
    turns = ["second", "third", "fourth"]
    for turn in turns:
        await memory.append([f"{turn} question", calling(f"{turn} call")])
        await memory.append(Message.tool(f"{turn} result", "call_0"))
    shown = [text for turn in turns for text in (f"{turn} question", f"{turn} call", f"{turn} result")]
    assert said(await memory.read()) == ["look here", *shown]


async def test_an_agent_that_is_the_tool_of_another_gets_its_own_result(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.append(calling("outer call"))
    await memory.append("inner question")
    await memory.append(calling("inner call"))
    await memory.append(Message.tool("inner result", "call_0"))
    await memory.append(Message.tool("outer result", "call_0"))
    assert said(await memory.read()) == ["outer call", "outer result", "inner question", "inner call", "inner result"]


async def test_a_session_pops_the_newest_call_that_waits_though_an_older_one_has_its_id(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory()
    session = MemorySession(memory)
    await session.add_items([item_of_call("abandoned")])
    await session.add_items([{"role": "user", "content": "Once more"}])
    await session.add_items([item_of_call("second")])
    await session.add_items([{"type": "function_call_output", "call_id": "call_0", "output": "second result"}])
    names = [item["name"] for item in await session.get_items() if item.get("type") == "function_call"]
    popped = [await session.pop_item() for _ in range(4)]
    assert names == ["second"]
    assert [item and [*item.values()][-1] for item in popped] == ["second result", "Once more", "{}", None]


def item_of_call(name: str) -> dict[str, str]:
    """An item of the Responses API that calls a tool."""
    return {"type": "function_call", "call_id": "call_0", "name": name, "arguments": "{}"}
