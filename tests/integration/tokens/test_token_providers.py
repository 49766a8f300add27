"""Tokens are counted as the model that reads the memory counts them, and its window bounds the memory."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from durable_memory import MemoryClient, Message
from durable_memory.memory.errors import InvalidDeclarations, MemoryInvalid, MemoryOversize
from durable_memory.memory.memory import Memory
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from tests.integration.tokens.conftest import Connect

TEXT = "Der Zug nach Gent fährt um 17:45 Uhr; 四つの座席が予約されています。 Price: 1,234.50 EUR, seats 12A-12D."
FRAMING = 4

BY_MODEL = "\n---\n".join(
    f"resource: memory\nid: {name}\nmax_tokens: 4000\npersistence: PERSISTENCE\n{provider}"
    for name, provider in {
        "as-the-process": "",
        "gpt-4o": "token_provider: {provider: openai, model: gpt-4o-2024-08-06}",
        "gpt-4": "token_provider: {provider: openai, model: gpt-4-0613}",
        "own-name": (
            "token_provider:\n"
            "  {provider: openai, model: prod, settings: {context_window: 8000, encoding: cl100k_base}}"
        ),
        "claude": "token_provider: {provider: anthropic, model: claude-sonnet-4-5}",
        "claude-new": "token_provider: {provider: anthropic, model: claude-opus-4-7}",
        "adjusted": (
            "token_provider: {provider: anthropic, model: claude-opus-4-7, settings: {estimate_factor: 2}}\n"
            "flushing: {keep_last: 0}"
        ),
        "bytes": "token_provider: {provider: google, model: gemini-2.5-pro, fallback: bytes}",
    }.items()
)

SMALL_SHARE = """
resource: memory
id: desk
max_context_ratio: 0.0625
token_provider: {provider: openai, model: gpt-4}
persistence: PERSISTENCE
flushing: {type: drop}
---
resource: memory
id: smaller
max_tokens: 100
max_context_ratio: 0.0625
token_provider: {provider: openai, model: gpt-4}
persistence: PERSISTENCE
flushing: {type: drop}
---
resource: memory
id: narrow
max_context_ratio: 0.5
token_provider: {provider: anthropic, model: claude-sonnet-4-5, settings: {context_window: 1000}}
persistence: PERSISTENCE
flushing: {type: drop}
"""


async def first(memory: Memory) -> Message:
    return (await memory.read()).messages[0]


@pytest.mark.parametrize(
    ("resource", "encoding", "factor"),
    [
        ("as-the-process", "o200k_base", None),
        ("gpt-4o", "o200k_base", None),
        ("gpt-4", "cl100k_base", None),
        ("own-name", "cl100k_base", None),
        ("claude", "o200k_base", 1.2),
        ("claude-new", "o200k_base", 1.65),
        ("adjusted", "o200k_base", 2),
    ],
)
async def test_a_message_has_the_tokens_of_its_model(
    connect: Connect, resource: str, encoding: str, factor: float | None
) -> None:
    memory = (await connect(BY_MODEL)).memory(resource, "key")
    counted = (await TiktokenCounter(encoding).count_text(TEXT)).tokens + FRAMING
    appended = await memory.append(TEXT)
    message = await first(memory)
    expected = counted if factor is None else math.ceil(counted * factor)
    assert (appended.tokens, message.tokens, message.tokens_estimated) == (expected, expected, factor is not None)
    assert sum((await memory.stats()).tokens.values()) == expected


async def test_bytes_are_counted_without_a_tokenizer(connect: Connect) -> None:
    memory = (await connect(BY_MODEL)).memory("bytes", "key")
    await memory.append(TEXT)
    message = await first(memory)
    assert (message.tokens, message.tokens_estimated) == (math.ceil(len(TEXT.encode()) / 3) + FRAMING, True)


@pytest.mark.parametrize(
    ("encoding", "counted_by", "factor"),
    [("cl100k_base", "cl100k_base", None), ("gpt-4-turbo", "cl100k_base", None), ("gemini-2.5-pro", "o200k_base", 1.1)],
)
async def test_the_process_decides_where_nothing_is_declared(
    connect: Connect, encoding: str, counted_by: str, factor: float | None
) -> None:
    client = await connect(BY_MODEL, encoding=encoding)
    for resource in ("as-the-process", "gpt-4o"):
        await client.memory(resource, "key").append(TEXT)
    message = await first(client.memory("as-the-process", "key"))
    base = (await TiktokenCounter(counted_by).count_text(TEXT)).tokens + FRAMING
    expected = base if factor is None else math.ceil(base * factor)
    assert (message.tokens, message.tokens_estimated) == (expected, factor is not None)
    declared = await first(client.memory("gpt-4o", "key"))
    assert declared.tokens == (await TiktokenCounter().count_text(TEXT)).tokens + FRAMING


async def test_an_encoding_that_nobody_knows_is_refused(connect: Connect) -> None:
    with pytest.raises(MemoryInvalid, match=r"^encoding: .*did you mean 'cl100k_base'\?"):
        await connect(BY_MODEL, encoding="cl100k")


async def test_a_summary_is_counted_like_the_messages(connect: Connect) -> None:
    memory = (await connect(BY_MODEL)).memory("adjusted", "key")
    await memory.append([f"Parcel {number} left the depot {number * 37} for Ghent." for number in range(20)])
    assert (await memory.flush(force=True)).outcome == "committed"
    summary = await first(memory)
    counted = (await TiktokenCounter().count([summary]))[0].tokens
    assert (summary.section, summary.tokens, summary.tokens_estimated) == ("long_term", 2 * counted, True)
    assert 2 * counted <= 400  # a tenth of max_tokens, also as the model counts


@pytest.mark.parametrize(("resource", "budget"), [("desk", 512), ("smaller", 100), ("narrow", 500)])
async def test_a_share_of_the_window_bounds_the_view_and_the_smaller_limit_wins(
    connect: Connect, resource: str, budget: int
) -> None:
    memory = (await connect(SMALL_SHARE)).memory(resource, "key")
    results = [await memory.append(f"{number} " + "and so on " * 20) for number in range(12)]
    assert max(result.tokens for result in results) <= budget
    assert results[-1].evicted
    stats = await memory.stats()
    assert (stats.max_tokens, stats.budget_ratio) == (budget, results[-1].tokens / budget)
    with pytest.raises(MemoryOversize, match=f"at most {budget}"):
        await memory.append("and so on " * 300)


@pytest.mark.parametrize(
    ("provider", "fault"),
    [
        (
            "token_provider:\n  provider: openai\n  model: gpt-4oo\n",
            (
                "desk.yaml:6: token_provider.model: is not in the table of models; for one that is not, write "
                "settings.context_window; did you mean 'gpt-4o'?"
            ),
        ),
        (
            "",
            "desk.yaml:3: max_context_ratio: needs token_provider with the model whose context window it is a share of",
        ),
        (
            "max_tokens: 9000\ntoken_provider: {provider: openai, model: gpt-4}\n",
            "desk.yaml:4: max_tokens: is more than",
        ),
        (
            "token_provider:\n  provider: anthropic\n  model: claude-opus-4-7\n  settings:\n    encoding: o200k_base\n",
            "desk.yaml:8: token_provider.settings.encoding: has no effect: anthropic publishes no encoding",
        ),
        (
            "token_provider:\n  provider: xai\n  model: grok-4\n  fallback: bytes\n  settings: {estimate_factor: 2}\n",
            "desk.yaml:8: token_provider.settings.estimate_factor: has no effect where fallback is bytes",
        ),
        (
            "token_provider: {provider: openai, model: gpt-4, key: x}\n",
            "desk.yaml:4: token_provider.key: is not a field here",
        ),
    ],
)
async def test_a_wrong_model_is_a_fault_with_its_line(tmp_path: Path, provider: str, fault: str) -> None:
    (tmp_path / "desk.yaml").write_text(f"resource: memory\nid: desk\nmax_context_ratio: 0.5\n{provider}")
    with pytest.raises(InvalidDeclarations) as caught:
        await MemoryClient.connect(memories=[tmp_path])
    assert fault in str(caught.value)
