"""The arguments of operations, checked before they reach a store: drivers send them on as they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, ParamSpec, TypeVar

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.types import (
    AgentRef,
    InvalidValue,
    MemoryRef,
    Section,
    checked_texts,
    clean_text,
    did_you_mean,
    refuse_beside_reference,
    refuse_no_reference,
    required_text,
)

_LONGEST_ID: Final = 1000
"""Characters that an id or a type of a workflow has at most in Temporal."""

MAX_OPERATION_ID: Final = _LONGEST_ID
"""Characters that an operation id of a user may have."""

MAX_IDS: Final = 1000
"""Ids of messages in one call, as many as one append may carry: a script holds up all other callers while it runs."""

_Value = TypeVar("_Value")
_Choice = TypeVar("_Choice", bound=str)
_Arguments = ParamSpec("_Arguments")
_MOST_BITS: Final = 1024
"""Bits of a number, as in messages. Python refuses to print a number of more than 4,300 digits, even in an error."""

_VERSION: Final = re.compile(r"absent|[0-9a-f]{16}:[0-9]{1,16}:[0-9a-f]{1,4}")


def whole_number(name: str, value: object) -> int | None:
    """Returns a limit: a whole number from 0, or None for no limit."""
    if value is None:
        return None
    number = printable_number(name, value)
    if number < 0:
        raise MemoryInvalid(f"{name}: {number} is negative; 0 is nothing, leave it out for no limit")
    return number


def check_workflow(ref: MemoryRef | AgentRef) -> None:
    """Raises MemoryInvalid for what a reference says of a workflow and cannot be so."""
    for name in ("workflow_id", "workflow_type", "run_id"):
        value = getattr(ref, name)
        if value is not None and not (isinstance(value, str) and 0 < len(value) <= _LONGEST_ID):
            raise MemoryInvalid(f"{name}: must be text of 1 to {_LONGEST_ID:,} characters, as a workflow gave it")
        if value is not None and clean_text(value) != value:
            raise MemoryInvalid(f"{name}: has NUL or half of a surrogate pair; it is no valid text")


def one_of(name: str, value: object, choices: Collection[_Choice]) -> _Choice:
    """Returns the choice that a value names; looks at one after the other, since not every value has a hash."""
    for choice in choices:
        if value == choice:
            return choice
    near = did_you_mean(value, tuple(choices)) if isinstance(value, str) else ""
    raise MemoryInvalid(f"{name}: must be one of {', '.join(choices)}{near}")


def truth(name: str, value: object) -> bool:
    """Returns a switch: true or false, and nothing that merely counts as one of them."""
    if not isinstance(value, bool):
        raise MemoryInvalid(f"{name}: must be true or false, not {type(value).__name__}")
    return value


def printable_number(name: str, value: object) -> int:
    """Returns a whole number. Raises MemoryInvalid for none, and for one that Python refuses to write."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise MemoryInvalid(f"{name}: must be a whole number, not {type(value).__name__}")
    if value.bit_length() > _MOST_BITS:
        raise MemoryInvalid(f"{name}: is a number of too many digits")
    return value


def known_sections(sections: Sequence[str], declared: tuple[Section, ...]) -> tuple[Section, ...]:
    """Returns the sections in the order of a view, which is that of the declared ones."""
    names = _checked(checked_texts, sections, "sections", "names of sections")
    for position, section in enumerate(names):
        if section not in declared:
            # The text is not repeated: what is not a section may be anything, and errors are logged.
            raise MemoryInvalid(
                f"sections[{position}]: is not a section of this memory; one of {', '.join(declared)}"
                f"{did_you_mean(section, declared)}"
            )
    return tuple(section for section in declared if section in names)


def message_ids(ids: Sequence[str]) -> tuple[str, ...]:
    """Returns ids of messages, fit to be sent."""
    checked = _checked(checked_texts, ids)
    if len(checked) > MAX_IDS:
        raise MemoryInvalid(f"ids: {len(checked):,} ids in one call; send at most {MAX_IDS:,}")
    return checked


def one_id(name: str, value: object) -> str:
    """Returns the id of one thing, fit to be sent."""
    return _checked(required_text, value, name)


def _checked(check: Callable[_Arguments, _Value], *arguments: _Arguments.args, **named: _Arguments.kwargs) -> _Value:
    try:
        return check(*arguments, **named)
    except InvalidValue as error:
        raise MemoryInvalid(str(error)) from None


def operation_name(operation_id: object) -> str:
    """Returns an operation id that a caller chose."""
    if not isinstance(operation_id, str):
        raise MemoryInvalid(f"operation_id: must be text, not {type(operation_id).__name__}")
    if not operation_id:
        raise MemoryInvalid("operation_id: must not be empty; leave it out for an operation of its own")
    if len(operation_id) > MAX_OPERATION_ID:
        raise MemoryInvalid(f"operation_id: has {len(operation_id):,} characters; the limit is {MAX_OPERATION_ID:,}")
    # Not repaired: two ids would become one, and the second call would be taken for a repetition of the first.
    if clean_text(operation_id) != operation_id:
        raise MemoryInvalid("operation_id: has NUL or half of a surrogate pair; it is no valid text")
    return operation_id


def version_of_view(name: str, value: object) -> str | None:
    """Returns a version that a caller has seen; None for any."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise MemoryInvalid(f"{name}: must be the version of a view, not {type(value).__name__}")
    if not value:
        raise MemoryInvalid(f"{name}: is empty; leave it out for any version, or write 'absent'")
    if not _VERSION.fullmatch(value):
        raise MemoryInvalid(f"{name}: is no version of a memory; a view, a result or stats has it")
    return value


def require_method(method: str, **given: object) -> None:
    """Raises MemoryInvalid for an object that a program passes, if it lacks the method by which it is called."""
    for name, value in given.items():
        if isinstance(value, type):
            raise MemoryInvalid(f"{name}: is the class {value.__name__}; give an object of it")
        if value is not None and not callable(getattr(value, method, None)):
            raise MemoryInvalid(f"{name}: must be an object with the method {method}, not {type(value).__name__}")


def reference_alone(**given: object) -> None:
    """Raises MemoryInvalid for what is given beside a reference."""
    _checked(refuse_beside_reference, **given)


def no_other_reference(name: str, value: object, kind: type[MemoryRef | AgentRef]) -> None:
    """Raises MemoryInvalid for what is neither an id nor a reference of this kind."""
    _checked(refuse_no_reference, name, value, kind)


def template_input(value: object) -> dict[str, Any] | None:
    """Returns what key templates are rendered with; None for nothing."""
    if value is None:
        return None
    if not isinstance(value, Mapping):
        raise MemoryInvalid(
            f"input: must be an object with the values of the key's template, not {type(value).__name__}"
        )
    return dict(value)
