"""Gives a command the arguments and options that it shares with others, which it takes as one value."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Any, TypeAlias, get_args, get_type_hints

from typer.models import ArgumentInfo

Command: TypeAlias = Callable[..., None]


def spread_options(command: Command) -> Command:
    """Spreads the first parameter of a command, a dataclass: each field becomes an argument or an option of its own.

    Its arguments come before those of the command, its options after those of the command.
    """
    first, *own = signature(command, eval_str=True).parameters.values()
    # eval_str would fail: the names in an inherited field's annotation are of the module that declares it.
    hints = get_type_hints(first.annotation, include_extras=True)
    shared = [each.replace(annotation=hints[each.name]) for each in signature(first.annotation).parameters.values()]

    @wraps(command)
    def spread(**given: Any) -> None:
        command(first.annotation(**{each.name: given.pop(each.name, each.default) for each in shared}), **given)

    arguments = [each for each in shared if _is_argument(each)]
    options = [each for each in shared if not _is_argument(each)]
    named = [each.replace(kind=Parameter.KEYWORD_ONLY) for each in (*arguments, *own, *options)]
    spread.__signature__ = Signature(named)  # type: ignore[attr-defined]  # what typer reads
    return spread


def _is_argument(parameter: Parameter) -> bool:
    return any(isinstance(each, ArgumentInfo) for each in get_args(parameter.annotation))
