"""A summariser that asks the endpoint of these tests, and what it is asked to summarise."""

from __future__ import annotations

from typing import Any

from durable_memory.memory.declarations.summarizer import SummarizerChoice
from durable_memory.memory.flushing.llm.pydantic_ai_model import PydanticAiModel
from durable_memory.memory.flushing.llm.summarizer import LlmSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message
from tests.integration.llm.endpoint import Endpoint

KEY = "sk-the-key-of-a-test"
COUNTER = TiktokenCounter()
TALK = tuple(
    Message.user(f"Parcel {number} left the depot {number * 37} for Ghent at noon, said Anna.") for number in range(12)
)


def make(service: Endpoint, key: str | None = KEY, **changes: Any) -> LlmSummarizer:
    choice = SummarizerChoice(type="llm", model="openai:gpt-4o-mini", endpoint=service.url, **changes)
    return LlmSummarizer(
        PydanticAiModel(choice, key), resource="desk", max_input_tokens=choice.max_input_tokens, prompt=choice.prompt
    )


def request(*messages: Message, max_tokens: int = 80) -> SummaryRequest:
    return SummaryRequest(messages or TALK, max_tokens, COUNTER)
