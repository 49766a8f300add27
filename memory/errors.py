"""Every error of the product, in one tree.

    MemoryFault                     anything below; `type` is the stable string that crosses the Temporal border
    ├── MemoryInvalid               bad input: a field, a value, a declaration
    │   └── InvalidDeclarations     the same `type`, with every fault of the YAML files at once
    ├── MemoryUnknownResource       no such memory resource or agent
    ├── MemoryKeyInvalid            a key, or what its template rendered, breaks the key rule
    ├── MemoryAccessDenied          the agent has not declared this memory, or not in a mode that allows the call
    ├── MemoryOversize              it can never fit: both numbers are in the text
    ├── MemoryOrphanResult          a tool result for a call that was never made, or has its result
    ├── MemoryConflict              if_version did not match
    ├── MemoryOperationConflict     the operation id was used for other content
    ├── MemoryOperationExpired      the operation came after its deadline
    ├── MemoryDamaged               stored counters and records disagree (maxmemory eviction, foreign hands)
    ├── MemoryModelRefused          the language model of a summariser refuses key, model or request
    ├── MemoryBudgetSpent           a resource has spent its language-model tokens of this day
    ├── MemoryUndecryptable         a record is encrypted with a key that this process does not have
    ├── MemoryUnavailable           the store or the flusher cannot be reached
    ├── MemoryBusy                  another flush holds the lease
    ├── MemoryBackpressure          the overflow, or the record of operations, is full for now
    ├── MemoryContractTooNew        a caller speaks a newer wire contract than this worker
    ├── MemoryModelUnavailable      the language model of a summariser is overloaded, too slow or out of reach
    ├── MemoryWrongWorker           the worker that took the work cannot do it, another one may
    ├── MemorySummaryRejected       the summariser returned nothing usable
    └── MemoryRedactionFailed       a privacy policy could not be applied, so nothing was stored

The last eight are worth a retry (`retryable`); the others end the call for good. Texts name resource, operation,
limit and actual, never content, keys or passwords.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Final, Self

from durable_memory.memory.declaration_faults import Fault

MESSAGES_STAY: Final = "the messages stay as they are"
"""Ends the errors of attempts after which nothing has changed."""


class MemoryFault(Exception):
    """Base of every error of the product."""

    type: ClassVar[str] = "MemoryFault"
    retryable: ClassVar[bool] = False
    by_declarations: bool = False
    """Whether other declarations than those of this process might have allowed the call."""

    def __init__(self, message: str, *, retry_after_ms: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retry_after_ms = retry_after_ms
        """How long to wait before the next attempt, in milliseconds; None leaves it to the caller's backoff."""

    def saying(self, more: str) -> Self:
        """Returns the same error with more at the end of its text."""
        other = copy.copy(self)
        other.message = f"{self.message}; {more}"
        other.args = (other.message,)
        return other

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if "type" not in cls.__dict__:
            cls.type = cls.__name__


def kinds_of_faults(kind: type[MemoryFault] = MemoryFault) -> Iterator[type[MemoryFault]]:
    """Yields a class of errors, then all below it."""
    yield kind
    for child in kind.__subclasses__():
        yield from kinds_of_faults(child)


def type_of(error: BaseException) -> str:
    """Returns the stable `type` of one of our errors, and the class name of any other."""
    return error.type if isinstance(error, MemoryFault) else type(error).__name__


class MemoryInvalid(MemoryFault):
    """Bad input. The text names the field and what to write instead."""


class InvalidDeclarations(MemoryInvalid):
    """Faulty declarations of memories and agents: `faults` holds every fault, and the text has one on each line."""

    type = "MemoryInvalid"

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("\n".join(map(str, faults)))
        self.faults = tuple(faults)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles with the faults: an exception would hand its constructor the text that it made of them."""
        return type(self), (self.faults,), {**vars(self), "args": self.args}


class MemoryUnknownResource(MemoryFault):
    """No memory resource or agent of this id is declared."""

    by_declarations = True


class MemoryKeyInvalid(MemoryFault):
    """A key breaks the key rule: 1 to 256 characters, no control characters, no surrounding space.

    Or its template could not be rendered.
    """

    by_declarations = True


class MemoryAccessDenied(MemoryFault):
    """The agent has not declared this memory, or has declared it in a mode that does not allow the call."""

    by_declarations = True


class MemoryOversize(MemoryFault):
    """What was sent can never fit its budget. Nothing that was stored is lost."""

    by_declarations = True

    def __init__(self, message: str, *, position: int | None = None, excess_tokens: int = 0, waiting: int = 0) -> None:
        super().__init__(message)
        self.position = position
        """Which of the messages that were sent is too large, by `excess_tokens`; None if it is not one alone."""
        self.excess_tokens = excess_tokens
        self.waiting = waiting
        """How many other results of its group want a part of the room that is left."""


class MemoryOrphanResult(MemoryFault):
    """A tool result for a call that this memory never saw, or that already has its result."""


class MemoryConflict(MemoryFault):
    """The memory has another version than `if_version`: read again, then write."""


class MemoryOperationConflict(MemoryFault):
    """This operation id was already used for other content."""


class MemoryOperationExpired(MemoryFault):
    """The operation arrived after its deadline, so it can no longer be told from a repetition."""


class MemoryDamaged(MemoryFault):
    """Stored counters and records disagree: something evicted or changed keys of this memory.

    Clear it, or restore it.
    """


class MemoryModelRefused(MemoryFault):
    """The language model of a summariser refuses its key, its name or the request: another attempt ends the same."""


class MemoryBudgetSpent(MemoryFault):
    """A resource has spent the language-model tokens of its day (`daily_token_budget`); the messages wait."""


class MemoryUndecryptable(MemoryFault):
    """A record does not open with the keys of this process: its key is missing or another one, or it was changed."""


class MemoryUnavailable(MemoryFault):
    """The store, or the server that runs the flusher, cannot be reached. Nothing is known to be written."""

    retryable = True

    def __init__(self, message: str, *, retry_after_ms: int | None = None, answered: bool = False) -> None:
        super().__init__(message, retry_after_ms=retry_after_ms)
        self.answered = answered
        """True if the store answered and refused only this call, for example because it is full."""


class MemoryBusy(MemoryFault):
    """Another flush of this memory holds the lease."""

    retryable = True


class MemoryBackpressure(MemoryFault):
    """Too much waits to be summarised, or too many operations are open: the same call passes later."""

    retryable = True

    def __init__(self, message: str, *, retry_after_ms: int | None = None, awaits_flush: bool = True) -> None:
        super().__init__(message, retry_after_ms=retry_after_ms)
        self.awaits_flush = awaits_flush
        """Whether a flush makes room; the record of operations gets it by itself, in time."""


class MemoryContractTooNew(MemoryFault):
    """The caller speaks a newer wire contract than this worker: a newer worker will answer."""

    retryable = True


class MemoryModelUnavailable(MemoryFault):
    """The language model of a summariser is overloaded, too slow or out of reach; the messages stay as they are."""

    retryable = True

    def __init__(self, message: str, *, may_be_charged: bool = True, retry_after_ms: int | None = None) -> None:
        super().__init__(message, retry_after_ms=retry_after_ms)
        self.may_be_charged = may_be_charged
        """Whether the provider may have worked on the request: it was sent, and not answered with an error status."""


class MemoryWrongWorker(MemoryFault):
    """The worker that took the work serves another project, or has other declarations than others, or no plugin.

    One of those may take the next attempt. Each project needs a task queue of its own, as it has by default, and all
    workers of a queue the same declarations.
    """

    retryable = True


class MemorySummaryRejected(MemoryFault):
    """The summariser returned an empty, refused, cut or too large text; the messages stay as they are."""

    retryable = True


class MemoryRedactionFailed(MemoryFault):
    """A privacy policy could not be applied to what was sent: nothing was stored, and the next call starts afresh."""

    retryable = True
