"""Whatever comes: redaction ends, never fails, and what it returns it leaves alone the next time."""

from __future__ import annotations

import contextlib
import json
import time
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from durable_memory.memory.errors import MemoryInvalid, MemoryRedactionFailed
from durable_memory.memory.privacy.entities import ENTITIES
from durable_memory.memory.privacy.finders import Deadline, Finders, finders_of_entities
from durable_memory.memory.privacy.messages import redact_message
from durable_memory.memory.privacy.redactor import TooSlow
from durable_memory.memory.privacy.stage import Privacy
from durable_memory.memory.privacy.text_redactor import TextRedactor
from durable_memory.memory.privacy.walk import Walk
from durable_memory.memory.types import Message
from tests.unit.privacy.planted import LOOK_ALIKES, SECRETS

PATTERNS: tuple[list[str], ...] = (
    [],
    [r"\w+"],
    [r"^.", r".$"],
    ["[^a]b|a"],
    [r"\[.*"],
    [r"\d"],
    [r"(?s).*", "x*"],
    [r"redacted|#\d"],
    [r'"[a-c]+":.*'],
)
MARKERS = ("[redacted]", "x", "aa", "#2", "{}", '"', "1234")
REDACTORS = [TextRedactor(patterns, ENTITIES, marker) for patterns in PATTERNS for marker in MARKERS]
TOGETHER = finders_of_entities(frozenset(ENTITIES))

PIECES = [text for texts in SECRETS.values() for text, _ in texts] + list(LOOK_ALIKES) + list(MARKERS)
TEXTS = st.lists(
    st.one_of(st.sampled_from(PIECES), st.text(max_size=8), st.sampled_from('ab01+-@. :"{}[],')), max_size=6
).map("".join)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)


@given(TEXTS, st.sampled_from(REDACTORS), TEXTS)
@example("01 " * 40, REDACTORS[0], "")
@example("ab", REDACTORS[3 * len(MARKERS)], "")
@settings(max_examples=200)
def test_a_text_is_redacted_once_and_for_all(text: str, redactor: TextRedactor, label: str) -> None:
    once = redactor.redact(text, label)
    again = redactor.redact(once.text, label)
    assert (again.text, dict(again.found)) == (once.text, {})
    assert bool(once.found) == (once.text != text)


@given(st.dictionaries(TEXTS, JSON, max_size=4), st.sampled_from(REDACTORS))
@settings(max_examples=40)
def test_so_are_messages_and_json_in_them_stays_json(data: dict[str, Any], redactor: TextRedactor) -> None:
    written = json.dumps(data)
    message = Message.from_dict(
        {
            "role": "assistant",
            "content": [{"type": "text", "text": written}],
            "metadata": data,
            "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": written}}],
        }
    )
    once = redact_message(message, Walk(redactor))
    json.loads(once.tool_calls[0].arguments)
    assert redact_message(once, Walk(redactor)) == once


@given(TEXTS)
@settings(max_examples=200)
def test_one_pass_for_all_recognisers_misses_nothing_that_one_of_them_finds(text: str) -> None:
    assert TOGETHER is not None
    spans = sorted(TOGETHER.spans(text, Deadline(60)))
    assert spans == sorted(Finders(TOGETHER.each).spans(text, Deadline(60)))


PATHOLOGICAL = (
    *("a:", "_", "1_1_", "::", "1\t", "\t1", "@", "xn--", "a@xn--b.", "4 ", "4111 ", "*1", "+1", "0", "\\", "\\\\u0"),
    *("%25", "&amp;", "&#", "AT10 ", "fe80::1:", "2001:db8::1 ", "1.1.1.1-", "10.0.0.1_", "123\n45\n", "123-45-6789 "),
    *("020 7946 0958\n", "phone: ", "phones: 5550104, ", "tokens: a1b2c3d4e5f6a7, ", "\u00ad", "\u0664"),
    *('"', '"a ', '"a\\', '\\"', '"a"@b.'),
)
LISTS = (
    ("phones: ", "5550104, "),
    ("phones: ", "5550104\n"),
    ("ssns: ", "536228731, "),
    ("tokens: ", "a1b2c3d4e5f6a7, "),
)


@pytest.mark.parametrize(("before", "piece"), [*(("", piece) for piece in PATHOLOGICAL), *LISTS, ("DE89", "*1")])
def test_time_grows_with_the_length_of_a_text_not_with_its_square(before: str, piece: str) -> None:
    redactor = TextRedactor([], ENTITIES, "[redacted]", max_seconds=60)

    def once(text: str) -> float:
        started = time.thread_time()
        redactor.redact(text)
        return time.thread_time() - started

    def seconds(length: int) -> float:
        text = (before + piece * length)[:length]
        return min(once(text) for _ in range(3))  # a machine that others use counts time of theirs, too

    # The square would be 64 times as much; a fiftieth of a second is nothing to divide by.
    assert seconds(100_000) < 24 * max(seconds(12_500), 0.02)


@pytest.mark.parametrize("piece", ["a", "foo bar ", "01 ", "4 1 1 ", "a@::"])
def test_100_kb_end_in_bounded_time_whatever_the_patterns(piece: str) -> None:
    text = (piece * 100_000)[:100_000]
    patterns = ["(x+x+)+y", "(a*)*b", r"(\w+\s?)*!", "(a|aa)+$", "a[^b]*b|a"]
    redactor = TextRedactor(patterns, ENTITIES, "[redacted]", max_seconds=0.2)
    before = time.thread_time()
    with contextlib.suppress(TooSlow):
        redactor.redact(text)
    assert time.thread_time() - before < 10


async def test_a_text_that_takes_too_long_is_refused_without_a_word_of_it() -> None:
    privacy = Privacy("desk", TextRedactor(["a[^b]*b|a"], [], "[redacted]", max_seconds=0.05), ())
    with pytest.raises(
        MemoryInvalid, match=r"^desk: redaction would take too long .* simplify privacy_policy"
    ) as refused:
        await privacy.screen([Message.user("a" * 50_000)], 50_000)
    assert "aaa" not in str(refused.value)
    assert (await privacy.screen([Message.user("a b")], 3)).messages[0].text == "[redacted]"


def test_many_texts_together_take_no_longer_than_one_call_may() -> None:
    walk = Walk(TextRedactor(["a[^b]*b|a"], [], "[redacted]"), max_seconds=0.2)
    with pytest.raises(TooSlow, match="all texts together"):
        walk.object({str(number): "a" * 2_000 for number in range(1_000)})


async def test_a_redactor_that_fails_lets_nothing_pass(caplog: pytest.LogCaptureFixture) -> None:
    class Fails:
        marker = "[redacted]"

        def redact(self, text: str, label: str = "") -> Any:
            raise RuntimeError(f"cannot read {text} {label}")

        def crossing(self, text: str) -> list[tuple[int, int]]:
            raise RuntimeError(text)

    for text in ("marley4711", "marley4711 " * 1_000):
        with pytest.raises(MemoryRedactionFailed) as failed:
            await Privacy("desk", Fails(), ()).screen([Message.user(text)], len(text))
        assert "marley" not in f"{failed.value!r} {failed.value.__cause__!r} {failed.value.__context__!r}"
    assert "RuntimeError" in caplog.text
    assert "marley" not in caplog.text
