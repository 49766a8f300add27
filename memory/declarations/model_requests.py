"""What one request to a language model costs at most, in tokens; of a summariser's budget, and of its requests."""

from __future__ import annotations

from typing import Final

from durable_memory.memory.tokens.estimate import estimate_tokens

_OUTPUT_FACTOR: Final = 2
_LEAST_OUTPUT: Final = 512
"""Models count tokens in their own way, and some think before they write: an answer may have twice the room, and this
much at least. What is too long is shortened, which costs less than an answer that was cut."""

_INSTRUCTIONS: Final = 500
"""Our own instructions and what stands around a conversation, by the counter of a model that counts the most."""


def answer_tokens(summary_tokens: int) -> int:
    """Returns how many tokens the answer may have that is to become a summary of so many."""
    return max(_LEAST_OUTPUT, _OUTPUT_FACTOR * summary_tokens)


def full_request_tokens(max_input_tokens: int, summary_tokens: int, prompt: str | None) -> int:
    """Returns what a request costs at most that holds as much of a conversation as one may, answer included.

    A request that shortens an answer, in place of a conversation, costs no more. prompt: in place of our own.
    """
    answer = answer_tokens(summary_tokens)
    return _INSTRUCTIONS + estimate_tokens(prompt or "") + max(max_input_tokens, answer) + answer
