"""The error of a memory among the causes of another."""

from __future__ import annotations

from temporalio.client import WorkflowFailureError
from temporalio.exceptions import ApplicationError

from durable_memory import memory_error


def chain(*types: str) -> BaseException:
    """A failure of a workflow, caused by application errors of these types, the last one at the root."""
    cause: BaseException | None = None
    for one in reversed(types):
        error = ApplicationError(f"a text of {one}", type=one)
        error.__cause__ = cause
        cause = error
    assert cause is not None
    return WorkflowFailureError(cause=cause)


def test_the_error_of_a_memory_is_found_behind_others() -> None:
    found = memory_error(chain("ValueError", "MemoryOversize", "MemoryInvalid"))
    assert (found and found.type) == "MemoryOversize"


def test_errors_of_others_are_no_errors_of_a_memory() -> None:
    assert memory_error(chain("ValueError", "MemoryError")) is None
    assert memory_error(ValueError("a text")) is None


def test_in_a_group_the_first_one_of_a_memory_counts() -> None:
    others, memory = chain("ValueError"), chain("TypeError", "MemoryConflict")
    found = memory_error(BaseExceptionGroup("of tasks", [others, BaseExceptionGroup("inner", [memory]), others]))
    assert (found and found.type) == "MemoryConflict"
    assert memory_error(BaseExceptionGroup("of tasks", [others])) is None
