"""What a program needs in its own signatures and `except` clauses can be imported from `durable_memory`."""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, get_args, get_type_hints

import pytest

import durable_memory
from durable_memory.memory import types
from durable_memory.memory.errors import kinds_of_faults

FACE: Final = (
    durable_memory.Agent,
    durable_memory.AgentMemory,
    durable_memory.DeclaredAgent,
    durable_memory.Memory,
    durable_memory.MemoryClient,
    durable_memory.MemoryPlugin,
    durable_memory.Summarizer,
    durable_memory.TemporalWaker,
)
MADE_BY_USERS: Final = {"Agent", "AgentMemory", "MemoryPlugin", "TemporalWaker"}
INNER: Final = {"MemoryClient": {"caller", "calling_as", "parts"}, "Memory": {"writer"}}
"""Members that the product itself uses, and users need not."""
ALIASES: Final = {
    name
    for name in types.__all__
    if name[0].isupper() and not name.isupper() and not inspect.isclass(vars(types)[name])
} | {"Section"}  # text, and so a class
"""Names of values, such as `FlushOutcome`, that a hint no longer has once it is resolved."""


def calls(kind: type) -> Iterator[Callable[..., Any]]:
    """The methods of a class that programs call."""
    for name, member in inspect.getmembers(kind):
        is_call = not name.startswith("_") or (name == "__init__" and kind.__name__ in MADE_BY_USERS)
        plain = getattr(getattr(member, "fget", member), "__func__", getattr(member, "fget", member))
        if is_call and name not in INNER.get(kind.__name__, ()) and inspect.isfunction(plain):
            yield plain


def types_in(hint: Any) -> Iterator[type]:
    """The types of ours in a type hint, and in the fields of those that are results."""
    for inner in get_args(hint):
        yield from types_in(inner)
    if isinstance(hint, type) and hint.__module__.startswith("durable_memory."):
        yield hint
        if dataclasses.is_dataclass(hint) and hint is not durable_memory.Message:
            for inner in get_type_hints(hint).values():
                yield from types_in(inner)


@pytest.mark.parametrize("kind", FACE, ids=lambda kind: kind.__name__)
def test_every_type_in_a_signature_can_be_imported(kind: type) -> None:
    hints = [hint for call in calls(kind) for hint in get_type_hints(call).values()]
    needed = {found.__name__ for hint in hints for found in types_in(hint)}
    assert needed
    assert needed <= set(durable_memory.__all__)


@pytest.mark.parametrize("kind", FACE, ids=lambda kind: kind.__name__)
def test_every_name_of_ours_for_words_in_a_signature_can_be_imported(kind: type) -> None:
    found = [inner for call in calls(kind) for hint in get_type_hints(call).values() for inner in types_in(hint)]
    written = [str(hint) for call in calls(kind) for hint in call.__annotations__.values()]
    written += [str(hint) for each in found for hint in getattr(each, "__annotations__", {}).values()]
    named = {word for hint in written for word in re.findall(r"\w+", hint)} & ALIASES
    assert named <= set(durable_memory.__all__)


def test_there_are_names_for_words() -> None:
    assert {"FlushOutcome", "FlushReason", "GroupBy", "Priority", "Role", "Section"} <= ALIASES


def test_every_error_can_be_imported() -> None:
    for kind in kinds_of_faults():
        assert getattr(durable_memory, kind.__name__) is kind
