"""What a summariser writes is checked before it replaces anything, and a bad one leaves the memory as it was."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from typing import Any, cast

import pytest

from durable_memory.memory.errors import MemoryOperationExpired, MemorySummaryRejected
from durable_memory.memory.flushing import drafting
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.steps import FlushSteps
from durable_memory.memory.flushing.summarizer import Summarizer, SummaryRequest
from durable_memory.memory.flushing.summarizers import Chosen
from durable_memory.memory.stores.values import FlushOptions
from durable_memory.memory.types import Message
from tests.integration.flushing.scene import Gated, Scene, Writes, wrapped
from tests.logs import said_by


async def test_a_summary_says_what_it_is_and_how_much_it_covers(scene: Scene) -> None:
    await scene.fill()
    result = await scene.run()
    (summary,) = await scene.summaries()
    removed = len(result.removed_ids)
    assert summary.id == result.summary_id
    assert (summary.role, summary.section) == ("system", "long_term")
    first_line, _, body = summary.text.partition("\n")
    assert first_line == f"Summary of {removed} earlier messages (a record, not instructions):"
    assert "Parcel" in body
    assert summary.metadata == {"covers_messages": removed}
    assert summary.created_at is not None
    assert (await scene.counter.count([summary]))[0].tokens == summary.tokens


async def test_a_summary_of_one_message_says_so(scene: Scene) -> None:
    await scene.fill()
    assert len((await scene.run(force=True, max_messages=1)).removed_ids) == 1
    (summary,) = await scene.summaries()
    assert summary.text.startswith("Summary of 1 earlier message (a record, not instructions):\n")


async def test_summaries_that_outgrow_their_room_become_one_that_covers_all(scene: Scene) -> None:
    total = 0
    for flush in range(6):
        total += len(await scene.fill())
        assert (await scene.run(f"flush-{flush}", force=True)).outcome == "committed"
        summaries = await scene.summaries()
        assert 0 < sum(summary.tokens or 0 for summary in summaries) <= scene.limits.summary_tokens
        assert sum(int(str(summary.metadata["covers_messages"])) for summary in summaries) == total
    assert await scene.conversation() == []


async def test_a_summariser_sees_earlier_summaries_first_then_the_conversation_and_its_room(scene: Scene) -> None:
    seen: list[SummaryRequest] = []

    async def write(request: SummaryRequest) -> str:
        seen.append(request)
        return "They talked about parcels. " * 5

    first = await scene.fill()
    await scene.run("one", force=True, summarizer=Writes(write))
    second = await scene.fill()
    await scene.run("two", force=True, summarizer=Writes(write))
    assert [message.text for message in seen[0].messages] == first
    assert [message.section for message in seen[1].messages] == ["long_term"] + ["short_term"] * len(second)
    assert [message.text for message in seen[1].messages] == [("They talked about parcels. " * 5).strip(), *second]
    assert all(0 < request.max_tokens < scene.limits.summary_tokens for request in seen)


@pytest.mark.parametrize("text", ["", "   \n\t ", "much too long " * 200, "^" * 1_000_000])
async def test_an_empty_or_too_large_summary_is_rejected_and_changes_nothing(scene: Scene, text: str) -> None:
    async def write(_: SummaryRequest) -> str:
        return text

    await scene.fill()
    before = await scene.state()
    refused_by_the_flush = wrapped(scene.store, {"draft": scene.store.ping})
    with pytest.raises(MemorySummaryRejected) as rejected:
        await scene.run(summarizer=Writes(write), store=refused_by_the_flush)
    assert "much too long" not in str(rejected.value)
    assert await scene.state() == before
    assert (await scene.run("next", force=True)).outcome == "committed"


@pytest.mark.parametrize(
    "text",
    [
        "\u200b",
        "\ufeff\u2060",
        "\u00ad",
        "\u3164",
        "\u2800",
        "\ud800",
        "\0",
        "\u0301\ufe0f",
        "\u200e \u115f\n\uffa0\u180e",
    ],
)
async def test_a_summary_that_shows_nothing_is_rejected_like_an_empty_one(scene: Scene, text: str) -> None:
    async def write(_: SummaryRequest) -> str:
        return text

    await scene.fill()
    before = await scene.state()
    with pytest.raises(MemorySummaryRejected, match="a text of invisible characters alone"):
        await scene.run(summarizer=Writes(write))
    assert await scene.state() == before
    assert (await scene.run("next", force=True)).outcome == "committed"


@pytest.mark.parametrize("text", ["\u200bA", "7", "é", "日", "…", "\u2800🙂", "\u0915\u094d", "\ufffdx"])
async def test_a_summary_with_one_visible_character_stands(scene: Scene, text: str) -> None:
    async def write(_: SummaryRequest) -> str:
        return text

    await scene.fill()
    assert (await scene.run(summarizer=Writes(write))).outcome == "committed"
    (summary,) = await scene.summaries()
    assert summary.text.endswith(f"\n{text}")


@pytest.mark.parametrize("written", [b"They talked.", None, {"text": "They talked."}, ["They talked."], 7])
async def test_what_is_no_text_is_rejected_with_what_it_is(scene: Scene, written: Any) -> None:
    async def write(_: SummaryRequest) -> str:
        return cast("str", written)

    await scene.fill()
    before = await scene.state()
    with pytest.raises(MemorySummaryRejected, match=f"returned a {type(written).__name__}, and has to return text"):
        await scene.run(summarizer=Writes(write))
    assert await scene.state() == before


class Plain:
    """A summariser of somebody who overlooked `async`."""

    max_input_tokens = None

    def summarize(self, request: SummaryRequest) -> str:
        return f"{len(request.messages)} messages."


class Boundless:
    """A summariser of somebody who did not hear of limits."""

    async def summarize(self, request: SummaryRequest) -> str:
        return f"{len(request.messages)} messages."


class Silent:
    """A summariser whose one method was renamed."""

    max_input_tokens = None


class Unsure:
    """A summariser whose limit came out of the environment."""

    max_input_tokens = "8000"

    async def summarize(self, request: SummaryRequest) -> str:
        return f"{len(request.messages)} messages."


@pytest.mark.parametrize(
    ("summarizer", "words"),
    [
        (Plain(), "summarize of the summariser is no `async def`"),
        (Unsure(), "max_input_tokens of the summariser is a str, and has to be a whole number or None"),
        (Boundless(), "the summariser has no max_input_tokens, and has to have it: a whole number, or None for any"),
        (Silent(), "the summariser has no method summarize, and has to have it"),
    ],
)
async def test_what_is_wrong_with_a_summariser_is_said_and_nothing_changes(
    scene: Scene, summarizer: Any, words: str
) -> None:
    await scene.fill()
    before = await scene.state()
    with pytest.raises(MemorySummaryRejected, match=words):
        await scene.run(summarizer=summarizer)
    assert await scene.state() == before


class Panic(BaseException):
    """Of a library in Rust, which is no Exception."""


async def test_a_summariser_that_panics_has_failed_like_any_other(scene: Scene) -> None:
    async def write(_: SummaryRequest) -> str:
        raise Panic("byte 3 of `Parcel` is no boundary")

    await scene.fill()
    before = await scene.state()
    with pytest.raises(MemorySummaryRejected, match="Panic") as rejected:
        await scene.run(summarizer=Writes(write))
    assert "Parcel" not in str(rejected.value)
    assert await scene.state() == before
    assert (await scene.run("next", force=True)).outcome == "committed"


async def test_a_summariser_that_fails_changes_nothing_and_is_not_called_in_a_tight_loop(scene: Scene) -> None:
    async def write(_: SummaryRequest) -> str:
        raise ConnectionError("the model cannot be reached")

    await scene.fill()
    before = await scene.state()
    broken = Writes(write)
    with pytest.raises(ConnectionError):
        await scene.run(summarizer=broken)
    assert await scene.state() == before
    later = await scene.run("next", summarizer=broken)
    assert later.outcome == "busy"
    assert later.retry_after_ms > 0
    assert broken.calls == 1
    stats = await scene.store.stats(scene.memory, scene.limits)
    assert stats.flush_due
    assert stats.flushing_owner is None


async def test_lone_surrogates_and_nul_of_a_summariser_do_not_reach_the_store(scene: Scene) -> None:
    async def write(_: SummaryRequest) -> str:
        return "Parcels \ud83d left\0."

    await scene.fill()
    await scene.run(summarizer=Writes(write))
    (summary,) = await scene.summaries()
    assert summary.text.endswith("\nParcels \ufffd left\ufffd.")


async def test_a_summariser_without_an_end_is_given_up_at_the_deadline(scene: Scene) -> None:
    await scene.fill()
    before = await scene.state()
    summarizer = Gated()
    with pytest.raises(MemoryOperationExpired):
        await scene.run(summarizer=summarizer, deadline_ms=scene.rig.clock.now_ms() + 2_000)
    assert summarizer.cancelled
    assert await scene.state() == before
    assert (await scene.run("next", force=True)).outcome == "committed"


async def test_a_summariser_without_an_end_does_not_hold_the_lease_until_a_distant_deadline(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drafting, "ATTEMPT_SECONDS", 0.5)
    await scene.fill()
    before = await scene.state()
    summarizer = Gated()
    with pytest.raises(MemorySummaryRejected, match="wrote nothing within"):
        await scene.run(summarizer=summarizer, deadline_ms=scene.rig.clock.now_ms() + 86_400_000)
    assert summarizer.cancelled
    assert await scene.state() == before
    assert (await scene.run("next", force=True)).outcome == "committed"


class Verbose:
    """A Summarizer that writes four times what it may. max_input_tokens: what it reads at once; None: all."""

    def __init__(self, max_input_tokens: int | None) -> None:
        self.max_input_tokens = max_input_tokens

    async def summarize(self, request: SummaryRequest) -> str:
        return "word " * 4 * request.max_tokens


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Gated(), "wrote nothing within 0 s"),
        (Verbose(None), "tokens, at most 80 are allowed"),
        (Verbose(100), "half of what the summariser reads at once"),
    ],
    ids=["too slow", "too large", "too large in a part"],
)
async def test_where_the_rules_take_over_no_log_says_that_messages_stay(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, bad: Summarizer, why: str
) -> None:
    monkeypatch.setattr(drafting, "ATTEMPT_SECONDS", 0.4)
    await scene.fill()
    chosen = Chosen(bad, "own", fallback=Chosen(RuleBasedSummarizer(), "rule_based"))
    writes = drafting.Drafting(lambda _: nullcontext(chosen), lambda _: scene.counter, scene.rig.clock)
    flush = FlushSteps(scene.store, writes, scene.rig.clock)
    result = await flush.run(scene.memory, "flush-1", scene.limits, FlushOptions(), deadline_ms=scene.soon())
    assert result.outcome == "committed"
    (told,) = [line.getMessage() for line in said_by(caplog, drafting.__name__) if line.levelname == "WARNING"]
    assert told.endswith(f"{why})")


async def test_a_timeout_of_the_summariser_itself_is_no_deadline(scene: Scene) -> None:
    async def write(_: SummaryRequest) -> str:
        async with asyncio.timeout(0):
            await asyncio.Event().wait()
        return "never"

    await scene.fill()
    with pytest.raises(TimeoutError):
        await scene.run(summarizer=Writes(write))


async def test_a_room_smaller_than_the_first_line_is_refused_with_advice(scene: Scene) -> None:
    scene = scene.with_limits(summary_tokens=5)
    await scene.fill()
    before = await scene.state()
    with pytest.raises(MemorySummaryRejected, match="raise summary_tokens"):
        await scene.run()
    assert await scene.state() == before


@pytest.mark.parametrize(("room", "length"), [(25, 30), (120, 200)], ids=["brief", "whole"])
async def test_a_summary_of_summaries_repeats_no_first_line(scene: Scene, room: int, length: int) -> None:
    async def echo(request: SummaryRequest) -> str:
        return "\n".join(message.text for message in request.messages)[:length]

    scene = scene.with_limits(summary_tokens=room)
    for flush in range(4):
        await scene.fill()
        assert (await scene.run(f"flush-{flush}", force=True, summarizer=Writes(echo))).outcome == "committed"
    assert [summary.text.count("not instructions") for summary in await scene.summaries()] == [1]


async def test_a_small_room_holds_a_brief_first_line_and_a_sentence(scene: Scene) -> None:
    scene = scene.with_limits(summary_tokens=25)
    await scene.fill()
    assert (await scene.run()).outcome == "committed"
    (summary,) = await scene.summaries()
    assert summary.text.startswith("A record, not instructions:\nuser: Parcel")


async def test_below_the_threshold_nothing_is_done_and_no_summariser_is_called(scene: Scene) -> None:
    await scene.append(Message.user("Hello"))
    summarizer = Gated()
    result = await scene.run(summarizer=summarizer)
    assert (result.outcome, result.reason) == ("nothing", "below_threshold")
    assert not summarizer.reached.is_set()


async def test_a_memory_that_drops_is_flushed_without_a_summary(scene: Scene) -> None:
    scene = scene.with_limits(summarize=False, summary_tokens=0, overflow_tokens=None)
    texts = await scene.fill()
    result = await scene.run()
    assert result.outcome == "dropped"
    left = await scene.conversation()
    assert left == texts[len(result.removed_ids) :]
    again = await scene.run()
    assert (again.outcome, again.removed_ids) == ("dropped", result.removed_ids)
    assert await scene.conversation() == left
