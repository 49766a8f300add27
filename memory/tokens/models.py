"""The table of models: how the tokens of each are counted, and how many its context window holds.

A model is known by its name, alone or with a date, `-latest` or `-preview` after it. Windows are the input and output
of one request together, as the providers state them:
platform.claude.com/docs/en/about-claude/models/overview, ai.google.dev/gemini-api/docs/models,
platform.openai.com/docs/models, docs.mistral.ai/getting-started/models, api-docs.deepseek.com/quick_start/pricing,
docs.x.ai/docs/models.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from durable_memory.memory.types import did_you_mean

EncodingName: TypeAlias = Literal["o200k_base", "cl100k_base"]
Provider: TypeAlias = Literal["openai", "anthropic", "google", "mistral", "deepseek", "xai", "other"]

OTHER_FACTOR: Final = 1.2
"""For models of which nothing is published: a fifth more than o200k_base counts."""


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of a model.

    context_window: in tokens. encoding: the published tokenizer that counts its texts exactly; None if there is none.
    factor: else, by how much its tokens exceed those of o200k_base.
    """

    context_window: int
    encoding: EncodingName | None = None
    factor: float = 1.0


# OpenAI publishes encodings by model in tiktoken (model.py). It has none for gpt-6, which is estimated by the last one.
_O200K: Final = Model(128_000, "o200k_base")
_GPT5: Final = Model(400_000, "o200k_base")
_REASONING: Final = Model(200_000, "o200k_base")
_GPT41: Final = Model(1_047_576, "o200k_base")
_GPT54: Final = Model(1_050_000, "o200k_base")
_GPT6: Final = Model(1_050_000, None, 1.0)
_TURBO: Final = Model(128_000, "cl100k_base")
_GPT35: Final = Model(16_385, "cl100k_base")
# A token of Claude is about 3.5 characters of English (platform.claude.com/docs/en/about-claude/glossary), one of
# OpenAI about 4 (their help centre): 1.15, taken as 1.2. From Opus 4.7 on the tokenizer gives up to 1.35 times as many
# (its release notes).
_CLAUDE: Final = Model(200_000, None, 1.2)
_CLAUDE_1M: Final = Model(1_000_000, None, 1.2)
_CLAUDE_NEW: Final = Model(1_000_000, None, 1.65)
# A token of Gemini is about 4 characters (ai.google.dev/gemini-api/docs/tokens), as OpenAI's: a tenth more, to be safe.
_GEMINI: Final = Model(1_048_576, None, 1.1)
_MISTRAL_128K: Final = Model(128_000, None, OTHER_FACTOR)
_MISTRAL_256K: Final = Model(256_000, None, OTHER_FACTOR)
# A character of English is about 0.3 tokens (api-docs.deepseek.com/quick_start/token_usage), 0.25 of OpenAI's.
_DEEPSEEK: Final = Model(128_000, None, 1.2)
_DEEPSEEK_1M: Final = Model(1_000_000, None, 1.2)

MODELS: Final[Mapping[Provider, Mapping[str, Model]]] = {
    "openai": {
        **dict.fromkeys(("gpt-4o", "gpt-4o-mini", "gpt-4o-audio", "gpt-4o-mini-audio", "gpt-4o-search"), _O200K),
        **dict.fromkeys(("gpt-4o-mini-search", "chatgpt-4o", "gpt-4.5", "o1-mini"), _O200K),
        **dict.fromkeys(("gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat", "gpt-5.3-chat"), _O200K),
        **dict.fromkeys(("o1", "o1-pro", "o3", "o3-mini", "o3-pro", "o3-deep-research", "o4-mini"), _REASONING),
        "o4-mini-deep-research": _REASONING,
        "o1-preview": _O200K,
        **dict.fromkeys(("gpt-4.1", "gpt-4.1-mini", "gpt-4.1-nano"), _GPT41),
        **dict.fromkeys(("gpt-5", "gpt-5-mini", "gpt-5-nano", "gpt-5-pro", "gpt-5-codex", "gpt-5.1"), _GPT5),
        **dict.fromkeys(("gpt-5.1-mini", "gpt-5.1-codex", "gpt-5.1-codex-mini", "gpt-5.2", "gpt-5.2-pro"), _GPT5),
        **dict.fromkeys(("gpt-5.3-codex", "gpt-5.4-mini", "gpt-5.4-nano"), _GPT5),
        **dict.fromkeys(("gpt-5.4", "gpt-5.4-pro", "gpt-5.6-sol", "gpt-5.6-terra", "gpt-5.6-luna"), _GPT54),
        # Their encoding, o200k_harmony, has other special tokens only.
        **dict.fromkeys(("gpt-oss-20b", "gpt-oss-120b"), Model(131_072, "o200k_base")),
        **dict.fromkeys(("gpt-5.5", "gpt-5.5-pro"), Model(1_000_000, "o200k_base")),
        **dict.fromkeys(("gpt-6-astra", "gpt-6-sol", "gpt-6-luna", "gpt-6.1-sol", "gpt-6.1-terra"), _GPT6),
        **dict.fromkeys(("gpt-6.2-astra", "gpt-6.2-sol"), _GPT6),
        **dict.fromkeys(("gpt-4-turbo", "gpt-4-1106", "gpt-4-0125", "gpt-4-vision"), _TURBO),
        "gpt-4": Model(8_192, "cl100k_base"),
        "gpt-4-32k": Model(32_768, "cl100k_base"),
        **dict.fromkeys(("gpt-3.5-turbo", "gpt-3.5-turbo-16k", "gpt-35-turbo"), _GPT35),
    },
    "anthropic": {
        **dict.fromkeys(("claude-3-haiku", "claude-3-sonnet", "claude-3-opus", "claude-3-5-haiku"), _CLAUDE),
        **dict.fromkeys(("claude-3-5-sonnet", "claude-3-7-sonnet", "claude-haiku-4-5", "claude-sonnet-4"), _CLAUDE),
        **dict.fromkeys(("claude-sonnet-4-0", "claude-opus-4-0"), _CLAUDE),
        **dict.fromkeys(("claude-sonnet-4-5", "claude-opus-4", "claude-opus-4-1", "claude-opus-4-5"), _CLAUDE),
        **dict.fromkeys(("claude-sonnet-4-6", "claude-opus-4-6"), _CLAUDE_1M),
        **dict.fromkeys(("claude-opus-4-7", "claude-opus-4-8", "claude-opus-5", "claude-opus-5-5"), _CLAUDE_NEW),
        **dict.fromkeys(("claude-sonnet-5", "claude-sonnet-5-5", "claude-haiku-5-5"), _CLAUDE_NEW),
        **dict.fromkeys(("claude-fable-5", "claude-fable-5-1", "claude-fable-5-2"), _CLAUDE_NEW),
        **dict.fromkeys(("claude-mythos", "claude-mythos-5", "claude-mythos-5-1", "claude-mythos-5-2"), _CLAUDE_NEW),
    },
    "google": {
        **dict.fromkeys(("gemini-1.5-flash", "gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-2.5-flash"), _GEMINI),
        **dict.fromkeys(("gemini-2.5-flash-lite", "gemini-2.5-pro", "gemini-3-pro", "gemini-3-flash"), _GEMINI),
        **dict.fromkeys(("gemini-3.1-pro", "gemini-3.1-flash-lite", "gemini-3.5-flash"), _GEMINI),
        **dict.fromkeys(("gemini-3.5-flash-lite", "gemini-3.6-flash", "gemini-3.7-flash", "gemini-3.8-flash"), _GEMINI),
        "gemini-4-argon": _GEMINI,
        "gemini-1.5-pro": Model(2_097_152, None, 1.1),
    },
    "mistral": {
        **dict.fromkeys(
            ("mistral-nemo", "open-mistral-nemo", "mistral-small-2506", "mistral-medium-2508"), _MISTRAL_128K
        ),
        **dict.fromkeys(("mistral-large-2411", "magistral-medium-2509", "magistral-small-2509"), _MISTRAL_128K),
        **dict.fromkeys(("mistral-large-2512", "mistral-small-2603", "devstral-2512", "codestral-2508"), _MISTRAL_256K),
        **dict.fromkeys(("ministral-8b-2512", "ministral-14b-2512"), _MISTRAL_256K),
    },
    "deepseek": {
        **dict.fromkeys(("deepseek-chat", "deepseek-reasoner", "deepseek-v3.2"), _DEEPSEEK),
        **dict.fromkeys(("deepseek-v4-flash", "deepseek-v4-pro"), _DEEPSEEK_1M),
    },
    "xai": {
        **dict.fromkeys(
            ("grok-3", "grok-3-mini", "grok-3-fast", "grok-3-mini-fast"), Model(131_072, None, OTHER_FACTOR)
        ),
        **dict.fromkeys(("grok-4", "grok-code-fast-1"), Model(256_000, None, OTHER_FACTOR)),
        **dict.fromkeys(("grok-4-fast", "grok-4-1-fast"), Model(2_000_000, None, OTHER_FACTOR)),
        **dict.fromkeys(("grok-4.20", "grok-4.3"), Model(1_000_000, None, OTHER_FACTOR)),
        **dict.fromkeys(("grok-4.5", "grok-4.6", "grok-4.7"), Model(500_000, None, OTHER_FACTOR)),
    },
    "other": {},
}
"""By provider and name. Every one of these was on sale, or still served, in 2026."""

_EDITION: Final = re.compile(r"(?:[-@](?:latest|preview|exp|reasoning|non-reasoning|\d{2,8}(?:-\d{2}){0,2}))+")
"""What may follow a name: dates, numbers of editions, and words for the newest or an early one."""


def find_model(provider: Provider, name: str) -> Model | None:
    """Returns what is known of a model, or None if the table does not have it."""
    models = MODELS[provider]
    if provider == "openai" and name.startswith("ft:"):
        # A fine-tuned model is ft:<model>:<organisation>:<name>:<id>.
        name = name.split(":")[1]
    if name in models:
        return models[name]
    bases = (base for base in models if name.startswith(base) and _EDITION.fullmatch(name, len(base)))
    longest = max(bases, key=len, default=None)
    return None if longest is None else models[longest]


def unknown_model(provider: Provider, name: str) -> str:
    """Returns what to say of a model that the table does not have, with a near miss."""
    elsewhere = [other for other in MODELS if other != provider and find_model(other, name)]
    if elsewhere:
        return f"is no model of {provider}; did you mean provider: {elsewhere[0]}?"
    near = did_you_mean(name, tuple(MODELS[provider]))
    return f"is not in the table of models; for one that is not, write settings.context_window{near}"
