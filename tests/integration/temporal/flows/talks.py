"""Workflows that talk: with the handle, and by reference through an activity of the user."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from temporalio import workflow
from temporalio.common import RetryPolicy

from durable_memory import AgentMemory, MemoryRef, Message, ToolCall
from tests.integration.temporal.flows.questions import Question

_TURN = workflow.ActivityConfig(
    start_to_close_timeout=timedelta(seconds=20), retry_policy=RetryPolicy(initial_interval=timedelta(milliseconds=10))
)


@workflow.defn
class UseEveryMethod:
    """Calls each method of the handle and returns what they answered."""

    @workflow.run
    async def run(self, key: str) -> dict[str, Any]:
        """See class."""
        memory = AgentMemory("chat", key=key)
        text = await memory.append("Where is my parcel?")
        message = await memory.append(Message.assistant("I look it up.", tool_calls=[ToolCall("c1", "track")]))
        mapping = await memory.append({"role": "tool", "tool_call_id": "c1", "content": "It is in Lyon."})
        several = await memory.append(
            ["Thank you.", Message.system("Be kind."), {"role": "user", "content": "Bye."}], want_view=True
        )
        whole = await memory.read()
        unchanged = await memory.read(since_version=whole.version)
        older = await memory.read(limit=2, before_id=several.ids[0])
        short = await memory.read(max_tokens=30)
        touched = await memory.touch([*text.ids, "unknown"])
        pinned = await memory.pin([*message.ids, "unknown"])
        unpinned = await memory.unpin(mapping.ids)
        deleted = await memory.delete(text.ids)
        planned = await memory.flush(force=True, dry_run=True, max_messages=2)
        flushed = await memory.flush(force=True, max_messages=2)
        stats = await memory.stats()
        health = await memory.health()
        written = await memory.write("A new start.", if_version=(await memory.read()).version)
        after_write = await memory.read()
        cleared = await memory.clear(confirm=True, backup=True)
        empty = await memory.read()
        backups = (await memory.stats()).backups
        await memory.restore(str(cleared.backup_id), if_version="absent")
        restored = await memory.read()
        return {
            "appended": [len(result.ids) for result in (text, message, mapping, several)],
            "whole": [entry.text for entry in whole.messages],
            "appended_with_the_view": several.view == whole,
            "unchanged": [unchanged.version == whole.version, len(unchanged.messages)],
            "older": [entry.text for entry in older.messages],
            "nothing_recorded": await memory.recorded_turn(operation_id="none"),
            "short": [entry.text for entry in short.messages],
            "short_tokens": short.tokens,
            "touched_the_live_one": touched == text.ids,
            "pinned_and_unpinned_its_group": (pinned, unpinned) == (message.ids, mapping.ids),
            "deleted_it": deleted.removed == text.ids,
            "planned_what_it_flushed": (planned.outcome, planned.removed_ids) == ("planned", flushed.removed_ids),
            "flushed": flushed.outcome,
            "messages_after_flush": dict(stats.messages),
            "healthy": health.healthy,
            "removed_by_write": written.removed,
            "after_write": [entry.text for entry in after_write.messages],
            "cleared": cleared.cleared,
            "backups": [backup.id == cleared.backup_id for backup in backups],
            "restored": [entry.text for entry in restored.messages],
            "after_clear": [empty.version, len(empty.messages)],
        }


@workflow.defn
class TalkCarefully:
    """Passes text by reference to an activity that asks no model for a turn that is recorded."""

    @workflow.run
    async def run(self, key: str, text: str) -> str:
        """See class."""
        ref = AgentMemory("chat", key=key).ref
        answer: str = await workflow.execute_activity("careful_turn", args=[ref, text], result_type=str, **_TURN)
        return answer


@workflow.defn
class RecordTwice:
    """Records a turn under one operation id, twice, in other words; returns what each call answered."""

    @workflow.run
    async def run(self, key: str) -> list[dict[str, Any]]:
        """See class."""
        memory = AgentMemory("chat", key=key)
        answers = []
        for words in ("It is in Lyon.", "I have no idea."):
            turn = await memory.record_turn(["Where is it?", Message.assistant(words)], operation_id="turn-1")
            answers.append(
                {
                    "texts": [message.text for message in turn.messages],
                    "ids": [message.id for message in turn.messages],
                    "result_ids": list(turn.result.ids),
                    "already_applied": turn.result.already_applied,
                }
            )
        return answers


@workflow.defn
class ReadHere:
    """Reads the view in a local activity; returns its texts."""

    @workflow.run
    async def run(self, key: str, max_tokens: int) -> list[str]:
        """See class."""
        view = await AgentMemory("chat", key=key).read(max_tokens=max_tokens, local=True)
        return [message.text for message in view.messages]


@workflow.defn
class Talk:
    """Passes a reference and the user's words to one model activity."""

    @workflow.run
    async def run(self, key: str, text: str) -> str:
        """See class."""
        memory = AgentMemory("chat", key=key)
        answer: str = await workflow.execute_activity("model_turn", args=[memory.ref, text], result_type=str, **_TURN)
        return answer


@workflow.defn
class TalkOnBehalf:
    """Was given a reference by its caller and makes no handle of its own."""

    @workflow.run
    async def run(self, ref: MemoryRef, text: str) -> str:
        """See class."""
        answer: str = await workflow.execute_activity("model_turn", args=[ref, text], result_type=str, **_TURN)
        return answer


@workflow.defn
class TalkInside:
    """Was given a reference inside its input, and passes it on inside the input of its activity."""

    @workflow.run
    async def run(self, question: Question) -> str:
        """See class."""
        answer: str = await workflow.execute_activity("answer_question", question, result_type=str, **_TURN)
        return answer


TALKS: tuple[type, ...] = (UseEveryMethod, TalkCarefully, RecordTwice, ReadHere, Talk, TalkOnBehalf, TalkInside)
