"""A message comes back from the store as it was, and old readers live with newer writers."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.codec import SCHEMA_VERSION, body_of, decode, encode, encode_summary
from durable_memory.memory.errors import MemoryContractTooNew, MemoryDamaged
from durable_memory.memory.stores.values import Entry, StoredEntry
from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.types import PRIORITIES, ContentPart, Json, Message, Priority, Provenance, ToolCall

_NOW = datetime(2026, 3, 1, 12, 30, 15, 123000, tzinfo=UTC)
_NOW_MS = 1_772_368_215_123
"""The same as Unix time."""


def _stored(entry: Entry, payload: str | None = None) -> StoredEntry:
    text = entry.payload if payload is None else payload
    return StoredEntry("0a1b-7-c3d4", text, entry.section, entry.tokens, entry.pinned)


_JSON: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
_PARTS: st.SearchStrategy[ContentPart] = st.dictionaries(st.text(), _JSON, max_size=3).map(
    lambda extra: {**extra, "type": "text", "text": "x"}
)
_CONTENT = st.text(min_size=1) | st.lists(_PARTS, min_size=1, max_size=3)
_CALLS = st.lists(st.builds(ToolCall, st.text(min_size=1), st.text(), st.text()), max_size=3)
_FIELDS = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(),
        "agent": st.text(),
        "pinned": st.booleans(),
        "priority": st.sampled_from(PRIORITIES),
        "metadata": st.dictionaries(st.text(), _JSON, max_size=3),
    },
)


@st.composite
def _messages(draw: st.DrawFn) -> Message:
    content, fields = draw(_CONTENT), draw(_FIELDS)
    role = draw(st.sampled_from(["system", "user", "assistant", "tool"]))
    match role:
        case "system":
            return Message.system(content, **fields)
        case "user":
            return Message.user(content, **fields)
        case "tool":
            return Message.tool(content, draw(st.text(min_size=1)), **fields)
    return Message.assistant(content, tool_calls=draw(_CALLS), **fields)


_PROVENANCES = st.none() | st.builds(Provenance, st.text(min_size=1), st.text(min_size=1), st.none() | st.text())


_COUNTS = st.builds(Count, st.integers(min_value=0, max_value=10**9), st.booleans())


@given(_messages(), _COUNTS, _PROVENANCES)
def test_every_message_comes_back_as_it_was(message: Message, count: Count, provenance: Provenance | None) -> None:
    entry = encode(message, count, created_ms=_NOW_MS, provenance=provenance)
    assert decode(_stored(entry)) == replace(
        message,
        id="0a1b-7-c3d4",
        section="system" if message.role == "system" else "short_term",
        tokens=count.tokens,
        tokens_estimated=count.estimated,
        created_at=_NOW,
        provenance=provenance,
    )


def test_what_the_store_gave_once_is_not_stored_again() -> None:
    stored = replace(
        Message.user("Hi"),
        id="other",
        section="long_term",
        tokens=99,
        tokens_estimated=True,
        created_at=_NOW - timedelta(days=1),
        provenance=Provenance("w", "r", "a"),
    )
    assert encode(stored, Count(5), created_ms=_NOW_MS) == encode(Message.user("Hi"), Count(5), created_ms=_NOW_MS)


def test_payloads_are_compact_and_readable_in_every_script() -> None:
    entry = encode(Message.user("日本語 👍"), Count(5), created_ms=_NOW_MS)
    assert entry.payload == '{"v":1,"role":"user","content":"日本語 👍","created_at":"2026-03-01T12:30:15.123+00:00"}'


@given(_messages() | st.text(min_size=1).map(Message.user))
def test_a_body_is_the_compact_json_of_what_was_given(message: Message) -> None:
    assert body_of(message) == json.dumps(message.given(), ensure_ascii=False, separators=(",", ":"))


@given(st.integers(min_value=0, max_value=4_102_444_800_000))
def test_times_are_stored_in_utc_to_the_millisecond(unix_ms: int) -> None:
    message = decode(_stored(encode(Message.user("Hi"), Count(5), created_ms=unix_ms)))
    assert message.created_at == datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=unix_ms)


def test_an_entry_tells_the_store_which_calls_it_opens_and_answers() -> None:
    calls = (ToolCall("call_1", "a"), ToolCall("call_2", "b"), ToolCall("call_1", "c"))
    opening = encode(Message.assistant(tool_calls=calls, pinned=True), Count(9), created_ms=_NOW_MS)
    assert (opening.opens, opening.answers, opening.pinned) == (("call_1", "call_2", "call_1"), None, True)
    answer = encode(Message.tool("done", "call_1"), Count(4), created_ms=_NOW_MS)
    assert (answer.opens, answer.answers, answer.pinned) == ((), "call_1", False)


@pytest.mark.parametrize(("priority", "band"), [("low", 0), ("normal", 1), ("high", 2), ("critical", 3)])
def test_an_entry_tells_the_store_its_priority(priority: Priority, band: int) -> None:
    entry = encode(Message.user("x", priority=priority), Count(1), created_ms=_NOW_MS)
    assert (entry.band, '"priority"' in entry.payload) == (band, priority != "normal")


def test_a_priority_of_a_newer_writer_is_the_usual_one() -> None:
    payload = '{"v":1,"role":"user","content":"x","priority":"urgent"}'
    assert decode(StoredEntry("0-1-a", payload, "short_term", 1)).priority == "normal"


def test_a_summary_stands_in_the_long_term_section() -> None:
    entry = encode_summary(Message.system("Summary:\nfew words"), Count(8), created_ms=_NOW_MS)
    assert entry.section == "long_term"
    assert decode(_stored(entry)).section == "long_term"


def test_fields_of_a_newer_writer_are_ignored_at_every_level() -> None:
    newer = json.dumps(
        {
            "v": SCHEMA_VERSION,
            "role": "assistant",
            "content": None,
            "sentiment": {"score": 0.5},
            "tool_calls": [
                {
                    "id": "c",
                    "type": "function",
                    "index": 3,
                    "function": {"name": "f", "arguments": "{}", "strict": True},
                }
            ],
            "provenance": {"workflow_id": "w", "namespace": "n"},
        }
    )
    message = decode(_stored(encode(Message.user("x"), Count(7), created_ms=_NOW_MS), newer))
    assert message.tool_calls == (ToolCall("c", "f"),)
    assert message.provenance == Provenance("w")
    assert message.tokens == 7


def test_a_later_schema_version_waits_for_a_newer_worker() -> None:
    payload = json.dumps({"v": SCHEMA_VERSION + 1, "role": "user", "content": "secret words"})
    with pytest.raises(MemoryContractTooNew, match="schema version 2") as refused:
        decode(_stored(encode(Message.user("x"), Count(1), created_ms=_NOW_MS), payload))
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "secret words",
        '"secret words"',
        "[1]",
        "null",
        '{"v": "1", "role": "user", "content": "secret"}',
        '{"role": "secret", "content": "x"}',
        '{"content": "secret"}',
        '{"role": "user"}',
        '{"role": "user", "content": 17}',
        '{"role": "assistant", "content": null, "tool_calls": [{"id": "secret"}]}',
        '{"role": "assistant", "content": null, "tool_calls": "secret"}',
        '{"role": "user", "content": "x", "created_at": "secret"}',
        '{"role": "user", "content": "x", "provenance": "secret"}',
        '{"role": ["secret"], "content": "x"}',
        '{"role": "user", "content": {"secret": 1}}',
        '{"role": "user", "content": ["secret"]}',
        '{"role": "user", "content": [{"text": "secret"}]}',
        *(
            f'{{"role": "user", "content": "x", "{field}": {junk}}}'
            for field, junks in {
                "v": ('"secret"', "true", "null", "1.0", "[]"),
                "name": ("7", "false", "0", "[]", '{"secret": 1}'),
                "agent": ("7", "0", '["secret"]', '{"secret": 1}'),
                "tool_call_id": ("7", "true", "[]"),
                "metadata": ('"secret"', "[]", "0", "true", '["secret"]', '{"x": NaN}'),
                "tool_calls": ("0", '""', "{}", "true", '["secret"]', "[null]", '[{"id": 1, "function": "secret"}]'),
                "created_at": ("0", "1767225600", '""', "[]", "true", '"2026-03-01T12:30:15.123"'),
                "provenance": ("0", "true", "[]", '{"workflow_id": 7}', '{"run_id": ["secret"]}'),
                "tokens_estimated": ("1", '"secret"', "[]"),
                "truncated_from": ("true", '"secret"', "1.5", "9" * 5000),
            }.items()
            for junk in junks
        ),
        '{"role": "user", "content": "x", "metadata": ' + '{"a": ' * 100_000 + "1" + "}" * 100_001,
        '{"role": "user", "content": "x", "newer": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=lambda payload: payload[:90],
)
def test_a_record_that_is_no_message_is_damage_and_its_words_are_not_repeated(payload: str) -> None:
    with pytest.raises(MemoryDamaged, match="0a1b-7-c3d4") as refused:
        decode(_stored(encode(Message.user("x"), Count(1), created_ms=_NOW_MS), payload))
    assert "secret" not in str(refused.value)
    assert refused.value.__suppress_context__
