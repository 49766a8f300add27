"""The border: what may be sent, how it is refused, and what stays in histories."""

from __future__ import annotations

import base64
from typing import Any

import pytest
import redis.asyncio

from durable_memory import Message
from durable_memory.activities import wire
from durable_memory.activities.faults import to_application_error
from durable_memory.memory import errors
from tests.integration.temporal.flows.by_name import (
    AppendWhatCannotBeCarried,
    AskWhatCannotBeCarried,
    CallByName,
    CallWithTwoArguments,
    NameByBrokenText,
)
from tests.integration.temporal.flows.calls import Read
from tests.integration.temporal.flows.talks import Talk
from tests.integration.temporal.observing import attempts_of, event_types_of, fault_of
from tests.integration.temporal.rig import Rig, unique

FINAL = {
    "MemoryInvalid",
    "MemoryUnknownResource",
    "MemoryKeyInvalid",
    "MemoryAccessDenied",
    "MemoryOversize",
    "MemoryOrphanResult",
    "MemoryConflict",
    "MemoryOperationConflict",
    "MemoryOperationExpired",
    "MemoryDamaged",
    "MemoryUndecryptable",
    "MemoryModelRefused",
    "MemoryBudgetSpent",
}
REPEATED = {
    "MemoryUnavailable",
    "MemoryBusy",
    "MemoryBackpressure",
    "MemoryContractTooNew",
    "MemoryModelUnavailable",
    "MemoryWrongWorker",
    "MemorySummaryRejected",
    "MemoryRedactionFailed",
}


def fault_classes() -> set[type[errors.MemoryFault]]:
    """Returns every error class of the product that takes a text."""
    found = {item for item in vars(errors).values() if isinstance(item, type)}
    classes = {item for item in found if issubclass(item, errors.MemoryFault)}
    return classes - {errors.MemoryFault, errors.InvalidDeclarations}


def test_the_types_that_cross_the_border_are_pinned_with_their_verdict_on_retries() -> None:
    crossing = [to_application_error(kind("words")) for kind in fault_classes()]
    assert {error.type for error in crossing if error.non_retryable} == FINAL
    assert {error.type for error in crossing if not error.non_retryable} == REPEATED


def request(memory: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """Returns a request for a memory of no other test."""
    return {"memory": {"resource": "chat", "key": unique("key"), **(memory or {})}, **fields}


def append(*messages: dict[str, Any], **memory: Any) -> dict[str, Any]:
    """Returns an append by name."""
    return request(memory, messages=list(messages))


HELLO = {"role": "user", "content": "Hello."}

REFUSED: dict[str, tuple[str, Any, str, str]] = {
    "a misspelt field": (
        wire.APPEND,
        {**append(HELLO), "mesages": []},
        "MemoryInvalid",
        "mesages: is not a field of this request; did you mean 'messages'?",
    ),
    "a misspelt field of the memory": (
        wire.READ,
        request({"ressource": "chat"}),
        "MemoryInvalid",
        "memory.ressource: is not a field of this request; did you mean 'resource'?",
    ),
    "a misspelt field of a message": (
        wire.APPEND,
        append({"role": "user", "contnet": "Hello."}),
        "MemoryInvalid",
        "messages[0].contnet: is not a field of a message; did you mean 'content'?",
    ),
    "a missing field": (wire.APPEND, request(), "MemoryInvalid", "messages: is missing"),
    "a value of a wrong type": (wire.READ, request(limit="many"), "MemoryInvalid", "limit: "),
    "text instead of a request": (wire.APPEND, "Hello.", "MemoryInvalid", "request: must be an object, not str"),
    "nothing instead of a request": (wire.APPEND, None, "MemoryInvalid", "request: must be an object, not NoneType"),
    "a negative limit": (wire.READ, request(limit=-1), "MemoryInvalid", "limit: -1 is negative"),
    "no messages": (wire.APPEND, append(), "MemoryInvalid", "messages: 0 messages"),
    "an unconfirmed clear": (wire.CLEAR, request(), "MemoryInvalid", "confirm: "),
    "an unknown resource": (
        wire.APPEND,
        append(HELLO, resource="chatt"),
        "MemoryUnknownResource",
        "no memory resource 'chatt' is declared; did you mean 'chat'?",
    ),
    "a key with a space at its end": (wire.READ, request({"key": "anna "}), "MemoryKeyInvalid", "chat"),
    "another agent's memory": (wire.READ, request({"agent": "booking"}), "MemoryAccessDenied", "'booking'"),
    "a message larger than the budget": (
        wire.APPEND,
        append({"role": "user", "content": "word " * 10_000}),
        "MemoryOversize",
        "10005 tokens, but messages may fill at most 3600 (4000 less 400 kept for summaries); shorten it",
    ),
    "the result of a call that was never made": (
        wire.APPEND,
        append({"role": "tool", "tool_call_id": "c1", "content": "42"}),
        "MemoryOrphanResult",
        "a tool call that this memory never saw",
    ),
    "a list that is wrong at each of its places": (
        wire.APPEND,
        request(messages=["hi"] * 20_000),
        "MemoryInvalid",
        "and 19,990 more",
    ),
    "a version of the contract that never was": (wire.READ, request(contract=0), "MemoryInvalid", "contract: 0"),
    "a version that the memory has not": (
        wire.WRITE,
        request(messages=[HELLO], if_version="0000000000000000:1:0000"),
        "MemoryConflict",
        "absent",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_can_never_succeed_is_refused_by_name_and_tried_once(rig: Rig, case: str) -> None:
    activity, sent, kind, words = REFUSED[case]
    handle = await rig.start(CallByName.run, activity, sent)
    fault = await fault_of(handle.result())
    assert fault.type == kind
    assert words in fault.message
    assert await attempts_of(handle, activity) == [1]


async def test_a_call_with_two_arguments_is_refused_for_good(rig: Rig) -> None:
    handle = await rig.start(CallWithTwoArguments.run, wire.READ)
    fault = await fault_of(handle.result())
    assert (fault.type, fault.non_retryable) == ("MemoryInvalid", True)
    assert "2 arguments" in fault.message


async def test_an_operation_id_with_other_content_is_refused_once(rig: Rig) -> None:
    first = {**append(HELLO), "operation_id": "turn-1"}
    await rig.run(CallByName.run, wire.APPEND, first)
    other = {**first, "messages": [{"role": "user", "content": "Something else."}]}
    handle = await rig.start(CallByName.run, wire.APPEND, other)
    assert (await fault_of(handle.result())).type == "MemoryOperationConflict"
    assert await attempts_of(handle, wire.APPEND) == [1]
    again = await rig.run(CallByName.run, wire.APPEND, first)
    assert again["already_applied"] is True


async def test_a_memory_that_foreign_hands_changed_says_so_once(rig: Rig, redis_url: str) -> None:
    sent = append(HELLO)
    await rig.run(CallByName.run, wire.APPEND, sent)
    memory = rig.memory("chat", sent["memory"]["key"])
    async with redis.asyncio.from_url(redis_url) as foreign:
        [order] = [key async for key in foreign.scan_iter(match=f"*{memory.id.project}*{memory.id.key}*order:short*")]
        await foreign.delete(order)
    handle = await rig.start(CallByName.run, wire.APPEND, sent)
    fault = await fault_of(handle.result())
    assert fault.type == "MemoryDamaged"
    assert memory.id.key not in fault.message
    assert await attempts_of(handle, wire.APPEND) == [1]


async def test_a_newer_contract_waits_for_a_newer_worker(rig: Rig) -> None:
    handle = await rig.start(CallByName.run, wire.READ, request(contract=2, new_field=True), 3)
    assert (await fault_of(handle.result())).type == "MemoryContractTooNew"
    assert await attempts_of(handle, wire.READ) == [3]


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("3 MB", "3,000,"),
        ("2.2 MB", "2,200,"),
        ("bytes", "not bytes"),
        ("bytes in metadata", "messages[0].metadata.raw: a bytes is not JSON data"),
        ("set", "not set"),
        ("set in metadata", "messages[0].metadata.tags: a set is not JSON data"),
        ("NaN", "messages[0].metadata.price: nan is not a JSON number"),
        ("unknown role", "messages[0].role: must be one of"),
        ("misspelt field", "messages[0].contnet: is not a field of a message; did you mean 'content'?"),
        ("empty", "messages[0].content: is empty"),
        ("a number", "messages: must be text"),
    ],
)
async def test_what_cannot_be_carried_fails_the_workflow_before_a_command(rig: Rig, case: str, words: str) -> None:
    handle = await rig.start(AppendWhatCannotBeCarried.run, case)
    fault = await fault_of(handle.result())
    assert fault.type == "MemoryInvalid"
    assert fault.non_retryable
    assert words in fault.message
    assert len(await event_types_of(handle)) < 13  # start, one task, the cleanup and its task, the end
    assert await attempts_of(handle, wire.APPEND) == []


@pytest.mark.parametrize(
    ("case", "words"),
    [
        ("key", "memory.key: a object is not JSON data"),
        ("bytes as key", "memory.key: a bytes is not JSON data; decode it"),
        ("input", "input.user_id: a object is not JSON data"),
        ("input that is text", "memory.input: "),
        ("operation", "operation_id: a object is not JSON data"),
        ("ids", "ids[0]: must be text, not object"),
        ("limit", "limit: a object is not JSON data"),
        ("sections", "sections: must be a list of names of sections, not object"),
    ],
)
async def test_arguments_that_are_no_json_fail_the_workflow_instead_of_hanging_it(
    rig: Rig, case: str, words: str
) -> None:
    fault = await fault_of(rig.run(AskWhatCannotBeCarried.run, case))
    assert fault.type == "MemoryInvalid"
    assert words in fault.message


@pytest.mark.parametrize(
    ("case", "name"),
    [
        ("key", "memory.key"),
        ("input", "input.user.ids[0]"),
        ("operation", "operation_id"),
        ("input of an agent", "input.trip_id"),
    ],
)
async def test_a_name_of_broken_text_is_refused_since_two_of_them_would_be_repaired_to_one(
    rig: Rig, case: str, name: str
) -> None:
    fault = await fault_of(rig.run(NameByBrokenText.run, case))
    assert fault.type == "MemoryInvalid"
    assert f"{name}: has NUL or half of a surrogate pair" in fault.message


async def test_the_size_that_counts_is_the_encoded_one(rig: Rig) -> None:
    # 200,000 emoji are 0.8 MB of UTF-8 and 2.4 MB as Temporal's converter escapes them.
    fault = await fault_of(rig.run(AppendWhatCannotBeCarried.run, "emoji"))
    assert fault.type == "MemoryInvalid"
    assert "2,400," in fault.message


async def test_a_view_too_large_for_a_workflow_is_refused_with_both_numbers_and_read_by_reference(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("archive", key)
    for _ in range(2):
        await memory.append("A long line of an old protocol. " * 37_000)
    handle = await rig.start(Read.run, "archive", key)
    fault = await fault_of(handle.result())
    assert fault.type == "MemoryOversize"
    assert "1,500,000" in fault.message
    assert "max_tokens" in fault.message
    assert await attempts_of(handle, wire.READ) == [1]
    assert len((await memory.read()).messages) == 2


async def test_an_append_whose_view_is_too_large_for_a_workflow_says_that_it_was_appended(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("archive", key)
    for _ in range(2):
        await memory.append("A long line of an old protocol. " * 37_000)
    request = {
        "memory": {"resource": "archive", "key": key},
        "messages": [{"role": "user", "content": "One more."}],
        "want_view": True,
    }
    handle = await rig.start(CallByName.run, wire.APPEND, request)
    fault = await fault_of(handle.result())
    assert fault.type == "MemoryOversize"
    assert "what was appended stays" in fault.message
    assert await attempts_of(handle, wire.APPEND) == [1]
    assert [message.text for message in (await memory.read(limit=1)).messages] == ["One more."]


async def test_a_turn_too_large_for_a_workflow_is_refused_at_once_and_taken_up_by_reference(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("archive", key)
    # 0.8 MB of UTF-8, and three times as much as Temporal's converter escapes it.
    await memory.record_turn("\N{GRINNING FACE}" * 200_000, operation_id="turn")
    request = {"memory": {"resource": "archive", "key": key}, "operation_id": "turn"}
    handle = await rig.start(CallByName.run, wire.RECORDED_TURN, request)
    fault = await fault_of(handle.result())
    assert fault.type == "MemoryOversize"
    assert "2,000,000" in fault.message
    assert "by reference" in fault.message
    assert await attempts_of(handle, wire.RECORDED_TURN) == [1]
    turn = await memory.recorded_turn(operation_id="turn")
    assert turn is not None
    assert len(turn.messages) == 1


async def test_a_flush_of_more_messages_than_an_answer_can_name_is_answered_without_their_ids(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("log", key)
    for batch in range(55):
        await memory.append([f"{batch}/{number}" for number in range(1_000)])
    request = {"memory": {"resource": "log", "key": key}, "force": True}
    answer = await rig.run(CallByName.run, wire.FLUSH, request)
    assert (answer["outcome"], answer["messages_before"], answer["messages_after"]) == ("dropped", 55_000, 0)
    assert answer["removed_ids"] == []
    assert (await memory.read()).messages == ()


async def test_the_history_of_a_turn_by_reference_holds_the_users_words_and_nothing_else_of_the_view(rig: Rig) -> None:
    key = unique("key")
    memory = rig.memory("chat", key)
    await memory.append(Message.user("The code of the vault is tangerine."))
    handle = await rig.start(Talk.run, key, "Hello, it is me.")
    await handle.result()
    history = (await handle.fetch_history()).to_json_dict()
    payloads = str(_decoded(history))
    assert "Hello, it is me." in payloads
    assert "tangerine" not in payloads


def _decoded(node: Any) -> Any:
    """Returns a history with its payloads as text."""
    if isinstance(node, dict):
        return {
            name: base64.b64decode(value).decode() if name == "data" and isinstance(value, str) else _decoded(value)
            for name, value in node.items()
        }
    return [_decoded(item) for item in node] if isinstance(node, list) else node
