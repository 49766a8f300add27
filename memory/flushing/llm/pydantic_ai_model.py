"""The Model port on pydantic-ai: OpenAI's and Anthropic's APIs, and all services that speak like one of them.

Imported only where a resource declares a language model; needs the extra `llm`.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from decimal import Decimal
from typing import Final

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request, model_request_stream
from pydantic_ai.messages import ModelRequest, ModelResponse, PartDeltaEvent, PartStartEvent, TextPart
from pydantic_ai.models import Model as PydanticModel
from pydantic_ai.models import StreamedResponse
from pydantic_ai.settings import ModelSettings

from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.errors import MemoryModelRefused, MemoryModelUnavailable
from durable_memory.memory.flushing.llm.model import Answer, Ending, Question

_NO_KEY: Final = "no-key"
"""Sent where an endpoint needs none: the libraries insist on one, and would take another from the environment."""

_LONGEST_WAIT_SECONDS: Final = 600.0
"""A provider that asks for a longer pause is asked again after this one."""

_CHARACTERS_A_TOKEN: Final = 12
"""An answer with more than that for each token it may have will not end by itself; it is not read on."""

_MOST_TOKENS: Final = 100_000_000
"""What a provider says beyond this is no count of one request."""

_NO_TAGS: Final = ("\0begins", "\0ends")
"""In place of `<think>`: the library takes what follows such a piece out of the answer, also where a summary tells of
tags. `wrapping` takes thinking off."""

_NEVER_SENT: Final = frozenset({"ConnectError", "ConnectTimeout", "PoolTimeout"})
"""By name, since the providers' libraries take httpx or httpx2 for it, whichever is there."""


class PydanticAiModel:
    """See Model. Attempts are Temporal's: the provider's client makes none of its own."""

    def __init__(self, choice: SummarizerChoice, key: str | None) -> None:
        self.name = choice.model or ""
        self._at_an_endpoint = choice.endpoint is not None
        self._has_key = key is not None
        self._timeout_seconds = choice.timeout.total_seconds()
        self._streams = choice.stream
        self._model, self._close = _open(choice, key or _NO_KEY)

    async def ask(self, question: Question) -> Answer:
        """See Model."""
        request = ModelRequest.user_text_prompt(question.text, instructions=question.instructions)
        settings = ModelSettings(max_tokens=question.max_tokens, temperature=0.0)
        deadline = asyncio.timeout(self._timeout_seconds)
        with self._errors_in_words():
            try:
                async with deadline:
                    if not self._streams:
                        answered = await model_request(self._model, [request], model_settings=settings)
                        return _answer(answered, _ending_of(answered))
                    async with model_request_stream(self._model, [request], model_settings=settings) as stream:
                        return await self._read(stream, question)
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise MemoryModelUnavailable(
                    f"the model {self.name!r} did not answer within {self._timeout_seconds:g} s (summarizer.timeout)",
                    may_be_charged=True,
                ) from None

    async def close(self) -> None:
        """See Model."""
        await self._close()

    async def _read(self, stream: StreamedResponse, question: Question) -> Answer:
        characters = 0
        try:
            async for event in stream:
                characters += _characters(event)
                if characters > question.max_tokens * _CHARACTERS_A_TOKEN:
                    # How much it has cost stands at the end of the stream.
                    return replace(_answer(stream.get(), "cut"), output_tokens=None, cost_usd=None)
        except exceptions.ModelHTTPError as error:
            # An error in the middle of an answer gets a status that no response had.
            raise MemoryModelUnavailable(
                f"the answer of the model {self.name!r} broke off ({type(error).__name__})", may_be_charged=True
            ) from None
        answered = stream.get()
        return _answer(answered, _ending_of(answered))

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Says what a provider refused by its status alone: its text may repeat the request, or a key."""
        try:
            yield
        except exceptions.ModelHTTPError as error:
            raise self._by_status(error) from None
        except (MemoryModelUnavailable, MemoryModelRefused):
            raise
        except Exception as error:  # noqa: BLE001 - what cannot be read was paid for, and its error may repeat content
            sent = _was_sent(error)
            problem = "could not be asked, or its answer broke off" if sent else "cannot be reached"
            unread = self._at_an_endpoint and isinstance(error, exceptions.UnexpectedModelBehavior)
            hint = "; if this endpoint does not stream, write stream: false" if unread and self._streams else ""
            raise MemoryModelUnavailable(
                f"the model {self.name!r} {problem} ({type(error).__name__}){hint}", may_be_charged=sent
            ) from None

    def _by_status(self, error: exceptions.ModelHTTPError) -> MemoryModelUnavailable | MemoryModelRefused:
        status = error.status_code
        if status in (401, 403):
            refused = (
                "refused the key (status {}); check the variable that api_key_env names"
                if self._has_key
                else "asks for a key (status {}); name its variable in api_key_env"
            )
            return MemoryModelRefused(f"the model {self.name!r} {refused.format(status)}")
        if status == 404:  # noqa: PLR2004 - a status of HTTP
            return MemoryModelRefused(
                f"there is no model {self.name!r} at this endpoint (status {status}); check model and endpoint"
            )
        if isinstance(error, exceptions.ModelQuotaExceededError):
            return MemoryModelRefused(f"the account for the model {self.name!r} has no quota left (status {status})")
        if status < 500 and status not in (408, 409, 425, 429):  # noqa: PLR2004 - statuses of HTTP
            if _is_filtered(error.body):
                return MemoryModelRefused(
                    f"a filter of the provider of the model {self.name!r} declines this conversation (status {status})"
                )
            return MemoryModelRefused(
                f"the model {self.name!r} refuses this request (status {status}); check model, prompt and "
                "max_input_tokens"
            )
        wait_ms = None if error.retry_after is None else round(min(error.retry_after, _LONGEST_WAIT_SECONDS) * 1_000)
        return MemoryModelUnavailable(
            f"the model {self.name!r} is overloaded or out of order (status {status})",
            may_be_charged=False,
            retry_after_ms=wait_ms,
        )


def _open(choice: SummarizerChoice, key: str) -> tuple[PydanticModel, Callable[[], Awaitable[None]]]:
    if choice.provider == "anthropic":
        from anthropic import AsyncAnthropic  # noqa: PLC0415 - the other provider's library need not be there
        from pydantic_ai.models.anthropic import AnthropicModel  # noqa: PLC0415 - loaded where it is used
        from pydantic_ai.providers.anthropic import AnthropicProvider  # noqa: PLC0415 - loaded where it is used

        anthropic = AsyncAnthropic(api_key=key, base_url=choice.endpoint, max_retries=0)
        return AnthropicModel(
            choice.model_name, provider=AnthropicProvider(anthropic_client=anthropic)
        ), anthropic.close
    from openai import AsyncOpenAI  # noqa: PLC0415 - see above
    from pydantic_ai.models.openai import OpenAIChatModel  # noqa: PLC0415 - loaded where it is used
    from pydantic_ai.profiles.openai import OpenAIModelProfile  # noqa: PLC0415 - loaded where it is used
    from pydantic_ai.providers.openai import OpenAIProvider  # noqa: PLC0415 - loaded where it is used

    openai = AsyncOpenAI(api_key=key, base_url=choice.endpoint, max_retries=0)
    model = OpenAIChatModel(
        choice.model_name,
        provider=OpenAIProvider(openai_client=openai),
        # A stream that just ends was cut somewhere on the way.
        profile=OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True, thinking_tags=_NO_TAGS),
    )
    return model, openai.close


def _characters(event: object) -> int:
    """Returns how much text an event adds to an answer, or to the thinking before it."""
    if isinstance(event, PartStartEvent):
        return len(getattr(event.part, "content", None) or "")
    if isinstance(event, PartDeltaEvent):
        return len(getattr(event.delta, "content_delta", None) or "")
    return 0


def _ending_of(response: ModelResponse) -> Ending:
    """Returns how an answer ended, by the word of whoever serves the model where the library knows no other for it."""
    if response.finish_reason is not None:
        return _ENDINGS.get(response.finish_reason, "complete")
    word = (response.provider_details or {}).get("finish_reason")
    if isinstance(word, str) and _FILTERED.search(word):
        return "refused"
    if isinstance(word, str) and _ENDED.fullmatch(word):
        return "complete"
    raise exceptions.UnexpectedModelBehavior("an answer without its end")


def _answer(response: ModelResponse, ending: Ending) -> Answer:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    usage = response.usage
    return Answer(
        text=text,
        ending=ending,
        input_tokens=_count(usage.input_tokens),
        output_tokens=_count(usage.output_tokens),
        cost_usd=_cost(response) if _count(max(usage.input_tokens, usage.output_tokens)) else None,
    )


def _count(tokens: float | None) -> int | None:
    """Returns a number of tokens as a provider counts them, or None for what cannot be one."""
    return int(tokens) if tokens and 0 < tokens <= _MOST_TOKENS else None


def _is_filtered(body: object) -> bool:
    """Tells whether the body of an error names a filter for contents as its reason, by its code alone."""
    error = body.get("error", body) if isinstance(body, dict) else None
    code = error.get("code") if isinstance(error, dict) else None
    return isinstance(code, str) and _FILTERED.search(code) is not None


def _was_sent(error: BaseException | None) -> bool:
    """Tells whether a request may have reached the provider before it failed."""
    while error is not None:
        if type(error).__name__ in _NEVER_SENT:
            return False
        error = error.__cause__
    return True


_FILTERED: Final = re.compile(
    "filter|safety|guardrail|block|prohibit|refus|moderation|sensitive|recitation|policy|spii|invalid_prompt",
    re.IGNORECASE,
)
"""In what services write as the end of an answer, or the code of an error, if they declined: `content_filter: SAFETY`
of Gemini, `guardrail_intervened` of Bedrock, `sensitive` of GLM, `invalid_prompt` of OpenAI."""

_ENDED: Final = re.compile("eos|eos_token|end_turn|normal", re.IGNORECASE)
"""What some servers of open models write for `stop`."""

_ENDINGS: Final[dict[str, Ending]] = {"length": "cut", "content_filter": "refused", "error": "cut"}


def _cost(response: ModelResponse) -> Decimal | None:
    try:
        return response.cost().total_price
    except (LookupError, ValueError):
        return None  # not on the price list, as what people serve themselves
