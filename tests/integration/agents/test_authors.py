"""Of two agents on one memory, each is told which of them said what: inside the budget, in each way to read."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory import MemoryClient, Message, ToolCall, View
from durable_memory.activities import wire
from durable_memory.memory.authors import read_with_authors
from durable_memory.memory.errors import MemoryOversize
from durable_memory.memory.stores.values import ReadQuery
from durable_memory.memory.tokens.estimating import ScaledCounter
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from tests.integration.agents.conftest import Desk, unique
from tests.integration.agents.flows import CallByName, ReadWithAuthors
from tests.unit.chat.sdk_types import check_anthropic, check_openai

LONG = "The parcel went from Lyon to Paris and back to Lyon again, and nobody knows why. "


def names(view: View) -> list[tuple[str, str | None]]:
    return [(message.text, message.name) for message in view.messages]


async def recount(messages: tuple[Message, ...]) -> int:
    """What a tokenizer says of these messages."""
    return sum(count.tokens for count in await TiktokenCounter().count(messages))


async def talked(client: MemoryClient, key: str, turns: int = 1) -> None:
    """Lets two agents take turns in one memory."""
    first, second = (client.memory("desk", key, agent=agent) for agent in ("read-write", "append-only"))
    for number in range(turns):
        await first.append([Message.user(f"{number}: {LONG}"), Message.assistant("I look.", tool_calls=[_CALL])])
        await first.append(Message.tool("In Lyon.", "c"))
        await second.append(Message.assistant("It is in Lyon."))


_CALL = ToolCall("c", "track")


async def test_what_an_agent_said_has_its_name_and_what_its_user_said_has_none(client: MemoryClient) -> None:
    key = unique("key")
    await talked(client, key)
    await client.memory("desk", key, agent="read-write").append(Message.assistant("Bye.", name="Rosa"))
    await client.memory("desk", key).append(Message.assistant("I am nobody."))
    memory = client.memory("desk", key)
    plain = await memory.read()
    view = await memory.read(authors=True)
    assert names(view) == [
        (f"0: {LONG}", None),
        ("I look.", "read-write"),
        ("In Lyon.", None),
        ("It is in Lyon.", "append-only"),
        ("Bye.", "Rosa"),
        ("I am nobody.", None),
    ]
    assert [name for _, name in names(plain)] == [None, None, None, None, "Rosa", None]
    check_openai(view.to_openai())
    shown = [message.get("name") for message in view.to_openai()]
    assert shown == [None, "read-write", None, "append-only", "Rosa", None]
    check_anthropic(view.to_anthropic())
    assert view.to_anthropic() == plain.to_anthropic()


async def test_names_count_and_the_budget_holds_in_whole_groups(client: MemoryClient) -> None:
    key = unique("key")
    await talked(client, key, turns=8)
    memory = client.memory("desk", key)
    whole = await memory.read(authors=True)
    assert whole.tokens == await recount(whole.messages) > (await memory.read()).tokens
    shown = set()
    for max_tokens in range(0, whole.tokens + 5, 7):
        view = await memory.read(max_tokens=max_tokens, authors=True)
        assert view.tokens == await recount(view.messages) <= max_tokens
        assert all(message.name for message in view.messages if message.role == "assistant")
        called = [call.id for message in view.messages for call in message.tool_calls]
        assert called == [message.tool_call_id for message in view.messages if message.role == "tool"]
        shown.add(len(view.messages))
    assert await memory.read(max_tokens=whole.tokens, authors=True) == whole
    assert len(shown) > 8


async def test_what_must_stand_and_fits_only_without_names_is_refused(client: MemoryClient) -> None:
    key = unique("key")
    memory = client.memory("desk", key, agent="read-write")
    await memory.append(Message.assistant("Never forget this.", pinned=True))
    plain, named = await memory.read(), await memory.read(authors=True)
    assert await memory.read(max_tokens=plain.tokens) == plain
    assert await memory.read(max_tokens=named.tokens, authors=True) == named
    for max_tokens in range(plain.tokens, named.tokens):
        with pytest.raises(MemoryOversize, match="with the names of the agents"):
            await memory.read(max_tokens=max_tokens, authors=True)


async def test_a_read_by_ids_that_fits_names_is_one_access_to_what_it_answers(client: MemoryClient) -> None:
    memory = client.memory("often", unique("key"), agent="regular")
    first, cut, shown = (await memory.append([Message.assistant(text) for text in ("first", LONG, "shown")])).ids
    for _ in range(2):
        await memory.touch([first])
    without_names = sum(message.tokens or 0 for message in (await memory.read()).messages[1:])
    view = await memory.read(ids=[cut, shown], max_tokens=without_names, authors=True)
    assert [message.text for message in view.messages] == ["shown"]
    await memory.append("fourth")
    assert [message.text for message in (await memory.read()).messages] == ["first", "shown", "fourth"]
    await memory.append(Message.user("fifth", pinned=True))
    await memory.append("sixth")
    assert [message.text for message in (await memory.read()).messages] == ["first", "fifth", "sixth"]


@pytest.mark.parametrize("max_tokens", [None, 80, 120, 200, 350, 600])
async def test_a_context_has_names_and_fits_its_budget(client: MemoryClient, max_tokens: int | None) -> None:
    user = unique("user")
    await talked(client, f"trip:{user}", turns=8)
    context = await client.agent("clerk", input={"user": user}).context(max_tokens=max_tokens, authors=True)
    assert context.tokens == await recount(context.messages)
    assert context.tokens <= (max_tokens or 10_000)
    assert all(message.name for message in context.messages if message.role == "assistant")
    check_openai(context.to_openai())
    assert {message.name for message in context.messages} - {None, "read-write", "append-only"} == set()
    plain = await client.agent("clerk", input={"user": user}).context(max_tokens=max_tokens)
    assert {message.name for message in plain.messages} == {None}


@pytest.mark.parametrize("factor", [1.0, 1.1, 1.35, 1.9])
async def test_an_estimated_name_is_never_less_than_a_count_of_its_message(factor: float) -> None:
    counter = ScaledCounter(TiktokenCounter(), factor)
    said = [Message.assistant("Yes. " * length, agent="the-agent-of-the-desk") for length in range(1, 40)]
    counted = [
        Message.assistant(message.content, agent=message.agent, tokens=count.tokens)
        for message, count in zip(said, await counter.count(said), strict=True)
    ]

    async def read(_: ReadQuery) -> View:
        return View(tuple(counted), sum(message.tokens or 0 for message in counted), "absent")

    view = await read_with_authors(read, ReadQuery(), counter, "desk")
    again = await counter.count(view.messages)
    assert all((message.tokens or 0) >= count.tokens for message, count in zip(view.messages, again, strict=True))
    assert view.tokens == sum(message.tokens or 0 for message in view.messages)


async def test_a_workflow_reads_with_authors_and_without(desk: Desk) -> None:
    user = unique("user")
    await talked(desk.memories, f"trip:{user}")
    answer = await desk.run(ReadWithAuthors.run, user)
    both = [None, "read-write", None, "append-only"]
    assert answer == {
        "read": both,
        "read here": both,
        "read without": [None] * 4,
        "context": [None, None, *both],
        "context without": [None] * 6,
    }


async def test_a_caller_by_name_reads_with_authors(desk: Desk) -> None:
    user = unique("user")
    await talked(desk.memories, f"trip:{user}")
    asked: dict[str, Any] = {"memory": {"resource": "desk", "key": f"trip:{user}"}, "authors": True}
    view = await desk.run(CallByName.run, wire.READ, asked)
    assert [message.get("name") for message in view["messages"]] == [None, "read-write", None, "append-only"]
