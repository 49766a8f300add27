"""The handle in a workflow, and the reference that it passes to activities."""

from __future__ import annotations

from durable_memory import AgentRef, MemoryRef
from tests.integration.temporal.flows.calls import Append, Write, WriteBack
from tests.integration.temporal.flows.questions import Question
from tests.integration.temporal.flows.talks import (
    ReadHere,
    RecordTwice,
    Talk,
    TalkCarefully,
    TalkInside,
    TalkOnBehalf,
    UseEveryMethod,
)
from tests.integration.temporal.observing import activities_of, attempts_of, fault_of
from tests.integration.temporal.rig import Rig, unique
from tests.integration.temporal.user_activities import FAILS_ONCE


async def test_each_method_of_the_handle_answers_what_the_memory_did(rig: Rig) -> None:
    answers = await rig.run(UseEveryMethod.run, unique("user"))
    short_tokens = answers.pop("short_tokens")
    assert short_tokens <= 30
    assert answers == {
        "appended": [1, 1, 1, 3],
        "whole": [
            "Be kind.",
            "Where is my parcel?",
            "I look it up.",
            "It is in Lyon.",
            "Thank you.",
            "Bye.",
        ],
        "appended_with_the_view": True,
        "unchanged": [True, 0],
        "older": ["I look it up.", "It is in Lyon."],
        "nothing_recorded": None,
        "short": ["Be kind.", "Thank you.", "Bye."],
        "touched_the_live_one": True,
        "pinned_and_unpinned_its_group": True,
        "deleted_it": True,
        "planned_what_it_flushed": True,
        "flushed": "committed",
        "messages_after_flush": {"system": 1, "long_term": 1, "short_term": 2},
        "healthy": True,
        "removed_by_write": 4,
        "after_write": ["A new start."],
        "backups": [True],
        "restored": ["A new start."],
        "cleared": 1,
        "after_clear": ["absent", 0],
    }


async def test_a_turn_that_is_recorded_again_in_other_words_answers_the_first_one(rig: Rig) -> None:
    key = unique("user")
    first, second = await rig.run(RecordTwice.run, key)
    assert first["already_applied"] is False
    assert first["ids"] == first["result_ids"]
    assert second == {**first, "already_applied": True}
    assert await rig.texts("chat", key) == first["texts"] == ["Where is it?", "It is in Lyon."]


async def test_a_stale_version_refuses_a_write_and_changes_nothing(rig: Rig) -> None:
    key = unique("user")
    memory = rig.memory("chat", key)
    await memory.append("one")
    stale = (await memory.read()).version
    await memory.append("two")
    fault = await fault_of(rig.run(Write.run, key, "three", stale))
    assert fault.type == "MemoryConflict"
    assert await rig.texts("chat", key) == ["one", "two"]


async def test_a_summary_that_a_workflow_writes_back_is_an_ordinary_message(rig: Rig) -> None:
    memory = rig.memory("chat", unique("user"))
    await memory.append([f"Parcel {number} left the depot in Ghent." for number in range(20)])
    assert await rig.run(WriteBack.run, "chat", memory.id.key) == ["assistant", "user", "user"]
    assert (await memory.stats()).messages == {"system": 0, "long_term": 0, "short_term": 3}


async def test_an_activity_reads_and_records_by_reference(rig: Rig) -> None:
    key = unique("user")
    assert await rig.run(Talk.run, key, "Hello.") == "Attempt 1 knew 0 messages."
    assert await rig.run(Talk.run, key, "And again.") == "Attempt 1 knew 2 messages."
    assert await rig.texts("chat", key) == [
        "Hello.",
        "Attempt 1 knew 0 messages.",
        "And again.",
        "Attempt 1 knew 2 messages.",
    ]


async def test_a_local_read_gives_the_view_without_an_activity_task(rig: Rig) -> None:
    key = unique("user")
    await rig.memory("chat", key).append(["one", "two"])
    handle = await rig.start(ReadHere.run, key, 1000)
    assert await handle.result() == ["one", "two"]
    assert await activities_of(handle) == ["memory.cleanup"]


async def test_a_local_read_that_can_never_succeed_fails_the_workflow_once(rig: Rig) -> None:
    assert (await fault_of(rig.run(ReadHere.run, unique("user"), -1))).type == "MemoryInvalid"


async def test_a_turn_by_reference_takes_few_events_and_bytes_of_history(rig: Rig) -> None:
    handle = await rig.start(Talk.run, unique("user"), "Hello.")
    await handle.result()
    history = await handle.fetch_history()
    names = [event.WhichOneof("attributes") for event in history.events]
    scheduled = names.index("activity_task_scheduled_event_attributes")
    cleanup = names.index("activity_task_scheduled_event_attributes", scheduled + 1)
    turn = history.events[scheduled:cleanup]
    assert len(turn) <= 6
    assert sum(event.ByteSize() for event in turn) <= 2_000


async def test_a_retried_activity_records_one_turn_and_gets_the_first_one(rig: Rig) -> None:
    key = unique("user")
    handle = await rig.start(Talk.run, key, FAILS_ONCE)
    # The second attempt knew two messages and had other words; what stands is what the first one recorded.
    assert await handle.result() == "Attempt 1 knew 0 messages."
    assert await attempts_of(handle, "model_turn") == [2]
    assert await rig.texts("chat", key) == [FAILS_ONCE, "Attempt 1 knew 0 messages."]


async def test_a_retried_activity_that_asks_first_finds_its_turn_recorded_and_asks_no_model(rig: Rig) -> None:
    key = unique("user")
    assert await rig.run(TalkCarefully.run, key, "Hello.") == "Attempt 1 knew 0 messages."
    handle = await rig.start(TalkCarefully.run, key, FAILS_ONCE)
    assert await handle.result() == "recorded: Attempt 1 knew 2 messages."
    assert await attempts_of(handle, "careful_turn") == [2]
    assert await rig.texts("chat", key) == [
        "Hello.",
        "Attempt 1 knew 0 messages.",
        FAILS_ONCE,
        "Attempt 1 knew 2 messages.",
    ]


async def test_two_workflow_types_share_one_memory(rig: Rig) -> None:
    key = unique("user")
    await rig.run(Talk.run, key, "Hello.")
    view = await rig.run(Append.run, MemoryRef("chat", key=key), "I am another workflow.")
    assert [message["content"] for message in view] == [
        "Hello.",
        "Attempt 1 knew 0 messages.",
        "I am another workflow.",
    ]
    assert {message["provenance"]["workflow_id"] for message in view[:2]} != {view[2]["provenance"]["workflow_id"]}


async def test_a_reference_from_outside_needs_no_handle(rig: Rig) -> None:
    key = unique("user")
    ref = rig.memory("chat", key).ref
    handle = await rig.start(TalkOnBehalf.run, ref, "Hello.")
    assert await handle.result() == "Attempt 1 knew 0 messages."
    assert len(await rig.texts("chat", key)) == 2
    assert await activities_of(handle) == ["model_turn", "memory.cleanup"]


async def test_a_reference_inside_an_input_counts_as_one_passed_on(rig: Rig) -> None:
    trip = unique("trip")
    question = Question([AgentRef("booking", {"trip_id": trip})], "To Ghent on Monday.")
    handle = await rig.start(TalkInside.run, question)
    assert await handle.result() == "1 memories have it."
    assert await rig.texts("trips", f"trip:{trip}") == ["To Ghent on Monday."]
    assert await activities_of(handle) == ["answer_question", "memory.cleanup"]


async def test_input_renders_the_key_of_the_resource(rig: Rig) -> None:
    user = unique("anna")
    await rig.run(Append.run, MemoryRef("chat", input={"user_id": user}), "Hello.")
    assert await rig.texts("chat", f"user:{user}") == ["Hello."]


async def test_input_without_the_variable_of_the_template_is_no_key(rig: Rig) -> None:
    fault = await fault_of(rig.run(Append.run, MemoryRef("chat", input={"customer": "anna"}), "Hello."))
    assert fault.type == "MemoryKeyInvalid"
    assert "input.user_id" in fault.message


async def test_an_agent_renders_its_own_key_and_signs_its_messages(rig: Rig) -> None:
    trip = unique("trip")
    [message] = await rig.run(
        Append.run, MemoryRef("trips", input={"trip_id": trip}, agent="booking"), "Booked for Monday."
    )
    assert message["agent"] == "booking"
    assert await rig.texts("trips", f"trip:{trip}") == ["Booked for Monday."]


async def test_an_agent_may_not_use_a_memory_that_it_has_not_declared(rig: Rig) -> None:
    key = unique("user")
    fault = await fault_of(rig.run(Append.run, MemoryRef("chat", key=key, agent="booking"), "Hello."))
    assert fault.type == "MemoryAccessDenied"
    assert await rig.texts("chat", key) == []


async def test_an_agent_that_is_not_declared_is_unknown(rig: Rig) -> None:
    fault = await fault_of(rig.run(Append.run, MemoryRef("chat", key="k", agent="bookin"), "Hello."))
    assert fault.type == "MemoryUnknownResource"
    assert "did you mean 'booking'" in fault.message
