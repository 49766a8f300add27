"""What a resource keeps out never reaches its Redis: by no field, no operation, no summary, no failure."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from durable_memory import MemoryClient, Message, Registry
from durable_memory.memory.errors import MemoryInvalid, MemoryOperationConflict, MemoryOversize, MemoryRedactionFailed
from durable_memory.memory.privacy.redactor import Redacted
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.types import ToolCall
from tests.integration.privacy.conftest import POLICY, REGISTRY, Repeats
from tests.integration.privacy.redis_files import Kept, spellings
from tests.unit.privacy.disguised import DISGUISED
from tests.unit.privacy.look_alikes import IN_DISGUISE
from tests.unit.privacy.planted import SECRETS

PLANTED = [(text, secret) for texts in SECRETS.values() for text, secret in texts]
EMAIL = "ada.lovelace@example.com"
LONG = f"I am {EMAIL}, and this is what I have to say: {'word ' * 4_000}"
ROOM_FOR_A_PART: dict[str, Any] = {
    "resource": "memory",
    "id": "private",
    "max_tokens": 2_000,
    "scope": "user",
    "oversize": "truncate",
    "flushing": {"summary_tokens": 100},
}
GROWN_UP: dict[str, Any] = {"max_tokens": 2_000, "scope": "user"}


def varied(count: int) -> Iterator[tuple[dict[str, Any], str]]:
    """Yields messages of all forms, each with a secret somewhere, and that secret."""
    dice = random.Random(4711)
    for number in range(count):
        text, secret = PLANTED[number % len(PLANTED)]
        filler = " ".join(
            dice.choices(["the", "parcel", "left", "Ghent", "on", "2024-01-15", "order 4711", "naïve"], k=9)
        )
        said = f"{filler}. {text} {filler}"
        place = dice.randrange(7)
        message: dict[str, Any] = {"role": "user", "content": filler}
        if place == 0:
            message["content"] = said
        elif place == 1:
            message["content"] = [{"type": "text", "text": said}, {"type": "note", "deep": {"note": [said]}}]
        elif place == 2:
            message["metadata"] = {"note": {"deeper": [said]}, "n": number}
        elif place == 3:
            message["metadata"] = {said: number}
        elif place == 4:
            message["name"] = said
        elif place == 5:
            arguments = json.dumps({"q": said, said: [number]}, ensure_ascii=dice.random() < 0.5)
            message = {"role": "assistant", "content": filler, "tool_calls": [call(number, arguments)]}
        else:
            message = {"role": "assistant", "content": None, "tool_calls": [call(number, f"not json: {said}")]}
        yield message, secret


def call(number: int, arguments: str) -> dict[str, Any]:
    return {"id": f"call-{number}", "type": "function", "function": {"name": "look_up", "arguments": arguments}}


async def test_of_1000_varied_messages_no_secret_is_stored(client: MemoryClient, kept: Kept, key: str) -> None:
    memory = client.memory("private", key)
    messages = list(varied(1000))
    for start in range(0, 900, 100):
        await memory.append([message for message, _ in messages[start : start + 100]])
    await memory.record_turn([message for message, _ in messages[900:950]])
    await client.memory("private", f"{key}-written").write([message for message, _ in messages[950:]])
    view = await memory.read(ids=[])
    stats = await memory.stats()
    assert sum(stats.messages.values()) == 950
    everything = await kept.all()
    assert "[redacted]" in everything
    leaked = sorted({secret for _, secret in messages if any(form in everything for form in spellings(secret))})
    assert leaked == []
    assert view.messages == ()


DECLARED = """
resource: memory
id: declared-private
max_tokens: 100000
scope: user
privacy_policy:
  redact_entities: [email, phone, credit_card, iban, us_ssn, ip_address, api_key]
"""


async def test_under_a_policy_of_yaml_no_surroundings_hide_a_secret(
    client: MemoryClient, kept: Kept, key: str, tmp_path: Path
) -> None:
    (tmp_path / "private.yaml").write_text(DECLARED)
    client.use(Registry.load([tmp_path]))
    memory = client.memory("declared-private", key)
    disguised = [pair for texts in DISGUISED.values() for pair in texts]
    await memory.append([text for text, _ in disguised])
    fields = {"phones": ["5550199", {"phone": 5550198}], "ssns": [536228799], "apiKeys": [["0a1b2c3d4e5f6a7b8c99"]]}
    await memory.append(Message.assistant(tool_calls=[ToolCall("call-1", "look_up", json.dumps(fields))]))
    await memory.append(Message.user("see metadata", metadata=fields))
    everything = await kept.all()
    secrets = [secret for _, secret in disguised] + ["5550199", "5550198", "536228799", "0a1b2c3d4e5f6a7b8c99"]
    assert [secret for secret in secrets if any(form in everything for form in spellings(secret))] == []
    await memory.append(list(IN_DISGUISE))
    view = await memory.read()
    assert [message.text for message in view.messages][-len(IN_DISGUISE) :] == list(IN_DISGUISE)


async def test_what_is_not_redacted_would_be_found_by_this_search(client: MemoryClient, kept: Kept, key: str) -> None:
    for number, (message, _) in enumerate(varied(100)):
        await client.memory("open", f"{key}-{number}").append(message)
    values = await kept.values()
    for _, secret in varied(100):
        assert any(form in values for form in spellings(secret)), secret


async def test_counting_and_the_digest_are_of_what_is_stored(client: MemoryClient, key: str) -> None:
    memory = client.memory("private", key)
    first = await memory.append(f"write to {EMAIL}", operation_id="one")
    again = await memory.append("write to grace@example.com", operation_id="one")
    assert (again.already_applied, again.ids) == (True, first.ids)
    plain = await client.memory("open", key).append("write to [redacted]")
    assert first.tokens == plain.tokens


async def test_a_recorded_turn_comes_back_as_the_memory_holds_it(client: MemoryClient, key: str) -> None:
    turn = await client.memory("private", key).record_turn([f"I am {EMAIL}", Message.assistant(f"Hello {EMAIL}")])
    assert [message.text for message in turn.messages] == ["I am [redacted]", "Hello [redacted]"]
    assert [message.id for message in turn.messages] == list(turn.result.ids)


async def test_a_summary_is_redacted_too(client: MemoryClient, summarizer: Repeats, kept: Kept, key: str) -> None:
    memory = client.memory("summed-up", key)
    summarizer.says = f"They wrote to {EMAIL} about MRN-123456, from 203.0.113.77."
    for number in range(30):
        await memory.append(f"Parcel {number} left the depot {number * 37} for Ghent.")
    result = await memory.flush()
    assert result.outcome == "committed"
    (summary,) = (await memory.read(sections=["long_term"])).messages
    assert summary.text.endswith("They wrote to [redacted] about [redacted], from [redacted].")
    everything = await kept.all()
    assert [secret for secret in (EMAIL, "MRN-123456", "203.0.113.77") if secret in everything] == []


async def test_a_summary_with_half_of_a_surrogate_pair_is_redacted_like_any_other(
    client: MemoryClient, summarizer: Repeats, key: str
) -> None:
    memory = client.memory("summed-up", key)
    summarizer.says = f"They wrote \ud83d to {EMAIL}."
    for number in range(30):
        await memory.append(f"Parcel {number} left the depot {number * 37} for Ghent.")
    assert (await memory.flush()).outcome == "committed"
    (summary,) = (await memory.read(sections=["long_term"])).messages
    assert summary.text.endswith("They wrote \ufffd to [redacted].")


async def test_if_redaction_fails_nothing_is_stored_and_the_next_call_passes(
    client: MemoryClient, kept: Kept, key: str
) -> None:
    class Fails:
        marker = "[redacted]"

        def redact(self, text: str, label: str = "") -> Redacted:
            raise RuntimeError(f"cannot read {text} {label}")

        def crossing(self, text: str) -> list[tuple[int, int]]:
            raise RuntimeError(text)

    resource = REGISTRY.memory("private")
    works = resource.privacy
    try:
        vars(resource)["privacy"] = Privacy("private", Fails(), ())
        memory = client.memory("private", key)
        for write in (memory.append, memory.record_turn, memory.write):
            with pytest.raises(MemoryRedactionFailed) as failed:
                await write("marley4711 was here")
            assert (failed.value.retryable, "marley" in str(failed.value)) == (True, False)
    finally:
        vars(resource)["privacy"] = works
    assert (await memory.stats()).exists is False
    assert "marley4711" not in await kept.all()
    assert (await client.memory("private", key).append("marley4711 is here")).messages == 1


async def test_errors_do_not_repeat_keys_that_are_secrets(client: MemoryClient, key: str) -> None:
    with pytest.raises(MemoryInvalid, match=r"\[redacted\]: a bytes is not JSON data") as refused:
        await client.memory("private", key).append({"role": "user", "content": "x", "metadata": {EMAIL: b"x"}})
    assert EMAIL not in str(refused.value)


async def test_a_message_that_redaction_makes_fit_fits(client: MemoryClient, key: str) -> None:
    text = f"{EMAIL} " * 60
    with pytest.raises(MemoryOversize):
        await client.memory("summed-up", key).append("word " * 400)
    assert (await client.memory("summed-up", key).append(text)).messages == 1


CALL = Message.assistant(tool_calls=[ToolCall("call-1", "look_up", "{}")])
RESULT = Message.tool("Ghent", "call-1")


async def test_kinds_that_are_not_kept_are_counted_and_open_no_groups(client: MemoryClient, key: str) -> None:
    memory = client.memory("no-tools", key)
    result = await memory.append(["Where?", CALL, RESULT, Message.assistant("In Ghent.")])
    assert (len(result.ids), result.dropped, result.messages) == (2, 2, 2)
    assert [message.text for message in (await memory.read()).messages] == ["Where?", "In Ghent."]
    assert (await memory.append(RESULT)).dropped == 1  # refused elsewhere: its call was never stored


@pytest.mark.parametrize("known", [False, True])
async def test_an_append_of_nothing_that_is_kept_changes_nothing(
    client: MemoryClient, key: str, *, known: bool
) -> None:
    memory = client.memory("no-tools", key)
    before = await memory.append("Hello") if known else None
    result = await memory.append([CALL, RESULT], operation_id="tools")
    assert (result.ids, result.dropped, result.already_applied, result.created) == ((), 2, False, False)
    assert result.version == (before.version if before else "absent")
    assert (result.tokens, result.messages) == ((before.tokens, 1) if before else (0, 0))
    assert (await memory.record_turn(RESULT)).messages == ()
    assert (await memory.stats()).exists is known


async def test_a_write_of_nothing_that_is_kept_is_refused(client: MemoryClient, key: str) -> None:
    memory = client.memory("only-users", key)
    await memory.append("Hello")
    with pytest.raises(MemoryInvalid, match="keeps none of them; to empty the memory, clear it"):
        await memory.write([Message.system("Be kind."), Message.assistant("Hello.")])
    assert (await memory.write(["Hi", Message.assistant("Hello.")])).dropped == 1
    assert [message.text for message in (await memory.read()).messages] == ["Hi"]


async def test_what_is_imported_is_redacted_and_left_out_like_what_is_appended(
    client: MemoryClient, kept: Kept, key: str
) -> None:
    await client.memory("open", key).append([f"I am {EMAIL}", CALL, RESULT])
    lines = [line async for line in client.export_messages("open", key=key)]
    redacted = await client.import_messages(lines, resource="private")
    assert (redacted.messages, redacted.faults) == (3, 0)
    assert (await client.memory("private", key).read()).messages[0].text == "I am [redacted]"
    without_tools = await client.import_messages(lines, resource="no-tools")
    assert (without_tools.messages, without_tools.faults) == (1, 0)
    assert await kept.redis.keys(f"*private/{key}*")


async def test_old_messages_come_under_a_new_policy_by_export_purge_and_import(
    client: MemoryClient, kept: Kept, key: str
) -> None:
    without = Registry.from_resources([{"resource": "memory", "id": "grown-up", **GROWN_UP}])
    policy = {"privacy_policy": {**POLICY, "non_persistable_message_types": ["tool"]}}
    under_policy = Registry.from_resources([{"resource": "memory", "id": "grown-up", **GROWN_UP, **policy}])
    client.use(without)
    await client.memory("grown-up", key).append([f"I am {EMAIL}", CALL, RESULT, Message.assistant("Welcome.")])
    client.use(under_policy)
    # A view shows what is stored, as it is stored.
    assert (await client.memory("grown-up", key).read()).messages[0].text == f"I am {EMAIL}"
    lines = [line async for line in client.export_messages("grown-up")]
    await client.purge("grown-up", dry_run=False, confirm=True)
    result = await client.import_messages(lines)
    assert (result.messages, result.faults) == (2, 0)
    view = await client.memory("grown-up", key).read()
    assert [message.text for message in view.messages] == ["I am [redacted]", "Welcome."]
    assert EMAIL not in await kept.values()


async def test_a_retry_after_the_policy_became_stricter_is_the_same_append(client: MemoryClient, key: str) -> None:
    stages: list[dict[str, Any]] = [
        {"redact_patterns": [r"\bMRN-\d{6}\b"]},
        POLICY,
        {**POLICY, "non_persistable_message_types": ["tool"]},
    ]
    resources: list[dict[str, Any]] = [{"resource": "memory", "id": "private", "max_tokens": 10_000, "scope": "user"}]
    registries = [Registry.from_resources(resources)]
    registries += [Registry.from_resources([{**resources[0], "privacy_policy": stage}]) for stage in stages]
    messages: list[str | Message] = [f"MRN-123456 writes to {EMAIL}", "Hello", CALL, RESULT]
    client.use(registries[0])
    applied = await client.memory("private", key).append(messages, operation_id="before any policy")
    client.use(registries[1])
    redacted = await client.memory("private", key).append(messages, operation_id="under the first one")
    for registry in registries[1:]:
        client.use(registry)
        again = await client.memory("private", key).append(messages, operation_id="before any policy")
        assert (again.already_applied, again.ids) == (True, applied.ids)
    again = await client.memory("private", key).append(messages, operation_id="under the first one")
    assert (again.already_applied, again.ids) == (True, redacted.ids)
    for others in (["Good-bye"], [*messages, "More"], messages[1:]):
        with pytest.raises(MemoryOperationConflict):
            await client.memory("private", key).append(others, operation_id="before any policy")
    assert (await client.memory("private", key).stats()).messages["short_term"] == 8


PARTS: list[dict[str, Any]] = [
    {"type": "text", "text": LONG},
    {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}},
]


@pytest.mark.parametrize(
    ("given", "others"),
    [
        (
            Message.user(LONG),
            [Message.user(LONG.replace("have", "had")), Message.assistant(LONG), Message.user("I am")],
        ),
        (Message.user(PARTS), [Message.user(PARTS[:1]), Message.user(LONG)]),
        (Message.assistant(LONG, metadata={"from": EMAIL}), [Message.assistant(LONG, metadata={"from": "Bob"})]),
    ],
    ids=["text", "parts", "metadata"],
)
async def test_a_repetition_is_the_same_append_also_where_what_was_stored_is_cut(
    client: MemoryClient, key: str, given: Message, others: list[Message]
) -> None:
    client.use(Registry.from_resources([ROOM_FOR_A_PART]))
    applied = await client.memory("private", key).append(given, operation_id="one")
    assert (await client.memory("private", key).read()).messages[0].truncated_from is not None
    client.use(Registry.from_resources([{**ROOM_FOR_A_PART, "privacy_policy": POLICY}]))
    memory = client.memory("private", key)
    again = await memory.append(given, operation_id="one")
    assert (again.already_applied, again.ids) == (True, applied.ids)
    for other in others:
        with pytest.raises(MemoryOperationConflict):
            await memory.append(other, operation_id="one")


async def test_a_repetition_is_the_same_append_also_where_what_was_stored_is_pinned_since(
    client: MemoryClient, key: str
) -> None:
    client.use(Registry.from_resources([ROOM_FOR_A_PART]))
    memory = client.memory("private", key)
    given = [Message.user(f"I am {EMAIL}"), Message.user("Hello", pinned=True)]
    applied = await memory.append(given, operation_id="one")
    await memory.pin(applied.ids[:1])
    await memory.unpin(applied.ids[1:])
    client.use(Registry.from_resources([{**ROOM_FOR_A_PART, "privacy_policy": POLICY}]))
    again = await client.memory("private", key).append(given, operation_id="one")
    assert (again.already_applied, again.ids) == (True, applied.ids)
