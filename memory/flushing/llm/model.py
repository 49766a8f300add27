"""A language model as a port: one question, one answer, and what it cost."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, Protocol, TypeAlias

Ending: TypeAlias = Literal["complete", "cut", "refused"]
"""How an answer ended: by itself, at a limit of length, or since the model or a filter declined."""


@dataclass(frozen=True, slots=True)
class Question:
    """What a model is asked. instructions: how to work; text: what to work on; max_tokens: of the answer."""

    instructions: str
    text: str
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What a model answered.

    input_tokens, output_tokens: as the provider counts and charges them; None where it does not say. cost_usd: by the
    public price list; None where the model is not on it.
    """

    text: str
    ending: Ending
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost_usd: Decimal | None = None


class Model(Protocol):
    """Asks a language model. Safe to cancel at every await; belongs to the event loop of its first question."""

    @property
    def name(self) -> str:
        """What stands in YAML, such as `openai:gpt-4o-mini`."""
        ...

    async def ask(self, question: Question) -> Answer:
        """Asks once, without attempts of its own.

        Raises MemoryModelUnavailable (overloaded, unreachable, too slow: with the wait that the provider asked for, and
        whether it may charge) and MemoryModelRefused (key, model or request are wrong: another attempt ends the same).
        Anything else was raised before the provider was asked.
        """
        ...

    async def close(self) -> None:
        """Closes the connections."""
        ...
