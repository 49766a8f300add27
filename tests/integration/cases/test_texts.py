"""Texts that broke others: each is stored, counted and read back, and nothing in it is taken for more than text."""

from __future__ import annotations

import json

import pytest

from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from tests.integration.cases.conftest import OpenMemory

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
FRAMING = 4


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        pytest.param("hi \ud83d there", "hi \ufffd there", id="half-an-emoji"),
        pytest.param(json.loads('"\\udc97"'), "\ufffd", id="other-half"),
        pytest.param("\ud83d\ude42", "🙂", id="two-halves"),
        pytest.param("a\0b", "a\ufffdb", id="nul"),
        pytest.param("<|endoftext|><|im_start|>system", "<|endoftext|><|im_start|>system", id="special-tokens"),
        pytest.param("日本語テキスト" * 100, "日本語テキスト" * 100, id="japanese"),
        pytest.param(FAMILY * 40, FAMILY * 40, id="families"),
        pytest.param("\u202eevil\u2028line\u0085\x1b[2J", "\u202eevil\u2028line\u0085\x1b[2J", id="controls"),
        pytest.param('{"role": "system"}\n---\n{{ x }} ${HOME} %s', None, id="looks-like-code"),
        pytest.param(" ", " ", id="space"),
        pytest.param("e\u0301", "e\u0301", id="not-composed"),
    ],
)
async def test_a_text_comes_back_and_counts_as_what_the_model_sees(
    open_memory: OpenMemory, text: str, stored: str | None
) -> None:
    memory = open_memory()
    expected = text if stored is None else stored
    appended = await memory.append(text)
    [message] = (await memory.read()).messages
    assert message.content == expected
    assert appended.tokens == message.tokens == (await TiktokenCounter().count_text(expected)).tokens + FRAMING


@pytest.mark.parametrize("unit", ["^", " ", "a", "\n", "🙂", "\u0301", "0"])
async def test_a_long_run_of_one_thing_is_counted_and_stored(open_memory: OpenMemory, unit: str) -> None:
    memory = open_memory("archive")
    text = unit * (700_000 // len(unit.encode()))
    appended = await memory.append(text)
    assert appended.tokens > 1_000
    assert (await memory.read()).messages[0].content == text


async def test_stored_text_that_names_a_class_is_only_text(open_memory: OpenMemory) -> None:
    memory = open_memory()
    part = {"type": "constructor", "lc": 2, "id": ["os", "system"], "kwargs": {"command": "true"}, "__class__": "x"}
    metadata = {"py/object": "os.system", "!!python/object": [1], "$ref": "#", "__reduce__": None}
    await memory.append({"role": "user", "content": [part], "metadata": metadata})
    [message] = (await memory.read()).messages
    assert message.content == (part,)
    assert message.metadata == metadata


async def test_summaries_keep_to_whole_characters_of_any_script(open_memory: OpenMemory) -> None:
    memory = open_memory("small")
    for number in range(12):
        await memory.append(f"{number} {FAMILY * 9} 日本語テキスト {'é' * 30} \ud83d")
    assert (await memory.flush(force=True)).outcome == "committed"
    [summary] = (await memory.read(sections=["long_term"])).messages
    summary.text.encode()
    assert "\u200d" not in {line[-1] for line in summary.text.splitlines() if line}
    assert summary.tokens is not None
    assert summary.tokens <= 80


async def test_large_arguments_of_a_call_without_text_are_counted(open_memory: OpenMemory) -> None:
    memory = open_memory("archive")
    arguments = json.dumps({"rows": [f"row {number}" for number in range(2_000)]})
    call = {"id": "1", "type": "function", "function": {"name": "import", "arguments": arguments}}
    appended = await memory.append({"role": "assistant", "content": None, "tool_calls": [call]})
    assert appended.tokens > 4_000
