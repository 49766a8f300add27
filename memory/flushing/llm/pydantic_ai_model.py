"""The Model port on pydantic-ai: OpenAI's and Anthropic's APIs, and all services that speak like one of them.

Imported only where a resource declares a language model; needs the extra `llm`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Final

from pydantic_ai import exceptions
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart
from pydantic_ai.models import Model as PydanticModel
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


class PydanticAiModel:
    """See Model. Attempts are Temporal's: the provider's client makes none of its own."""

    def __init__(self, choice: SummarizerChoice, key: str | None) -> None:
        self.name = choice.model or ""
        self._timeout_seconds = choice.timeout.total_seconds()
        self._model, self._close = _open(choice, key or _NO_KEY)

    async def ask(self, question: Question) -> Answer:
        """See Model."""
        request = ModelRequest.user_text_prompt(question.text, instructions=question.instructions)
        settings = ModelSettings(max_tokens=question.max_tokens, temperature=0.0)
        deadline = asyncio.timeout(self._timeout_seconds)
        with self._errors_in_words():
            try:
                async with deadline, model_request_stream(self._model, [request], model_settings=settings) as stream:
                    characters = 0
                    async for event in stream:
                        delta = getattr(event, "delta", None)
                        characters += len(getattr(delta, "content_delta", None) or "")
                        if characters > question.max_tokens * _CHARACTERS_A_TOKEN:
                            return _answer(stream.get(), "cut")
                    answered = stream.get()
                    if answered.finish_reason is None:
                        raise exceptions.UnexpectedModelBehavior("a stream without its end")
                    return _answer(answered, None)
            except TimeoutError:
                if not deadline.expired():
                    raise
                raise MemoryModelUnavailable(
                    f"the model {self.name!r} did not answer within {self._timeout_seconds:g} s (summarizer.timeout)"
                ) from None

    async def close(self) -> None:
        """See Model."""
        await self._close()

    @contextmanager
    def _errors_in_words(self) -> Iterator[None]:
        """Says what a provider refused by its status alone: its text may repeat the request, or a key."""
        try:
            yield
        except exceptions.ModelHTTPError as error:
            raise self._by_status(error) from None
        except (exceptions.ModelAPIError, exceptions.UnexpectedModelBehavior) as error:
            raise MemoryModelUnavailable(
                f"the model {self.name!r} could not be asked, or its answer broke off ({type(error).__name__})"
            ) from None
        except (OSError, TimeoutError) as error:
            raise MemoryModelUnavailable(
                f"the model {self.name!r} cannot be reached ({type(error).__name__})"
            ) from None

    def _by_status(self, error: exceptions.ModelHTTPError) -> MemoryModelUnavailable | MemoryModelRefused:
        status = error.status_code
        if status in (401, 403):
            return MemoryModelRefused(
                f"the model {self.name!r} refused the key (status {status}); check the variable that api_key_env names"
            )
        if status == 404:  # noqa: PLR2004 - a status of HTTP
            return MemoryModelRefused(f"there is no model {self.name!r} at this endpoint (status {status})")
        if isinstance(error, exceptions.ModelQuotaExceededError):
            return MemoryModelRefused(f"the account for the model {self.name!r} has no quota left (status {status})")
        if status < 500 and status not in (408, 409, 425, 429):  # noqa: PLR2004 - statuses of HTTP
            return MemoryModelRefused(
                f"the model {self.name!r} refuses this request (status {status}); check model, prompt and "
                "max_input_tokens"
            )
        wait_ms = None if error.retry_after is None else round(min(error.retry_after, _LONGEST_WAIT_SECONDS) * 1_000)
        return MemoryModelUnavailable(
            f"the model {self.name!r} is overloaded or out of order (status {status})", retry_after_ms=wait_ms
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
        profile=OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True),
    )
    return model, openai.close


def _answer(response: ModelResponse, ending: Ending | None) -> Answer:
    text = "".join(part.content for part in response.parts if isinstance(part, TextPart))
    usage = response.usage
    known = bool(usage.input_tokens or usage.output_tokens)
    return Answer(
        text=text,
        ending=ending or _ENDINGS.get(response.finish_reason or "", "complete"),
        input_tokens=usage.input_tokens if known else None,
        output_tokens=usage.output_tokens if known else None,
        cost_usd=_cost(response) if known else None,
    )


_ENDINGS: Final[dict[str, Ending]] = {"length": "cut", "content_filter": "refused", "error": "cut"}


def _cost(response: ModelResponse) -> Decimal | None:
    try:
        return response.cost().total_price
    except (LookupError, ValueError):
        return None  # not on the price list, as what people serve themselves
