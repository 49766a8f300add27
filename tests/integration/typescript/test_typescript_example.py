"""An agent in TypeScript and one in Python share a memory; the former knows it by the names of its activities alone."""

from __future__ import annotations

import asyncio

import pytest

from durable_memory import Message
from tests.integration.cli.programs import run_command
from tests.integration.temporal.observing import attempts_of
from tests.integration.typescript.desk import EXAMPLE, Desk

pytestmark = pytest.mark.timeout(900)


def turn(question: str, known: int) -> list[str]:
    """What a case prints of a turn whose model knew so many messages."""
    return [
        f"user: {question}",
        'assistant: track_parcel({"order":"A-17"})',
        "tool: In Lyon since Monday.",
        f"assistant: I read {known} messages: your parcel is in Lyon.",
    ]


async def test_python_and_typescript_see_what_the_other_one_wrote(desk: Desk) -> None:
    await desk.thread("anna").append(["Hello, I am Anna. 📦", Message.assistant("Hello Anna!")])
    ended = await desk.run_case("anna", "case-anna", "Where is my parcel? 日本語")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines() == [
        "user: Hello, I am Anna. 📦",
        "assistant: Hello Anna!",
        *turn("Where is my parcel? 日本語", known=3),
        "=> I read 3 messages: your parcel is in Lyon.",
    ]
    messages = (await desk.thread("anna").read()).messages
    assert [message.role for message in messages[2:]] == ["user", "assistant", "tool", "assistant"]
    assert messages[3].tool_calls[0].id == messages[4].tool_call_id
    assert {message.agent for message in messages} == {"triage"}
    written_by = [message.provenance.workflow_id if message.provenance else None for message in messages]
    assert written_by == [None, None, *["case-anna"] * 4]


async def test_the_readme_shows_what_is_printed(desk: Desk) -> None:
    readme = (EXAMPLE / "README.md").read_text()
    assert 'npm run --silent client 42 case-1 "Where is my parcel?"\n' in readme
    ended = await run_command(
        *("npm", "run", "--silent", "client", "42", "case-1", "Where is my parcel?"),
        cwd=desk.folder,
        TEMPORAL_ADDRESS=desk.address,
        npm_config_cache=str(desk.folder / ".npm-cache"),
    )
    assert f"```text\n{ended.out}```\n" in readme


async def test_a_case_that_runs_again_asks_and_answers_once(desk: Desk) -> None:
    first = await desk.run_case("ben", "case-ben", "Any news?")
    between = await desk.run_case("ben", "case-ben-2", "And my other parcel?")
    again = await desk.run_case("ben", "case-ben", "Any news?")
    assert (first.code, between.code, again.code) == (0, 0, 0), first.err + between.err + again.err
    conversation = [*turn("Any news?", known=1), *turn("And my other parcel?", known=5)]
    # The model read eight messages this time; what was recorded first is what the case says.
    expected = "=> I read 1 messages: your parcel is in Lyon. (recorded by an earlier run)"
    assert again.out.splitlines() == [*conversation, expected]
    assert len(await desk.texts("ben")) == 8


async def test_a_call_whose_attempts_overlap_is_applied_once(desk: Desk) -> None:
    await desk.run_case("eva", "case-eva-0", "Hello?")
    desk.valkey.suspend()
    try:
        running = asyncio.create_task(desk.run_case("eva", "case-eva", "Is it lost?"))
        await second_attempt(desk, "case-eva")
    finally:
        desk.valkey.resume()
    ended = await running
    assert ended.code == 0, ended.err
    [attempts] = await attempts_of(desk.case("case-eva"), "memory.append")
    assert attempts >= 2
    assert ended.out.splitlines()[:-1] == [*turn("Hello?", known=1), *turn("Is it lost?", known=5)]
    assert (await desk.texts("eva")).count("Is it lost?") == 1


async def second_attempt(desk: Desk, case: str) -> None:
    """Waits until the first attempt at a call has failed."""
    async with asyncio.timeout(120):
        while True:
            found = [each async for each in desk.temporal.list_workflows(f"WorkflowId = '{case}'")]
            pending = (await desk.case(case).describe()).raw_description.pending_activities if found else ()
            if any(each.attempt >= 2 for each in pending):
                return
            await asyncio.sleep(0.1)


async def test_the_type_of_an_error_arrives_where_code_can_decide_by_it(desk: Desk) -> None:
    ended = await desk.run_case("ida", "case-ida", "very " * 5_000 + "long")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines() == ["=> That is more than I can remember. Can you say it shorter?"]
    assert await attempts_of(desk.case("case-ida"), "memory.append") == [1]


async def test_an_error_that_nobody_expected_ends_the_workflow_with_its_type(desk: Desk) -> None:
    ended = await desk.run_case("a user with a space at the end ", "case-space", "Hello?")
    assert ended.code == 1
    assert ended.err.startswith("failed: MemoryKeyInvalid: ")
    assert await attempts_of(desk.case("case-space"), "memory.append") == [1]
