"""The smallest room for summaries that a declaration may have is one in which every flush ends."""

from __future__ import annotations

import pytest

from durable_memory.memory.errors import InvalidDeclarations
from tests.integration.tokens.conftest import Connect

PROVIDERS = {
    "o200k_base": "{provider: openai, model: gpt-4o}",
    "cl100k_base": "{provider: openai, model: gpt-4}",
    "bytes": "{provider: google, model: gemini-2.5-pro, fallback: bytes}",
    "factor-0.5": "{provider: other, model: own, settings: {context_window: 8000, estimate_factor: 0.5}}",
    "factor-1.2": "{provider: anthropic, model: claude-sonnet-4-5}",
    "factor-1.65": "{provider: anthropic, model: claude-opus-4-7}",
    "factor-4": "{provider: other, model: own, settings: {context_window: 8000, estimate_factor: 4}}",
}
LEAST = {
    "o200k_base": 16,
    "cl100k_base": 16,
    "bytes": 16,
    "factor-0.5": 16,
    "factor-1.2": 20,
    "factor-1.65": 27,
    "factor-4": 64,
}


def declared(counted: str, summary_tokens: int) -> str:
    return (
        f"resource: memory\nid: small\nmax_tokens: 600\ntoken_provider: {PROVIDERS[counted]}\n"
        f"persistence: PERSISTENCE\nflushing: {{summary_tokens: {summary_tokens}}}\n"
    )


@pytest.mark.parametrize("counted", PROVIDERS)
async def test_the_smallest_room_holds_a_summary(connect: Connect, counted: str) -> None:
    memory = (await connect(declared(counted, LEAST[counted]))).memory("small", "key")
    await memory.append([f"Parcel {number} left for Ghent." for number in range(12)])
    assert (await memory.flush(force=True)).outcome == "committed"
    summary = (await memory.read()).messages[0]
    assert summary.section == "long_term"
    assert len(summary.text.splitlines()) > 1, "a word stands below the line that marks it"


@pytest.mark.parametrize("counted", PROVIDERS)
async def test_a_smaller_room_is_refused(connect: Connect, counted: str) -> None:
    with pytest.raises(InvalidDeclarations, match=f"they need {LEAST[counted]} at least"):
        await connect(declared(counted, LEAST[counted] - 1))


async def test_a_default_that_leaves_less_is_refused(connect: Connect) -> None:
    yaml = (
        "resource: memory\nid: small\nmax_tokens: 200\ntoken_provider: {provider: anthropic, model: claude-opus-4-7}\n"
    )
    with pytest.raises(InvalidDeclarations, match="max_tokens: leaves 20 tokens for summaries; they need 27 at least"):
        await connect(yaml)
