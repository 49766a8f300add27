"""Wrong arguments are refused by name before they reach a store: the same on every kind of persistence."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from durable_memory import MemoryClient, MemoryPlugin, Message, Registry, ToolCall
from durable_memory.memory.errors import MemoryInvalid, MemoryOperationConflict
from durable_memory.memory.janitor.sweep import Janitor
from durable_memory.memory.memory import Memory
from durable_memory.memory.types import InvalidValue
from tests.integration.cases.conftest import OpenMemory

HALF = "\ud83d"
MANY = [f"a-{number}-b" for number in range(1001)]
CYCLE: dict[str, Any] = {}
CYCLE["itself"] = CYCLE


def nested(levels: int) -> Any:
    """Returns an object with so many levels."""
    value: Any = "the end"
    for _ in range(levels):
        value = {"in": value}
    return value


def called(**function: Any) -> dict[str, Any]:
    """Returns an assistant's message with one call."""
    return {"role": "assistant", "tool_calls": [{"id": "1", "function": {"name": "look", **function}}]}


@pytest.mark.parametrize(
    ("message", "path"),
    [
        pytest.param({"role": "user", "contnet": "x"}, "messages[1].contnet", id="misspelt"),
        pytest.param(called(argumnets="{}"), "messages[1].tool_calls[0].function.argumnets", id="misspelt-in-a-call"),
        pytest.param({"role": "user", "content": "x", "metadata": nested(2000)}, "messages[1].metadata", id="deep"),
        pytest.param({"role": "user", "content": "x", "metadata": CYCLE}, "messages[1].metadata", id="endless"),
        pytest.param(called(arguments=nested(2000)), "messages[1].tool_calls[0].function.arguments", id="deep-call"),
        pytest.param({"role": "user", "content": "x", "metadata": {"n": 10**5000}}, "messages[1].metadata.n", id="int"),
        pytest.param({"role": "user", "content": "x", "metadata": {"n": float("inf")}}, "metadata.n", id="infinite"),
        pytest.param({"role": "user", "content": "x", "metadata": {"n": Decimal("1.1")}}, "metadata.n", id="decimal"),
        pytest.param({"role": "user", "content": "x", "metadata": {"n": {1}}}, "metadata.n", id="set"),
        pytest.param({"role": "user", "content": "x", "metadata": {1: "x"}}, "metadata", id="number-as-key"),
        pytest.param({"role": "user", "content": "x", "metadata": {HALF: 1, "\0": 2}}, "metadata", id="keys-that-meet"),
        pytest.param({"role": "user", "content": "x", "metadata": False}, "messages[1].metadata", id="no-object"),
        pytest.param({"role": "user", "content": [{"type": "text", "text": b"x"}]}, "content[0].text", id="bytes"),
        pytest.param({"role": "user", "content": {"type": "text"}}, "messages[1].content", id="part-without-list"),
        pytest.param({"role": "assistant", "content": "x", "tool_calls": 5}, "messages[1].tool_calls", id="number"),
        pytest.param(
            {"role": "assistant", "tool_calls": [called()["tool_calls"][0], {"id": "", "function": {"name": "look"}}]},
            "messages[1].tool_calls[1].id: must not be empty",
            id="call-without-id",
        ),
    ],
)
async def test_what_a_message_cannot_carry_is_named_by_its_path(
    open_memory: OpenMemory, message: dict[str, Any], path: str
) -> None:
    memory = open_memory()
    with pytest.raises(MemoryInvalid) as refused:
        await memory.append(["not stored either", message])
    assert path in refused.value.message
    assert len(refused.value.message) < 400
    assert (await memory.read()).version == "absent"


@pytest.mark.parametrize(
    "answer",
    [
        {"role": "assistant", "content": "Yes.", "refusal": None, "annotations": [], "audio": None},
        {"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": "end_turn"},
    ],
    ids=["openai", "anthropic"],
)
async def test_a_model_s_answer_as_its_api_gives_it_is_refused_with_its_reader(
    open_memory: OpenMemory, answer: dict[str, Any]
) -> None:
    with pytest.raises(MemoryInvalid, match="messages_from_openai and messages_from_anthropic read that"):
        await open_memory().append(answer)


async def test_what_is_as_deep_as_allowed_is_read_back(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.append({"role": "user", "content": "x", "metadata": nested(99)})
    assert (await memory.read()).messages[0].metadata == nested(99)


async def test_a_message_that_comes_from_a_view_may_be_appended_again(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.append([Message.user("one", metadata={"n": 1}), Message.assistant("two")])
    shown = json.loads(json.dumps((await memory.read()).to_dict()))["messages"]
    shown[0]["provenance"] = {"workflow_id": "w", "of_a_newer_version": True}
    await memory.append(shown)
    assert [message.text for message in (await memory.read()).messages] == ["one", "two", "one", "two"]


def test_no_calls_may_be_said_in_any_way() -> None:
    nothing: list[Any] = [None, [], ()]
    assert [Message.assistant("x", tool_calls=calls).tool_calls for calls in nothing] == [(), (), ()]


@pytest.mark.parametrize("calls", [5, "id", {"id": "1"}])
def test_calls_that_are_no_list_are_invalid(calls: Any) -> None:
    with pytest.raises(InvalidValue, match=r"^tool_calls: must be a list"):
        Message.assistant("x", tool_calls=calls)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Message.user(""), "content: is empty; a message of the role user needs text or parts"),
        (lambda: Message.system([]), "content: is empty; a message of the role system needs text or parts"),
        (Message.assistant, "content: is empty; a message of the role assistant needs text, parts or tool calls"),
    ],
)
def test_a_message_without_content_is_told_what_its_role_may_have(make: Callable[[], Message], sentence: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        make()
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("data", "cure"),
    [
        ({"role": "developer", "content": "x"}, "; write a developer message as 'system'"),
        ({"role": "function", "content": "x"}, "; write a function message as 'tool'"),
        ({"role": "tool", "tool_call_id": "c1", "content": {"eta": 3}}, "not dict; json.dumps makes text of it"),
    ],
)
def test_what_other_apis_know_is_refused_with_what_to_write(data: dict[str, Any], cure: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        Message.from_dict(data)
    assert str(refused.value).endswith(cure)


def test_arguments_that_are_no_text_are_refused_with_what_to_write() -> None:
    arguments: Any = {"order": "A-17"}
    with pytest.raises(InvalidValue, match=r"^tool_calls\.arguments: must be JSON text, .*json\.dumps makes it$"):
        ToolCall("c1", "track", arguments)


Call = Callable[[Memory], Any]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        pytest.param(lambda memory: memory.read(ids="a-1-b"), "ids", id="read-one-text"),
        pytest.param(lambda memory: memory.touch("a-1-b"), "ids", id="touch-one-text"),
        pytest.param(lambda memory: memory.clear(), "confirm", id="clear-unconfirmed"),
        pytest.param(lambda memory: memory.delete("a-1-b"), "ids", id="delete-one-text"),
        pytest.param(lambda memory: memory.delete([5]), "ids[0]", id="delete-number"),
        pytest.param(lambda memory: memory.read(ids=MANY), "ids", id="read-too-many"),
        pytest.param(lambda memory: memory.touch(MANY), "ids", id="touch-too-many"),
        pytest.param(lambda memory: memory.pin(MANY), "ids", id="pin-too-many"),
        pytest.param(lambda memory: memory.unpin(MANY), "ids", id="unpin-too-many"),
        pytest.param(lambda memory: memory.delete(MANY), "ids", id="delete-too-many"),
        pytest.param(lambda memory: memory.read(limit=2.5), "limit", id="limit-fraction"),
        pytest.param(lambda memory: memory.read(limit=float("nan")), "limit", id="limit-nan"),
        pytest.param(lambda memory: memory.read(limit="3"), "limit", id="limit-text"),
        pytest.param(lambda memory: memory.read(max_tokens=True), "max_tokens", id="tokens-bool"),
        pytest.param(lambda memory: memory.read(max_tokens=-1), "max_tokens", id="tokens-negative"),
        pytest.param(lambda memory: memory.read(sections=["sytem"]), "sections", id="section-misspelt"),
        pytest.param(lambda memory: memory.read(sections=[5]), "sections", id="section-number"),
        pytest.param(lambda memory: memory.read(sections=5), "sections", id="sections-number"),
        pytest.param(lambda memory: memory.read(sections="system"), "sections", id="sections-text"),
        pytest.param(lambda memory: memory.read(before_id=5), "before_id", id="before-number"),
        pytest.param(lambda memory: memory.restore(5), "backup_id", id="backup-number"),
        pytest.param(lambda memory: memory.write("x", if_version=""), "if_version", id="version-empty"),
        pytest.param(lambda memory: memory.write("x", if_version=3), "if_version", id="version-number"),
        pytest.param(lambda memory: memory.write("x", if_version="SECRET" * 9), "if_version", id="version-other"),
        pytest.param(lambda memory: memory.read(since_version="SECRET"), "since_version", id="since-other"),
        pytest.param(lambda memory: memory.append("x", operation_id=""), "operation_id", id="operation-empty"),
        pytest.param(lambda memory: memory.append("x", operation_id=7), "operation_id", id="operation-number"),
        pytest.param(lambda memory: memory.append("x", operation_id=HALF), "operation_id", id="operation-half"),
        pytest.param(lambda memory: memory.flush(operation_id=HALF), "operation_id", id="flush-half"),
        pytest.param(lambda memory: memory.append("x", operation_id="x" * 1001), "operation_id", id="operation-long"),
    ],
)
async def test_a_wrong_argument_is_refused_by_its_name(open_memory: OpenMemory, call: Call, name: str) -> None:
    memory = open_memory()
    await memory.append("stays")
    with pytest.raises(MemoryInvalid, match=f"^{name.replace('[', '.').replace(']', '.')}") as refused:
        await call(memory)
    assert "SECRET" not in str(refused.value)
    assert [message.text for message in (await memory.read()).messages] == ["stays"]


async def test_ids_that_are_no_valid_text_name_nothing(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.append("stays")
    assert (await memory.read(ids=[HALF])).messages == ()
    assert await memory.touch([HALF, "\0"]) == ()
    assert len((await memory.delete([HALF, "no-such-id"])).not_found) == 2


async def test_ids_with_a_comma_are_not_taken_for_two(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.append("stays")
    await memory.delete(["a", "b"], operation_id="one")
    with pytest.raises(MemoryOperationConflict):
        await memory.delete(["a,b"], operation_id="one")


async def test_nothing_none_and_missing_are_three_things(open_memory: OpenMemory) -> None:
    memory = open_memory()
    await memory.append(["one", "two"])
    assert [len((await memory.read(limit=limit)).messages) for limit in (None, 0, 1, 10**30)] == [2, 0, 1, 2]
    assert [len((await memory.read(max_tokens=most)).messages) for most in (None, 0, 10**30)] == [2, 0, 2]
    assert [len((await memory.read(ids=ids)).messages) for ids in (None, ())] == [2, 0]
    assert [len((await memory.read(sections=names)).messages) for names in (None, ())] == [2, 0]


@pytest.mark.parametrize("project", ["", "Big", "a/b", "{a}", "a" * 101, HALF])
async def test_a_project_that_is_no_id_is_refused_wherever_it_is_given(folder: Path, project: str) -> None:
    in_process = {"resource": "memory", "id": "x", "max_tokens": 900, "persistence": {"type": "in_memory"}}
    with pytest.raises(MemoryInvalid, match=r"^project"):
        await MemoryClient.connect(memories=Registry.from_resources([in_process]), project=project)
    with pytest.raises(MemoryInvalid, match=r"^project: "):
        MemoryPlugin(redis_url="redis://localhost", memories=[folder], project=project)


async def test_a_client_without_a_url_is_told_that_it_reads_no_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REDIS_URL", "redis://localhost")
    with pytest.raises(
        MemoryInvalid, match=r"^redis_url: is not given, .*set REDIS_URL for .*which reads no environment$"
    ):
        await MemoryClient.connect(memories=[folder])


@pytest.mark.parametrize("position", ["", "x", "a/b", "redis/owners", "redis/owners/", "redis/owners/x", "redis/x/0"])
async def test_a_position_that_no_sweep_gave_is_refused(in_redis: MemoryClient, position: str) -> None:
    nobody: Any = None  # no owner and no memory is looked at
    with pytest.raises(MemoryInvalid, match="is not one that"):
        await Janitor(in_redis, nobody, nobody).sweep(position)
