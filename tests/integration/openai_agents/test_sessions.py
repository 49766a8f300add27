"""A memory is a session of the OpenAI Agents SDK, in a workflow and outside."""

from __future__ import annotations

from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, SessionSettings, function_tool
from agents.memory import OpenAIResponsesCompactionSession, Session
from openai import AsyncOpenAI
from openai.types.responses import ResponseCompactionItem
from temporalio.client import Client
from temporalio.openai_agents.testing import AgentEnvironment
from temporalio.worker import Replayer, Worker

from durable_memory import MemoryClient, MemoryPlugin, Message, Registry
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import InvalidValue
from durable_memory.openai_agents import MemorySession
from tests.integration.openai_agents.flows import Ask, track
from tests.integration.openai_agents.models import Scripted, calls, counts, says, tracks_and_pays
from tests.integration.temporal.observing import activities_of
from tests.integration.temporal.rig import unique

REGISTRY = Registry.from_resources(
    [
        {"resource": "memory", "id": "thread", "max_tokens": 4000, "scope": "user"},
        {
            "resource": "memory",
            "id": "small",
            "max_tokens": 400,
            "scope": "user",
            "flushing": {"summarize_threshold": 0.8, "target_ratio": 0.4, "summary_tokens": 80, "keep_last": 1},
        },
    ]
)
CALL = {"type": "function_call", "call_id": "call_A-17", "name": "track", "arguments": '{"order": "A-17"}'}
OUTPUT = {"type": "function_call_output", "call_id": "call_A-17", "output": "A-17 is in Lyon."}


def said(words: str) -> dict[str, str]:
    return {"role": "assistant", "content": words}


def asked(words: str) -> dict[str, str]:
    return {"role": "user", "content": words}


@pytest.fixture
async def client(redis_url: str) -> AsyncIterator[MemoryClient]:
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=unique("project")) as client:
        yield client


@pytest.fixture
def memory(client: MemoryClient) -> Memory:
    return client.memory("thread", "user:42")


async def test_what_agents_say_in_one_workflow_is_known_to_the_next(temporal_address: str, redis_url: str) -> None:
    model = Scripted(calls("track", '{"order": "A-17"}', "call_A-17"), says("It is in Lyon."), says("Still in Lyon."))
    project, queue = unique("project"), unique("queue")
    ours = MemoryPlugin(redis_url=redis_url, memories=REGISTRY, project=project, task_queue=f"flushes-of-{project}")
    async with AgentEnvironment(model=model, add_temporal_spans=False) as agents:
        temporal = agents.applied_on_client(await Client.connect(temporal_address, plugins=[ours]))
        async with Worker(temporal, task_queue=queue, workflows=[Ask]):
            first = await temporal.start_workflow(
                Ask.run, args=["thread", "user:42", ["Where is A-17?"]], id=unique("ask"), task_queue=queue
            )
            assert await first.result() == ["It is in Lyon."]
            second = await temporal.start_workflow(
                Ask.run, args=["thread", "user:42", ["And now?"]], id=unique("ask"), task_queue=queue
            )
            assert await second.result() == ["Still in Lyon."]
        conversation = [asked("Where is A-17?"), CALL, OUTPUT, said("It is in Lyon."), asked("And now?")]
        assert model.given[-1] == conversation
        assert "memory.append" in await activities_of(second)
        plugins: Any = temporal.config()["plugins"]
        await Replayer(workflows=[Ask], plugins=plugins).replay_workflow(await second.fetch_history())
    async with await MemoryClient.connect(redis_url, memories=REGISTRY, project=project) as client:
        view = await client.memory("thread", "user:42").read()
    assert view.to_openai_responses() == [*conversation, said("Still in Lyon.")]


async def test_a_long_conversation_stays_within_its_budget_and_goes_on_with_its_summary(client: MemoryClient) -> None:
    model, memory = Scripted(counts), client.memory("small", "user:42")
    session, clerk = MemorySession(memory, max_tokens=300), Agent("Clerk", model=model)
    for number in range(12):
        await Runner.run(clerk, f"Question {number} is about order A-{number}.", session=session)
        await memory.flush()
        assert (await memory.read(max_tokens=300)).tokens <= 300
    *_, last = model.given
    assert last[0]["role"] == "system"
    assert "Question 0 is about order A-0." in last[0]["content"]
    assert last[-1] == asked("Question 11 is about order A-11.")
    assert len(last) < 12


async def test_a_memory_session_is_what_the_sdk_calls_a_session(memory: Memory) -> None:
    session = MemorySession(memory)
    assert isinstance(session, Session)
    assert session.session_id == "thread/user:42"
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items([])
    assert not (await memory.stats()).exists
    items = [asked("Where is A-17?"), CALL, OUTPUT, said("It is in Lyon."), asked("And now?")]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.pop_item() == asked("And now?")
    assert await session.pop_item() == said("It is in Lyon.")
    assert await session.pop_item() == OUTPUT
    assert await session.get_items() == [asked("Where is A-17?")]
    await session.clear_session()
    assert not (await memory.stats()).exists


@function_tool(needs_approval=True)
async def pay(order: str) -> str:
    """Pays an order."""
    return f"{order} is paid."


async def test_calls_are_shown_once_a_human_has_decided_about_all_of_them(memory: Memory) -> None:
    model, session = Scripted(tracks_and_pays("A-17"), says("Done.")), MemorySession(memory)
    clerk = Agent("Clerk", model=model, tools=[track, pay])
    stopped = await Runner.run(clerk, "Pay A-17, if it is here.", session=session)
    assert await session.get_items() == [asked("Pay A-17, if it is here.")]
    state = stopped.to_state()
    [waiting] = stopped.interruptions
    state.approve(waiting)
    assert (await Runner.run(clerk, state, session=session)).final_output == "Done."
    paid = {"call_id": "pay_A-17", "name": "pay"}
    assert await session.get_items() == [
        asked("Pay A-17, if it is here."),
        CALL,
        {**CALL, **paid},
        OUTPUT,
        {**OUTPUT, "call_id": "pay_A-17", "output": "A-17 is paid."},
        said("Done."),
    ]


async def test_what_was_handed_over_to_another_agent_is_a_call_as_well(memory: Memory) -> None:
    session = MemorySession(memory)
    billing = Agent("Billing", model=Scripted(says("It costs 20 euros.")))
    triage = Agent("Triage", model=Scripted(calls("transfer_to_billing", "{}", "h")), handoffs=[billing])
    assert (await Runner.run(triage, "What does it cost?", session=session)).final_output == "It costs 20 euros."
    question, call, output, answer = await session.get_items()
    assert (question, answer) == (asked("What does it cost?"), said("It costs 20 euros."))
    assert (call["name"], call["call_id"], output["call_id"]) == ("transfer_to_billing", "h", "h")


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        (0, []),
        (1, [asked("And now?")]),
        (2, [said("It is in Lyon."), asked("And now?")]),
        (3, [said("It is in Lyon."), asked("And now?")]),
        (4, [CALL, OUTPUT, said("It is in Lyon."), asked("And now?")]),
        (9, [asked("Where is A-17?"), CALL, OUTPUT, said("It is in Lyon."), asked("And now?")]),
    ],
)
async def test_a_limit_shows_the_newest_items_and_no_result_without_its_call(
    memory: Memory, limit: int, shown: list[dict[str, str]]
) -> None:
    session = MemorySession(memory)
    await session.add_items([asked("Where is A-17?"), CALL, OUTPUT, said("It is in Lyon."), asked("And now?")])
    assert await session.get_items(limit) == shown
    session.session_settings = SessionSettings(limit=limit)
    assert await session.get_items() == shown
    model = Scripted(says("Yes."))
    limited = RunConfig(session_settings=SessionSettings(limit=limit))
    await Runner.run(Agent("Clerk", model=model), "And then?", session=MemorySession(memory), run_config=limited)
    assert model.given == [[*shown, asked("And then?")]]


async def test_calls_of_two_turns_with_one_id_keep_it_and_a_limit_takes_no_result_for_that_of_another(
    memory: Memory,
) -> None:
    session = MemorySession(memory)
    (first, of_first), (other, of_other) = (
        ({**CALL, "call_id": call_id}, {**OUTPUT, "call_id": call_id}) for call_id in ("call_0", "call_1")
    )
    items = [first, other, of_first, of_other, asked("And now?"), first, of_first]
    await session.add_items(items)
    assert await session.get_items() == items
    assert await session.get_items(6) == [other, of_other, asked("And now?"), first, of_first]
    assert await session.pop_item() == of_first


async def test_what_no_model_of_openai_reads_is_not_popped(memory: Memory) -> None:
    thoughts = Message.assistant([{"type": "thinking", "thinking": "Hm.", "signature": "x"}])
    session = MemorySession(memory)
    await memory.append(thoughts)
    assert await session.pop_item() is None
    await memory.append(["Hi", thoughts])
    assert await session.pop_item() == asked("Hi")
    assert len((await memory.read()).messages) == 2


async def test_a_compaction_by_openai_is_refused_and_the_conversation_stays(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What only OpenAI can read would stand in place of everything that was said."""
    inner, openai = MemorySession(memory), AsyncOpenAI(api_key="none", base_url="http://127.0.0.1:1")
    outer = OpenAIResponsesCompactionSession("thread", inner, client=openai, compaction_mode="input")
    compacted = ResponseCompactionItem(id="cmp_1", type="compaction", encrypted_content="gAAAA")
    conversation: list[Any] = [asked("Where is A-17?"), said("It is in Lyon.")]
    await outer.add_items(conversation)

    async def compact(**_: Any) -> Any:
        return SimpleNamespace(output=[compacted], usage=None)

    monkeypatch.setattr(openai.responses, "compact", compact)
    with pytest.raises(InvalidValue, match="only OpenAI can read it"):
        await outer.run_compaction({"force": True})
    assert await inner.get_items() == conversation


async def test_a_summary_and_pinned_words_come_first_and_are_not_popped(memory: Memory) -> None:
    await memory.append([Message.system("Be kind."), Message.user("Hi")])
    session = MemorySession(memory)
    assert await session.get_items() == [{"role": "system", "content": "Be kind."}, asked("Hi")]
    assert await session.pop_item() == asked("Hi")
    assert await session.pop_item() is None
