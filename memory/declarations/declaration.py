"""What every YAML document has in common: strict pydantic models, ids, and problems that concern several fields."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated, Any, Final, TypeAlias, TypeGuard

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic_core import PydanticCustomError

ID_PATTERN: Final = "^[a-z0-9][a-z0-9_-]{0,99}$"
_ID: Final = re.compile(ID_PATTERN.strip("^$"), re.ASCII)

Problem: TypeAlias = tuple[str, str]
"""The dotted path of a field, and what is wrong with it."""

CROSS_FIELD: Final = "cross_field"
"""The pydantic error type that carries problems between fields in its context, as `problems`."""


class Declaration(BaseModel):
    """Base of all parts of a document: unknown fields, wrong types and later changes are errors.

    The docstrings of its fields and of itself are the reference for users, docs/yaml-reference.md: what a field does,
    one pitfall if there is one, rules with other fields, and as the last paragraph `Default: …` where the value in code
    does not say it. Types, ranges and units come from the annotations.
    """

    model_config = ConfigDict(
        extra="forbid", strict=True, frozen=True, hide_input_in_errors=True, use_attribute_docstrings=True
    )


def is_id(value: object) -> TypeGuard[str]:
    """Tells whether `value` is an id: 1 to 100 lower-case letters, digits, `_` and `-`, no sign at the start."""
    return isinstance(value, str) and _ID.fullmatch(value) is not None


def checked_id(value: str) -> str:
    """Returns `value` if it is an id of a memory, an agent or a project.

    Raises ValueError if it is not 1 to 100 lower-case letters, digits, `_` and `-` that begin with a letter or digit.
    """
    if not is_id(value):
        other = "" if value.isascii() else "; one of its letters is not of a to z"
        raise ValueError(
            f"must be 1 to 100 lower-case letters, digits, '_' and '-', and begin with a letter or a digit{other}"
        )
    return value


Id = Annotated[
    str,
    AfterValidator(checked_id),
    WithJsonSchema({"type": "string", "title": "id", "pattern": ID_PATTERN}),
]
"""A field that holds an id."""

# A title is what the reference says of the values: the unit of a number, or what a text stands for.
Tokens = Annotated[int, Field(ge=1, le=1_000_000_000, title="tokens")]
"""A field that holds a number of tokens."""

Messages = Annotated[int, Field(ge=1, le=1_000_000_000, title="messages")]
"""A field that holds a number of messages."""

Groups = Annotated[int, Field(ge=0, le=100_000, title="groups")]
"""A field that holds a number of groups: a message, or an assistant's tool calls with all their results."""


def cross_field_error(problems: Sequence[Problem]) -> PydanticCustomError:
    """Returns the one error that carries all problems that were found between fields."""
    text = "; ".join(f"{path} {problem}" for path, problem in problems)
    context: dict[str, Any] = {"problems": tuple(problems), "text": text}
    return PydanticCustomError(CROSS_FIELD, "{text}", context)
