"""How the tokens of a memory are counted: what a declaration, or the setting for all others, comes down to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, get_args

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.tokens.endpoint import Endpoint
from durable_memory.memory.tokens.models import MODELS, EncodingName, Model, find_model
from durable_memory.memory.types import did_you_mean

ENCODINGS: Final[tuple[EncodingName, ...]] = get_args(EncodingName)
DEFAULT_ENCODING: Final[EncodingName] = "o200k_base"
"""The encoding of GPT-4o and what came after it."""


@dataclass(frozen=True, slots=True)
class Counting:
    """A way to count. Equal ways share a counter.

    encoding: the tokenizer; None counts a third of the bytes, without any. factor: None where the tokenizer is the
    model's own; else the counts are estimates, and so many times what it counts. endpoint: corrects the factor now and
    then.
    """

    encoding: EncodingName | None = DEFAULT_ENCODING
    factor: float | None = None
    endpoint: Endpoint | None = None


DEFAULT_COUNTING: Final = Counting()


def counting_of(model: Model) -> Counting:
    """Returns how the tokens of a model of the table are counted."""
    if model.encoding is not None:
        return Counting(model.encoding)
    return Counting(DEFAULT_ENCODING, model.factor)


def counting_named(name: str) -> Counting:
    """Returns the counting that the setting names: an encoding, or a model of the table. Raises MemoryInvalid."""
    if not isinstance(name, str):
        raise MemoryInvalid(f"must be the name of an encoding or a model, not {type(name).__name__}")
    for encoding in ENCODINGS:
        if encoding == name:
            return Counting(encoding)
    for provider in MODELS:
        model = find_model(provider, name)
        if model is not None:
            return counting_of(model)
    known = (*ENCODINGS, *(model for models in MODELS.values() for model in models))
    raise MemoryInvalid(f"must be {' or '.join(ENCODINGS)}, or a model that is known{did_you_mean(name, known)}")
