"""The handle on an agent in a workflow, its reference in an activity, and its command."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ActivityError, ApplicationError

from durable_memory import Message
from durable_memory.memory.agents.context import PREAMBLE
from tests.integration.agents.conftest import PROJECT, Desk, unique
from tests.integration.agents.declared import declarations
from tests.integration.agents.flows import AskBeforeTheModel, RecordAndBreak, TakeATurn
from tests.integration.cli.programs import run_program


async def test_a_workflow_sees_its_memories_and_writes_the_turn_back(desk: Desk) -> None:
    user = unique("user")
    await desk.memories.memory("vault", f"user:{user}", agent="read-write").append("Ann is vegetarian.")
    answer = await desk.run(TakeATurn.run, "clerk", {"user": user}, "To Lyon.")
    assert answer == {
        "before": [PREAMBLE, "[Profile]", "Ann is vegetarian."],
        "recorded": ["other", "desk"],
        "stands": ["To Lyon.", "I heard: To Lyon."],
        "after": [PREAMBLE, "[Profile]", "Ann is vegetarian.", "[Trip thread]", "To Lyon.", "I heard: To Lyon."],
        "known": ["To Lyon.", "I heard: To Lyon."],
    }


async def test_what_a_policy_took_out_of_a_turn_comes_back_to_no_workflow(desk: Desk) -> None:
    answer = await desk.run(TakeATurn.run, "no-phones--no-names", {"user": unique("user")}, "Ada: +49 30 1234567")
    assert answer["stands"] == answer["known"] == ["Ada: [redacted]", "I heard: Ada: [redacted]"]


async def test_an_attempt_that_ends_between_two_memories_is_completed_by_the_next(desk: Desk) -> None:
    user = unique("user")
    assert await desk.run(RecordAndBreak.run, user) == [True, False]
    for resource in ("desk", "other"):
        view = await desk.memories.memory(resource, f"s:{user}").read()
        assert [message.text for message in view.messages] == ["Where?", "Answer 1."]


async def test_an_attempt_that_asks_first_does_not_ask_its_model_again_and_completes_the_turn(desk: Desk) -> None:
    user = unique("user")
    assert await desk.run(AskBeforeTheModel.run, user) == ["asked the model: False", "Where?", "Answer 1."]
    for resource in ("desk", "other"):
        view = await desk.memories.memory(resource, f"s:{user}").read()
        assert [message.text for message in view.messages] == ["Where?", "Answer 1."]


async def test_an_agent_that_is_not_declared_fails_the_call_for_good(desk: Desk) -> None:
    with pytest.raises(WorkflowFailureError) as caught:
        await desk.run(TakeATurn.run, "clark", {}, "To Lyon.")
    assert isinstance(caught.value.cause, ActivityError)
    fault = caught.value.cause.cause
    assert isinstance(fault, ApplicationError)
    assert (fault.type, fault.non_retryable) == ("MemoryUnknownResource", True)


@pytest.fixture
def declared(tmp_path: Path) -> Path:
    """A folder with the declarations of these tests."""
    (tmp_path / "memories").mkdir()
    documents = "\n---\n".join(json.dumps(document) for document in declarations())
    (tmp_path / "memories" / "declared.yaml").write_text(documents)
    return tmp_path


async def test_the_command_shows_the_context(declared: Path, redis_url: str, desk: Desk) -> None:
    user = unique("user")
    await desk.memories.memory("desk", f"trip:{user}").append("To Lyon.")
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": PROJECT}
    shown = await run_program("context", "clerk", "--input", f"user={user}", "-o", "json", cwd=declared, **given)
    assert [message["content"] for message in shown.json()["messages"]] == [PREAMBLE, "[Trip thread]", "To Lyon."]
    table = await run_program("context", "clerk", "--input", f"user={user}", cwd=declared, **given)
    assert ("To Lyon." in table.out, "Trip thread: 1 message" in table.out) == (True, True)
    for wrong in (["--input", "user"], ["--input", "a=1", "--input", "a=2"]):
        assert (await run_program("context", "clerk", *wrong, cwd=declared, **given)).code == 2
    assert (await run_program("context", "clerk", cwd=declared, **given)).code == 2
    mistyped = await run_program("context", "clerk", "--input", f"user={user}x", "-o", "json", cwd=declared, **given)
    assert (mistyped.code, {part["version"] for part in mistyped.json()["memories"]}) == (0, {"absent"})
    assert f"No such memory: 'desk' has none under 'trip:{user}x' in project" in mistyped.err
    assert shown.err == ""


async def test_the_command_says_why_no_memory_takes_part(declared: Path, redis_url: str) -> None:
    (declared / "memories" / "writer.yaml").write_text(
        "{resource: agent, id: writer, memories: [{id: desk, key: one, mode: append-only}]}\n"
    )
    shown = await run_program("context", "writer", cwd=declared, REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=PROJECT)
    assert (shown.code, shown.err) == (
        0,
        "No memory of agent 'writer' takes part in its context: append-only ones do if they have `inject`\n",
    )


async def test_the_command_opens_memories_whose_keys_are_made_of_a_workflow(declared: Path, redis_url: str) -> None:
    (declared / "memories" / "session.yaml").write_text(
        "resource: memory\nid: run-notes\nmax_tokens: 1000\nscope: session\n"
        "---\nresource: agent\nid: runner\nmemory: run-notes\n"
        'memory_key: "{{ workflow.type }}:{{ workflow.id }}"\n'
    )
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": PROJECT}
    workflow = unique("order")
    key = f"Ship:{workflow}"
    assert (await run_program("append", "run-notes", key, "Packed.", cwd=declared, **given)).code == 0
    named = ("--workflow-id", workflow, "--workflow-type", "Ship")
    shown = await run_program("context", "runner", *named, "-o", "json", cwd=declared, **given)
    assert [message["content"] for message in shown.json()["messages"]][-1] == "Packed."
    unnamed = await run_program("context", "runner", cwd=declared, **given)
    assert (unnamed.code, unnamed.out) == (2, "")
    assert "the key needs workflow.type, which is not given" in unnamed.err
    assert "(here: --input, --workflow-id and --workflow-type)" in unnamed.err
    wrong = await run_program("context", "runner", "--workflow-id", "", cwd=declared, **given)
    assert (wrong.code, wrong.err.splitlines()[-1]) == (
        2,
        "Error: Invalid value for '--workflow-id': must be text of 1 to 1,000 characters, as a workflow gave it",
    )


@pytest.mark.parametrize("command", ["read", "context"])
async def test_the_commands_name_the_agent_of_each_answer_if_asked(
    declared: Path, redis_url: str, desk: Desk, command: str
) -> None:
    user = unique("user")
    memory = desk.memories.memory("desk", f"trip:{user}", agent="clerk")
    await memory.append([Message.user("To Lyon."), Message.assistant("Booked.")])
    given = {"REDIS_URL": redis_url, "DURABLE_MEMORY_PROJECT": PROJECT}
    call = {
        "read": ("read", "desk", f"trip:{user}"),
        "context": ("context", "clerk", "--input", f"user={user}"),
    }[command]

    plain = (await run_program(*call, "-o", "json", cwd=declared, **given)).json()
    named = (await run_program(*call, "--authors", "-o", "json", cwd=declared, **given)).json()
    table = await run_program(*call, "--authors", cwd=declared, **given)

    assert [message.get("name") for message in plain["messages"][-2:]] == [None, None]
    assert [message.get("name") for message in named["messages"][-2:]] == [None, "clerk"]
    assert named["tokens"] > plain["tokens"]
    assert "assistant (clerk)" in table.out
