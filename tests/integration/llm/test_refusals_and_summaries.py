"""The usual refusals never stand for messages; summaries are not taken for refusals, whatever somebody cannot do."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from durable_memory import MemoryClient, Registry
from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.llm.failures import could_not_summarise, reports_failure
from durable_memory.memory.flushing.llm.refusals import is_refusal
from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer
from durable_memory.memory.types import Message
from tests.integration.llm.asking import request
from tests.integration.llm.endpoint import Endpoint, Says
from tests.integration.llm.rig import declared
from tests.integration.temporal.background import texts
from tests.integration.temporal.rig import unique

ANSWERS: dict[str, Any] = yaml.safe_load(Path(__file__).with_name("answers.yaml").read_text("utf-8"))
TALKS: dict[str, list[str]] = ANSWERS["conversations"]


def refusals() -> Iterator[tuple[str, str, str]]:
    for language, answers in ANSWERS["refusals"].items():
        for answer in answers:
            for talk in dict.fromkeys(("English", language)):
                yield language, talk, answer


def talk_of(texts: list[str]) -> list[Message]:
    return [Message.user(text) if turn % 2 == 0 else Message.assistant(text) for turn, text in enumerate(texts)]


async def test_no_usual_refusal_is_a_summary(service: Endpoint, summarizer: LlmSummarizer) -> None:
    passed = list[str]()
    for _, talk, answer in refusals():
        service.default = Says(answer)
        with contextlib.suppress(MemorySummaryRejected):
            passed.append(f"{talk}: {await summarizer.summarize(request(*talk_of(TALKS[talk])))}")
    assert passed == []


async def test_no_summary_is_taken_for_a_refusal(service: Endpoint, summarizer: LlmSummarizer) -> None:
    rejected = list[str]()
    for case in ANSWERS["summaries"]:
        service.default = Says(case["is"])
        texts = TALKS[case["of"]] if isinstance(case["of"], str) else case["of"]
        try:
            await summarizer.summarize(request(*talk_of(texts)))
        except MemorySummaryRejected as error:
            rejected.append(f"{case['is']} ({error.message})")
    assert rejected == []


LOG = "\n".join(
    f"14:{n // 60:02}:{n % 60:02} nginx upstream 10.1.2.{n % 9} responded 502 in {n} ms" for n in range(300)
)


async def test_of_a_long_log_a_sentence_may_remain(service: Endpoint, summarizer: LlmSummarizer) -> None:
    talk = [Message.user(LOG), Message.assistant("Raise proxy_read_timeout to 120 s.")]
    summary = "nginx upstream responded 502 from 14:00 on; proxy_read_timeout is to be raised to 120 s."
    service.default = Says(summary)
    assert await summarizer.summarize(request(*talk, max_tokens=800)) == summary


async def test_no_sentence_stands_for_a_long_conversation(service: Endpoint, summarizer: LlmSummarizer) -> None:
    talk = [f"{n}: {LOG[n * 80 : n * 80 + 300]}" for n in range(40)]
    service.default = Says("nginx upstream 10.1.2.3 responded 502 in 14 ms.")
    with pytest.raises(MemorySummaryRejected, match="next to nothing"):
        await summarizer.summarize(request(*talk_of(talk), max_tokens=800))


@pytest.mark.parametrize("words", ["sorry ", "hi ", "thank you. sorry, ", "I can't, so ", "your? ", "{'a': ", "can I "])
def test_whether_a_text_is_a_refusal_is_told_at_once(words: str) -> None:
    began = time.thread_time()
    assert not is_refusal((words * 400)[:400])
    assert time.thread_time() - began < 0.5


@pytest.mark.parametrize(
    "words",
    [
        "error ",
        "summary of ",
        "an error processing ",
        "503 ",
        "nicht ",
        "the summary ",
        "your request ",
        "总结",
        "i can't ",
    ],
)
def test_whether_a_text_reports_an_error_is_told_at_once(words: str) -> None:
    began = time.thread_time()
    text = (words * 400)[:400]
    assert (reports_failure(text, ()), could_not_summarise(text, ())) == (False, False)
    assert time.thread_time() - began < 0.5


REFUSAL = "I apologize, but I can't help with that."


async def test_after_a_refusal_the_rules_write(redis_url: str, service: Endpoint) -> None:
    service.default = Says(REFUSAL)
    registry = Registry.from_resources([declared("desk", service.url)])
    async with await MemoryClient.connect(redis_url, memories=registry, project=unique("project")) as memories:
        memory = memories.memory("desk", "key")
        await memory.append(texts(3))
        assert (await memory.flush(force=True)).outcome == "committed"
        (summary,) = [message for message in (await memory.read()).messages if message.section == "long_term"]
        assert "The parcel" in summary.text
        assert "apologize" not in summary.text


async def test_without_a_fallback_the_messages_stay_after_a_refusal(redis_url: str, service: Endpoint) -> None:
    service.default = Says(REFUSAL)
    registry = Registry.from_resources([declared("desk", service.url, fallback="none")])
    async with await MemoryClient.connect(redis_url, memories=registry, project=unique("project")) as memories:
        memory = memories.memory("desk", "key")
        await memory.append(texts(3))
        with pytest.raises(MemorySummaryRejected, match="declined"):
            await memory.flush(force=True)
        assert [message.text for message in (await memory.read()).messages] == texts(3)
        (problem,) = (await memory.health()).problems
        assert problem.startswith(
            "the last flush failed: MemorySummaryRejected; the text of its summariser was empty, cut,"
        )
        # It may have been too short, and no room makes it longer.
        assert "if too long, let it keep to max_tokens" in problem
        assert "if too short or about something else, use another model or prompt" in problem


def test_the_lists_are_worth_their_name() -> None:
    assert sum(map(len, ANSWERS["refusals"].values())) >= 40
    assert len(ANSWERS["refusals"]) >= 8
    assert len(ANSWERS["summaries"]) >= 40
    assert len(ANSWERS["refusals"]["Disks"]) >= 15
    assert sum(case["of"] == "Disks" for case in ANSWERS["summaries"]) >= 15
    assert ANSWERS["refusals"].keys() <= TALKS.keys()
