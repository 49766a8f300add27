"""The part `flushing.summarizer` of a memory: who writes the summaries, and what a language model may cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Final, Literal, TypeGuard

from pydantic import AfterValidator, Field, WithJsonSchema

from durable_memory.memory.declarations.declaration import Declaration, Problem, Tokens
from durable_memory.memory.declarations.durations import Duration, Within
from durable_memory.memory.declarations.model_requests import full_request_tokens
from durable_memory.memory.declarations.provider_access import Endpoint, Variable
from durable_memory.memory.tokens.models import find_model

KEY_VARIABLES: Final[Mapping[str, str]] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""The variable that holds a provider's key where `api_key_env` names none."""

DEFAULT_INPUT_TOKENS: Final = 16_000
DEFAULT_TIMEOUT: Final = timedelta(minutes=2)
_MODEL_PATTERN: Final = r"^(openai|anthropic):[!-~]{1,200}$"
_MODEL: Final = re.compile(_MODEL_PATTERN.strip("^$"), re.ASCII)
_SMALLEST_INPUT: Final = 256
_MAX_PROMPT: Final = 8_000


def is_model(value: object) -> TypeGuard[str]:
    """Tells whether `value` names a model with its provider."""
    return isinstance(value, str) and _MODEL.fullmatch(value) is not None


def _checked_model(value: str) -> str:
    if not is_model(value):
        raise ValueError(
            "must be openai:<model> or anthropic:<model>; any service with OpenAI's API is openai:<model> with endpoint"
        )
    return value


class SummarizerChoice(Declaration):
    """Who turns what a flush takes out into a summary; only for `hybrid_summary`.

    All fields but `type` are for `type: llm`. A summariser that the program names goes before what is declared here.
    """

    type: Literal["rule_based", "llm"] = "rule_based"
    """Who writes: an extract of the conversation, free and offline (`rule_based`), or a language model (`llm`), which
    needs the extra `llm` and a key on the worker."""

    model: Annotated[
        str | None,
        AfterValidator(lambda value: value if value is None else _checked_model(value)),
        WithJsonSchema(
            {"type": "string", "title": "`openai:<model>` or `anthropic:<model>`", "pattern": _MODEL_PATTERN}
        ),
    ] = None
    """Which model writes. `openai:` also stands for any service with OpenAI's API, named in `endpoint`.

    Default: required where `type` is `llm`.
    """

    prompt: Annotated[str | None, Field(min_length=1, max_length=_MAX_PROMPT)] = None
    """What a summary is to say. That the conversation is data, and how long the summary may be, is always added.

    Default: words of our own.
    """

    endpoint: Endpoint | None = None
    """Where the model is served, if not by its provider: the base URL of a service with OpenAI's or Anthropic's API.

    Default: the provider's.
    """

    stream: bool = True
    """Whether the model is asked to stream its answer. `false` is for a service that cannot: an answer is then read on
    however long it grows, up to `timeout`."""

    api_key_env: Variable | None = None
    """The variable that holds the key; never the key itself. With `endpoint` and without this, the word
    `no-key` is sent in its place.

    Default: `OPENAI_API_KEY` or `ANTHROPIC_API_KEY`; none with `endpoint`.
    """

    max_input_tokens: Annotated[int, Field(ge=_SMALLEST_INPUT, le=10_000_000, title="tokens")] = DEFAULT_INPUT_TOKENS
    """Most tokens of the conversation in one request, as the model is told it; more is summarised in parts. At most
    three quarters of the model's window, where the model is known."""

    timeout: Annotated[Duration, Within("1s", "5m")] = DEFAULT_TIMEOUT
    """How long one request may take."""

    fallback: Literal["rule_based", "none"] = "rule_based"
    """Who writes when all attempts failed. `none`: the messages wait, and once the overflow is full appends are held
    back."""

    daily_token_budget: Tokens | None = None
    """Most tokens that this resource may spend in a day (UTC), over all processes, requests and answers together; at
    least what one full request may cost: `max_input_tokens`, the answer, and the instructions. When too little is left,
    `fallback` decides.

    Default: no limit.
    """

    @property
    def uses_model(self) -> bool:
        """Whether a language model writes."""
        return self.type == "llm"

    @property
    def provider(self) -> Literal["openai", "anthropic"]:
        """The part of `model` before the colon; only where type is llm."""
        return provider_of(self.model)

    @property
    def model_name(self) -> str:
        """The part of `model` after the colon."""
        return (self.model or "").partition(":")[2]

    @property
    def key_variable(self) -> str | None:
        """The variable that must hold a key, or None where the endpoint needs none."""
        if self.api_key_env is not None or self.endpoint is not None:
            return self.api_key_env
        return KEY_VARIABLES[self.provider]


def provider_of(model: object) -> Literal["openai", "anthropic"]:
    """Returns the provider of a model, which may be written wrongly."""
    return "anthropic" if isinstance(model, str) and model.startswith("anthropic:") else "openai"


def summarizer_problems(choice: SummarizerChoice, summary_tokens: int) -> list[Problem]:
    """Returns every problem of the summariser that no field has alone. summary_tokens: the room of its summaries."""
    path = "flushing.summarizer"
    given = choice.model_fields_set - {"type"}
    if not choice.uses_model:
        return [(f"{path}.{name}", "has no effect where type is rule_based; write type: llm") for name in sorted(given)]
    if choice.model is None:
        return [(f"{path}.model", "is missing; write one, such as openai:gpt-4o-mini")]
    known = None if choice.endpoint else find_model(choice.provider, choice.model_name)
    if known is not None and choice.max_input_tokens > (most := known.context_window * 3 // 4):
        window = f"{known.context_window} tokens of {choice.model}"
        text = f"leaves no room for prompt and answer in the {window}: write at most {most}"
        return [(f"{path}.max_input_tokens", text)]
    budget = choice.daily_token_budget
    if budget is not None:
        most = full_request_tokens(choice.max_input_tokens, summary_tokens, choice.prompt)
        if budget < most:
            text = (
                f"{budget} tokens do not pay for one full request, which may cost {most} with its answer: write at "
                "least that, or lower max_input_tokens"
            )
            return [(f"{path}.daily_token_budget", text)]
    return []
