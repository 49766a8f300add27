"""The part `flushing.summarizer` of a memory: who writes the summaries, and what a language model may cost."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final, Literal

from pydantic import AfterValidator, Field, WithJsonSchema

from durable_memory.memory.declarations.declaration import Count, Declaration
from durable_memory.memory.declarations.durations import Duration
from durable_memory.memory.declarations.provider_access import Endpoint, Variable
from durable_memory.memory.tokens.models import find_model

if TYPE_CHECKING:
    from durable_memory.memory.declarations.resource import MemoryResource

KEY_VARIABLES: Final[Mapping[str, str]] = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY"}
"""The variable that holds a provider's key where `api_key_env` names none."""

DEFAULT_INPUT_TOKENS: Final = 16_000
DEFAULT_TIMEOUT: Final = timedelta(minutes=2)
_MODEL_PATTERN: Final = r"^(openai|anthropic):[!-~]{1,200}$"
_MODEL: Final = re.compile(_MODEL_PATTERN.strip("^$"), re.ASCII)
_LONGEST_TIMEOUT: Final = timedelta(minutes=5)
_SMALLEST_INPUT: Final = 256
_MAX_PROMPT: Final = 8_000


def _checked_model(value: str) -> str:
    if _MODEL.fullmatch(value) is None:
        raise ValueError(
            "must be openai:<model> or anthropic:<model>; any service with OpenAI's API is openai:<model> with endpoint"
        )
    return value


def _checked_timeout(value: timedelta) -> timedelta:
    if not timedelta(seconds=1) <= value <= _LONGEST_TIMEOUT:
        raise ValueError("must be from 1s to 5m")
    return value


class SummarizerChoice(Declaration):
    """Who turns what a flush takes out into a summary."""

    type: Literal["rule_based", "llm"] = "rule_based"
    """`rule_based`: sentences of the conversation, free and offline. `llm`: a language model writes."""

    model: Annotated[
        str | None,
        AfterValidator(lambda value: value if value is None else _checked_model(value)),
        WithJsonSchema({"type": "string", "pattern": _MODEL_PATTERN}),
    ] = None
    """`openai:<model>` or `anthropic:<model>`; required where type is llm."""

    prompt: Annotated[str | None, Field(min_length=1, max_length=_MAX_PROMPT)] = None
    """What a summary is to say, in place of our own words. That the conversation is data, and how long the summary may
    be, is always added."""

    endpoint: Endpoint | None = None
    """Where the model is served, if not by its provider: the base URL of an API like OpenAI's or Anthropic's."""

    api_key_env: Variable | None = None
    """Names the environment variable that holds the key. Default: the provider's own; none where endpoint is given."""

    max_input_tokens: Annotated[int, Field(ge=_SMALLEST_INPUT, le=10_000_000)] = DEFAULT_INPUT_TOKENS
    """Tokens of the conversation in one request at most; more is summarised in parts, and then their summaries."""

    timeout: Annotated[Duration, AfterValidator(_checked_timeout)] = DEFAULT_TIMEOUT
    """How long one request may take, 1s to 5m."""

    fallback: Literal["rule_based", "none"] = "rule_based"
    """What happens when all attempts failed. `none`: the messages wait; once the overflow is full, appends are held
    back."""

    daily_token_budget: Count | None = None
    """Tokens, of requests and answers together, that this resource may spend in a day (UTC). Default: no limit."""

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


def summarizer_problems(resource: MemoryResource) -> list[tuple[str, str]]:
    """Returns every (path, problem) of the summariser that no field has alone."""
    choice, path = resource.flushing.summarizer, "flushing.summarizer"
    given = choice.model_fields_set - {"type"}
    if resource.flushing.type != "hybrid_summary" and "summarizer" in resource.flushing.model_fields_set:
        return [(path, f"has no effect where flushing.type is {resource.flushing.type}; remove it")]
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
    if budget is not None and budget < choice.max_input_tokens:
        request = choice.max_input_tokens
        text = f"must be at least max_input_tokens: {budget} tokens do not pay for one request of {request}"
        return [(f"{path}.daily_token_budget", text)]
    return []
