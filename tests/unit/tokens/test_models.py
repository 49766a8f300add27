"""The table of models: OpenAI's have the encodings that tiktoken publishes; names are found as providers write them."""

from __future__ import annotations

import contextlib
import re
from functools import partial
from typing import get_args

import pytest
import tiktoken
from anthropic.types import Model as ClaudeModel
from openai.types.chat_model import ChatModel

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.tokens.counting import Counting, counting_named
from durable_memory.memory.tokens.models import MODELS, Provider, find_model

LISTED: dict[Provider, tuple[str, ...]] = {
    "openai": get_args(ChatModel),
    "anthropic": get_args(get_args(ClaudeModel)[0]),
}
"""The names that the SDKs of these providers list."""


def published(name: str) -> str | None:
    """What tiktoken says of a model; its encoding for gpt-oss differs from o200k_base in special tokens only."""
    for spelling in (name, f"{name}-latest"):
        with contextlib.suppress(KeyError):
            return tiktoken.encoding_name_for_model(spelling).replace("o200k_harmony", "o200k_base")
    return None


@pytest.mark.parametrize("name", sorted({*MODELS["openai"], *filter(partial(find_model, "openai"), LISTED["openai"])}))
def test_a_model_of_openai_has_the_encoding_that_is_published_for_it(name: str) -> None:
    model = find_model("openai", name)
    assert model is not None
    assert model.encoding == published(name)


@pytest.mark.parametrize("provider", LISTED)
def test_nearly_all_models_that_the_sdks_list_are_known(provider: Provider) -> None:
    # Not all: the lists grow, and some of their models hear or draw.
    known = [name for name in LISTED[provider] if find_model(provider, name)]
    assert len(known) >= 0.9 * len(LISTED[provider])


def test_models_without_a_published_encoding_are_estimated_upwards() -> None:
    others = [model for provider, models in MODELS.items() if provider != "openai" for model in models.values()]
    assert {model.encoding for model in others} == {None}
    assert min(model.factor for model in others) > 1


@pytest.mark.parametrize(
    ("provider", "name", "window"),
    [
        ("openai", "gpt-4o-2024-11-20", 128_000),
        ("openai", "ft:gpt-4o-mini-2024-07-18:acme::x1", 128_000),
        ("openai", "gpt-4-0613", 8_192),
        ("openai", "gpt-4-turbo-2024-04-09", 128_000),
        ("anthropic", "claude-3-5-sonnet@20241022", 200_000),
        ("anthropic", "claude-opus-4-20250514", 200_000),
        ("google", "gemini-3-pro-preview", 1_048_576),
        ("xai", "grok-4-0709", 256_000),
    ],
)
def test_dates_and_editions_make_no_other_model(provider: Provider, name: str, window: int) -> None:
    model = find_model(provider, name)
    assert model is not None
    assert model.context_window == window


@pytest.mark.parametrize("name", ["gpt-4oo", "gpt-4-turbow", "gpt-4o-", "gpt", "", "GPT-4o", "gpt-4o-realtime", "ft:x"])
def test_what_only_begins_like_a_model_is_none(name: str) -> None:
    assert find_model("openai", name) is None


def test_the_setting_takes_encodings_and_models() -> None:
    assert counting_named("cl100k_base") == counting_named("gpt-4") == Counting("cl100k_base")
    assert counting_named("gemini-2.5-pro") == Counting("o200k_base", 1.1)
    with pytest.raises(MemoryInvalid, match=re.escape("must be o200k_base or cl100k_base, or a model that is known")):
        counting_named("p50k_base")
