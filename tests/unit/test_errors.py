"""Errors say the same after they were copied, or handed to another process."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest

from durable_memory import InvalidDeclarations, InvalidValue
from durable_memory.memory.declaration_faults import Fault
from durable_memory.memory.errors import (
    MemoryBackpressure,
    MemoryModelUnavailable,
    MemoryOversize,
    MemoryUnavailable,
)

_ERRORS = [
    InvalidDeclarations([Fault("a.yaml", 3, "id", "is missing"), Fault("b.yaml", 1, "", "is empty")]),
    InvalidDeclarations([Fault("a.yaml", 3, "id", "is missing")]).saying("the old ones stay"),
    InvalidValue("messages[0]." + "x" * 200, "is too large"),
    MemoryOversize("it never fits", position=2, excess_tokens=5, waiting=1),
    MemoryUnavailable("Redis is away", retry_after_ms=20, answered=True),
    MemoryBackpressure("the overflow is full", awaits_flush=False),
    MemoryModelUnavailable("the model is overloaded", may_be_charged=False),
]


def pickled(error: Exception) -> Exception:
    again: Exception = pickle.loads(pickle.dumps(error))
    return again


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, pickled], ids=["copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("error", _ERRORS, ids=lambda error: type(error).__name__)
def test_an_error_survives_copies(error: Exception, again: Callable[[Exception], Exception]) -> None:
    error.add_note("seen on Monday")
    other = again(error)
    assert type(other) is type(error)
    assert str(other) == str(error)
    assert vars(other) == vars(error)
