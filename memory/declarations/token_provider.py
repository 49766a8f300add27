"""The part `token_provider` of a memory: the model whose tokens are counted, and whose window is shared out."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Final, Literal

from pydantic import Field

from durable_memory.memory.declarations.declaration import Declaration, Problem, Tokens
from durable_memory.memory.declarations.provider_access import Endpoint, Variable
from durable_memory.memory.tokens.counting import DEFAULT_ENCODING, Counting
from durable_memory.memory.tokens.endpoint import COUNTING_PROVIDERS
from durable_memory.memory.tokens.endpoint import Endpoint as CountingEndpoint
from durable_memory.memory.tokens.models import OTHER_FACTOR, EncodingName, Model, Provider, find_model, unknown_model

_ANY_ENCODING: Final = ("openai", "other")
"""Providers some of whose models may be counted by a published encoding that the table does not know of."""


class TokenProviderSettings(Declaration):
    """What the table of models does not say, or says otherwise."""

    context_window: Tokens | None = None
    """The model's context window, input and output together. Required for a model that the table does not have.

    Default: by the table of models.
    """

    encoding: EncodingName | None = None
    """Counts a model exactly that the table does not have, as a deployment with a name of its own; of `openai` and
    `other`.

    Default: by the table of models.
    """

    estimate_factor: Annotated[float, Field(ge=0.5, le=4, title="factor")] | None = None
    """How many tokens the model has for one of `o200k_base`, where they are estimated by it. Too small a factor lets
    views outgrow the model's window.

    Default: by the table of models.
    """


class TokenProvider(Declaration):
    """The model that reads this memory: how its tokens are counted, and how large its context window is.

    Default: tokens are counted as `DURABLE_MEMORY_ENCODING` says, and `max_context_ratio` cannot be used.
    """

    provider: Provider
    """Who makes the model."""

    model: Annotated[str, Field(min_length=1, max_length=200)]
    """Its name, as its provider spells it; a date or `-latest` after it makes no difference."""

    fallback: Literal["tiktoken", "bytes"] = "tiktoken"
    """How tokens are estimated where no published tokenizer counts them: those of `o200k_base` times a factor
    (`tiktoken`), or a third of the bytes, without loading a tokenizer and often half as much again (`bytes`)."""

    api_key_env: Variable | None = None
    """The variable that holds the key for the provider's counting endpoint, which then corrects the estimates; of
    `anthropic` and `google`. Never the key itself.

    Default: none; the endpoint is not asked.
    """

    endpoint: Endpoint | None = None
    """Base URL of that counting endpoint, as of a gateway. Without `api_key_env` it is asked without a key.

    Default: the provider's.
    """

    settings: TokenProviderSettings = TokenProviderSettings()

    @property
    def context_window(self) -> int:
        """The tokens of the model's context window; 0 where it is not known, which the declaration's check refuses."""
        known = self._known
        return self.settings.context_window or (known.context_window if known else 0)

    @cached_property
    def counting(self) -> Counting:
        """How tokens are counted."""
        exact = self._exact
        if exact is not None:
            return Counting(exact)
        if self.fallback == "bytes":
            return Counting(None, 1.0, self._asked)
        known = self._known
        factor = self.settings.estimate_factor or (known.factor if known else OTHER_FACTOR)
        return Counting(DEFAULT_ENCODING, factor, self._asked)

    def problems(self) -> list[Problem]:
        """Returns every problem that none of its fields has alone."""
        if not self.context_window:
            return [("model", unknown_model(self.provider, self.model))]
        known, settings = self._known, self.settings
        found: list[Problem] = []
        if settings.encoding is not None and known is not None and known.encoding is not None:
            found.append(("settings.encoding", f"has no effect: the model is counted by {known.encoding}; remove it"))
        elif settings.encoding is not None and self.provider not in _ANY_ENCODING:
            found.append(("settings.encoding", f"has no effect: {self.provider} publishes no encoding of tiktoken's"))
        for path, given in (
            ("settings.estimate_factor", settings.estimate_factor is not None),
            ("fallback", self.fallback == "bytes"),
        ):
            if given and self._exact is not None:
                found.append((path, f"has no effect: the model is counted exactly, by {self._exact}; remove it"))
        if settings.estimate_factor is not None and self._exact is None and self.fallback == "bytes":
            found.append(("settings.estimate_factor", "has no effect where fallback is bytes; remove one of them"))
        for path, value in (("api_key_env", self.api_key_env), ("endpoint", self.endpoint)):
            if value is not None and self.provider not in COUNTING_PROVIDERS:
                asked = " and ".join(COUNTING_PROVIDERS)
                found.append((path, f"has no effect: only {asked} are asked for counts; remove it"))
        return found

    @property
    def _asked(self) -> CountingEndpoint | None:
        """The endpoint that corrects the estimates, if it may be asked."""
        if self.api_key_env is None and self.endpoint is None:
            return None
        for provider in COUNTING_PROVIDERS:
            if provider == self.provider:
                return CountingEndpoint(provider, self.model, self.endpoint, self.api_key_env)
        return None

    @property
    def _known(self) -> Model | None:
        return find_model(self.provider, self.model)

    @property
    def _exact(self) -> EncodingName | None:
        known = self._known
        if known is not None and known.encoding is not None:
            return known.encoding
        return self.settings.encoding if self.provider in _ANY_ENCODING else None
