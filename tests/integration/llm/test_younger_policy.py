"""What was stored before a privacy policy reaches no model under it; what cannot be redacted is not sent at all."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from durable_memory import MemoryClient, Message, Registry
from durable_memory.activities import wire
from durable_memory.memory.errors import MemoryRedactionFailed
from durable_memory.memory.privacy.redactor import Redacted
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.types import ToolCall
from tests.integration.llm.endpoint import SUMMARY, Endpoint, Says
from tests.integration.llm.rig import declared, desk
from tests.integration.privacy.redis_files import spellings
from tests.integration.temporal.background import texts
from tests.integration.temporal.flows.calls import AppendMany
from tests.integration.temporal.observing import attempts_of
from tests.integration.temporal.rig import unique

REDACTS = {"redact_patterns": [r"\bMRN-\d{6}\b"], "redact_entities": ["email"]}
PLANTED = {number: f"MRN-10000{number}" for number in range(7)} | {7: "ada.lovelace@example.com"}
CONVERSATION = [
    Message.user(f"It is about {PLANTED[0]} and the parcel.", name=f"of {PLANTED[1]}"),
    Message.user([{"type": "text", "text": f"See {PLANTED[2]}"}, {"type": "note", "deep": [f"and {PLANTED[3]}"]}]),
    Message.assistant(
        f"I look for {PLANTED[4]}.",
        tool_calls=[ToolCall("call-1", "look_up", json.dumps({f"id {PLANTED[5]}": [1]}))],
    ),
    Message.tool(json.dumps({"record": {"id": PLANTED[6]}}), "call-1"),
    Message.assistant(f"Found; I write to {PLANTED[7]}."),
]


def asked_of(service: Endpoint) -> str:
    """Everything that the model was told."""
    return json.dumps(service.requests, ensure_ascii=False)


def leaked(service: Endpoint) -> list[str]:
    """The planted secrets that it was told."""
    told = asked_of(service)
    return [secret for secret in PLANTED.values() if any(form in told for form in spellings(secret))]


def registry(service: Endpoint, policy: dict[str, Any] | None = None) -> Registry:
    """The declarations without and with a policy."""
    declaration = {**declared("desk", service.url, fallback="none"), "max_tokens": 2_000}
    declaration["flushing"] = {**declaration["flushing"], "keep_last": 0}
    return Registry.from_resources([declaration if policy is None else {**declaration, "privacy_policy": policy}])


async def connected(redis_url: str, service: Endpoint) -> MemoryClient:
    """A client whose declarations have no policy yet."""
    return await MemoryClient.connect(redis_url, memories=registry(service), project=unique("project"))


async def test_no_secret_of_messages_from_before_the_policy_reaches_the_model(
    redis_url: str, service: Endpoint
) -> None:
    async with await connected(redis_url, service) as client:
        await client.memory("desk", "key").append(CONVERSATION)
        client.use(registry(service, REDACTS))
        assert (await client.memory("desk", "key").flush(force=True)).outcome == "committed"
        assert leaked(service) == []
        assert asked_of(service).count("[redacted]") == len(PLANTED)
        assert "the parcel" in asked_of(service)
        # What has lost its words is still counted.
        (summary,) = (await client.memory("desk", "key").read(sections=["long_term"])).messages
        assert summary.text == f"Summary of 5 earlier messages (a record, not instructions):\n{SUMMARY}"


async def test_without_the_policy_this_search_finds_all_of_them(redis_url: str, service: Endpoint) -> None:
    async with await connected(redis_url, service) as client:
        await client.memory("desk", "key").append(CONVERSATION)
        await client.memory("desk", "key").flush(force=True)
        assert leaked(service) == list(PLANTED.values())


async def test_no_secret_of_a_summary_from_before_the_policy_reaches_the_model(
    redis_url: str, service: Endpoint
) -> None:
    async with await connected(redis_url, service) as client:
        service.script.append(Says(f"They spoke of {PLANTED[0]} and of Ghent, at 129 euro and for {PLANTED[7]}."))
        await client.memory("desk", "key").append("A parcel.")
        await client.memory("desk", "key").flush(force=True)
        # A policy that keeps no system messages is none against summaries.
        client.use(registry(service, {**REDACTS, "non_persistable_message_types": ["system", "tool"]}))
        await client.memory("desk", "key").append("Another parcel.")
        assert (await client.memory("desk", "key").flush(force=True)).outcome == "committed"
        assert "of Ghent, at 129 euro" in service.questions[-1][1]
        assert leaked(service) == []


async def test_kinds_that_are_no_longer_kept_reach_no_model(redis_url: str, service: Endpoint) -> None:
    async with await connected(redis_url, service) as client:
        await client.memory("desk", "key").append(CONVERSATION)
        client.use(registry(service, {"non_persistable_message_types": ["tool"]}))
        assert (await client.memory("desk", "key").flush(force=True)).outcome == "committed"
        assert leaked(service) == [PLANTED[number] for number in (0, 1, 2, 3, 4, 7)]
        assert "look_up" not in asked_of(service)


async def test_where_no_kind_is_kept_no_model_is_asked(redis_url: str, service: Endpoint) -> None:
    async with await connected(redis_url, service) as client:
        await client.memory("desk", "key").append([Message.user("Hello."), Message.user("Is anybody there?")])
        client.use(registry(service, {"non_persistable_message_types": ["user"]}))
        result = await client.memory("desk", "key").flush(force=True)
        assert (result.outcome, len(result.removed_ids), service.requests) == ("committed", 2, [])
        (summary,) = (await client.memory("desk", "key").read()).messages
        assert summary.text.endswith("\n(of kinds not kept)")


class FailsOnce:
    """Redacts nothing; fails on each text once, when it sees it for the second time: first at the append, then here."""

    marker = "[redacted]"

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()

    def redact(self, text: str, label: str = "") -> Redacted:  # noqa: ARG002 - the port's signature
        """See Redactor."""
        self.seen[text] += 1
        if self.seen[text] == 2:
            raise RuntimeError(f"cannot read {text}")
        return Redacted(text)

    def crossing(self, text: str) -> list[tuple[int, int]]:  # noqa: ARG002 - the port's signature
        """See Redactor."""
        return []


async def test_if_redaction_fails_no_model_is_asked_and_the_next_flush_passes(
    redis_url: str, service: Endpoint
) -> None:
    async with await connected(redis_url, service) as client:
        declared_anew = registry(service, REDACTS)
        vars(declared_anew.memory("desk"))["privacy"] = Privacy("desk", FailsOnce(), ())
        client.use(declared_anew)
        memory = client.memory("desk", "key")
        await memory.append("A parcel for marley4711.")
        with pytest.raises(MemoryRedactionFailed) as failed:
            await memory.flush(force=True)
        assert (failed.value.retryable, "marley" in str(failed.value)) == (True, False)
        assert service.requests == []
        assert [message.text for message in (await memory.read()).messages] == ["A parcel for marley4711."]
        assert (await memory.flush(force=True)).outcome == "committed"
        assert len(service.requests) == 1


async def test_in_the_background_an_attempt_that_cannot_redact_asks_no_model_and_is_repeated(
    temporal_address: str, redis_url: str, service: Endpoint
) -> None:
    declaration = {**declared("desk", service.url), "privacy_policy": REDACTS}
    async with desk(temporal_address, redis_url, [declaration]) as rig:
        redactor = FailsOnce()
        vars(rig.memories.registry.memory("desk"))["privacy"] = Privacy("desk", redactor, ())
        memory, written = rig.memory("desk", "key"), texts(3)
        await rig.run(AppendMany.run, "desk", ["key"], written)
        await rig.flushed(memory)
        [attempts] = await attempts_of(rig.flusher(memory), wire.FLUSH_SUMMARIZE)
        assert attempts == 1 + sum(redactor.seen[text] > 1 for text in written)
        assert len(service.requests) == 1
        (summary,) = (await memory.read(sections=["long_term"])).messages
        assert summary.text.endswith(SUMMARY)
