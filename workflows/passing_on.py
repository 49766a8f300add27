"""What a workflow passes on: it may hold references, and no handle.

No converter can encode a handle, and the task of the workflow would fail without end.
"""

from __future__ import annotations

import dataclasses
import json
import traceback
from collections import deque
from collections.abc import Awaitable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

from temporalio.exceptions import ApplicationError

from durable_memory.memory.types import AgentRef, MemoryRef
from durable_memory.workflows.agent import Agent
from durable_memory.workflows.agent_memory import AgentMemory

_HANDLES: Final = (AgentMemory, Agent)
_REFERENCES: Final = (MemoryRef, AgentRef)
_PLAIN: Final = frozenset({str, bytes, bytearray, int, float, bool, type(None)})
_MOST_VALUES: Final = 10_000
"""How many values are looked at, those nearest to the top first: what is large shall cost little beside its encoding.
The limit also ends the walk through values that form a cycle."""


def refuse_handles(*values: Any) -> None:
    """Raises a non-retryable ApplicationError of type MemoryInvalid if a value is a handle or holds one.

    Looks into lists, tuples, sets, dicts, dataclasses and pydantic models, as converters do.
    """
    for value in _values_in(values):
        for handle in _HANDLES:
            if isinstance(value, handle):
                raise _refusal(handle)


def hold_reference(*values: Any) -> bool:
    """Tells whether a value is a reference to a memory or an agent, or holds one."""
    return any(isinstance(value, _REFERENCES) for value in _values_in(values))


async def without_handles(answer: Awaitable[Any]) -> Any:
    """Awaits workflow code and returns its answer. Raises what `refuse_handles` raises, also for a value of a memo.

    No interceptor sees what goes to `workflow.upsert_memo`. The error of its converter comes out of the workflow code,
    though, and names the handle.
    """
    try:
        result = await answer
    except (TypeError, ValueError) as error:
        for handle in _HANDLES:
            if _met(error, handle):
                raise _refusal(handle) from error
        raise
    refuse_handles(result)
    return result


def _values_in(values: Sequence[Any]) -> Iterator[Any]:
    """Yields these values and their parts, without those that have none, of at most `_MOST_VALUES`."""
    looked_at = list(values)
    for value in looked_at:  # which grows meanwhile
        if type(value) not in _PLAIN:
            yield value
            looked_at.extend(islice(_parts(value), max(0, _MOST_VALUES - len(looked_at))))


def _parts(value: Any) -> Iterable[Any]:
    """Returns the values that a converter encodes as parts of this one."""
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return value
    if isinstance(value, dict):
        return chain(value.values(), value)
    if dataclasses.is_dataclass(value):
        return (getattr(value, field.name, None) for field in dataclasses.fields(value))
    fields = getattr(type(value), "__pydantic_fields__", None)  # pydantic is not imported: workflows may not use it
    if fields is not None:
        held = vars(value)  # not its attributes: to read a deprecated one warns, which may be an error
        encoded = (held.get(name) for name, field in fields.items() if not field.exclude)
        return chain(encoded, (getattr(value, "__pydantic_extra__", None) or {}).values())
    return ()


def _met(error: Exception, handle: type) -> bool:
    """Tells whether json or pydantic met a handle of this type and could not encode it.

    json names a class without its module, and other libraries have an `Agent` as well. The frame in which json gives a
    value up holds the value.
    """
    if str(error).startswith(f"Unable to serialize unknown type: {handle!r}"):
        return True
    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code is json.JSONEncoder.default.__code__ and isinstance(frame.f_locals.get("o"), handle)


def _refusal(handle: type) -> ApplicationError:
    name = handle.__name__
    return ApplicationError(
        f"An {name} cannot be passed on; pass its `ref`, and open it there: with current_memory_client() in an "
        f"activity, with {name}(ref) in a workflow",
        type="MemoryInvalid",
        non_retryable=True,
    )
