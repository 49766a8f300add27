"""Key templates: text with `{{ name.name | filter }}` and nothing else.

Jinja2 only parses. The tree is walked once, at load, into a list of texts and variables; rendering joins them. No
template code is ever run, so there is nothing to sandbox.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from jinja2 import Environment, TemplateError, nodes

from durable_memory.memory.errors import MemoryKeyInvalid
from durable_memory.memory.keys.rule import checked_key, key_problem
from durable_memory.memory.types import did_you_mean

MAX_TEMPLATE_LENGTH: Final = 1024
_FIXED: Final = ("workflow.id", "workflow.type", "agent.id", "project.id")
_KNOWN: Final = "workflow.id, workflow.type, agent.id, project.id, input.<name>"
_FILTERS: Final = ("lower", "trim", "default", "sha256")
_RULE: Final = "a key template holds text and {{ name.name | filter }} only"
# An int of more bits has more digits than a key may have characters, and Python refuses to print the longest ones.
_MAX_INT_BITS: Final = 850
_OF_GO: Final = re.compile(r"\{\{-?\s*\.")
_ENVIRONMENT: Final = Environment(autoescape=False, keep_trailing_newline=True)  # noqa: S701 - it never renders


class TemplateInvalid(ValueError):
    """A key template that cannot be used. The text says what is wrong and what is allowed."""


@dataclass(frozen=True, slots=True)
class Variable:
    """One `{{ scope.name | filters }}`. fallback: the argument of `default`, for a variable that is not given."""

    scope: str
    name: str
    filters: tuple[str, ...] = ()
    fallback: str | None = None

    def __str__(self) -> str:
        return f"{self.scope}.{self.name}"


@dataclass(frozen=True, slots=True)
class KeyTemplate:
    """A checked template, ready to be rendered any number of times."""

    source: str
    parts: tuple[str | Variable, ...]

    @classmethod
    def parse(cls, source: str) -> KeyTemplate:
        """Reads a template.

        Raises TemplateInvalid for anything but text and `{{ name.name | filter }}`; unknown variables or filters; text
        that could never be part of a valid key; two variables with no text between them.
        """
        if len(source) > MAX_TEMPLATE_LENGTH:
            raise TemplateInvalid(f"is longer than {MAX_TEMPLATE_LENGTH} characters")
        # Values are compared in NFC, so what stands beside them must be in it, too.
        parts = tuple(unicodedata.normalize("NFC", part) if isinstance(part, str) else part for part in _parts(source))
        for before, after in pairwise(parts):
            if isinstance(before, Variable) and isinstance(after, Variable):
                raise TemplateInvalid(
                    f"has no text between {before} and {after}: 'ab' + 'c' and 'a' + 'bc' would share one memory"
                )
        # The shortest thing that could be rendered: what fails here fails always.
        problem = key_problem("".join(part if isinstance(part, str) else "x" for part in parts))
        if problem is not None:
            raise TemplateInvalid(f"can never give a valid key: it {problem}")
        return cls(source, parts)

    def render(self, values: Mapping[str, Mapping[str, object]], resource: str) -> str:
        """Returns the key.

        Two different lists of values never give the same key (values are compared after their filters and NFC).

        values: for each scope (`workflow`, `agent`, `project`, `input`) its values by name. resource: id of the memory
        resource, for the error's text. Raises MemoryKeyInvalid if a variable is not given or is not non-empty text or a
        whole number, or the result breaks the key rule. The text names the variable, never its value.
        """
        rendered: list[str] = []
        for index, part in enumerate(self.parts):
            if isinstance(part, str):
                rendered.append(part)
                continue
            value = _value(part, values, resource)
            following = self.parts[index + 1] if index + 1 < len(self.parts) else None
            has_later_variable = index + 2 < len(self.parts)
            if isinstance(following, str) and has_later_variable and (value + following).find(following) != len(value):
                raise MemoryKeyInvalid(
                    f"memory {resource!r}: {part} contains the text that the key template puts after it, so another "
                    "caller could reach the same memory; use another separator, or the filter sha256"
                )
            rendered.append(value)
        key = "".join(rendered)
        normal = checked_key(key, resource)
        if normal != key:
            raise MemoryKeyInvalid(
                f"memory {resource!r}: {self._united(rendered)} begins or ends with a character that unites with the "
                "text of the key template beside it, so another caller could reach the same memory; use another "
                "separator, or the filter sha256"
            )
        return normal

    def _united(self, rendered: Sequence[str]) -> str:
        """Names the first variable that is not in the key as it was rendered, since NFC changes it at a joint.

        rendered: the parts, each in NFC by itself. Of two that meet one is a variable.
        """
        joint = next(
            index
            for index in range(len(rendered))
            if not unicodedata.is_normalized("NFC", "".join(rendered[: index + 1]))
        )
        return str(self.parts[joint if isinstance(self.parts[joint], Variable) else joint - 1])

    def parts_for(self, agent: str) -> tuple[str | Variable, ...]:
        """Returns the parts as this agent's calls render them, to be compared: equal ones make equal keys."""
        parts: list[str | Variable] = []
        for part in self.parts:
            is_agent = isinstance(part, Variable) and str(part) == "agent.id"
            filled = _value(part, {"agent": {"id": agent}}, "") if isinstance(part, Variable) and is_agent else part
            before = parts[-1] if parts else None
            if isinstance(filled, str) and isinstance(before, str):
                parts[-1] = before + filled
            else:
                parts.append(filled)
        return tuple(unicodedata.normalize("NFC", part) if isinstance(part, str) else part for part in parts)

    def could_render(self, key: str) -> bool:
        """Tells whether some values could give this key, in NFC: what the fixed texts of the template do not rule out.

        It is matched as `render` puts it together: a value ends where the text that follows it comes first.
        """
        position, is_open = 0, False  # what is matched so far; whether a variable, of one character at least, follows
        for part in self.parts[:-1]:
            if isinstance(part, Variable):
                is_open = True
                continue
            found = key.find(part, position)
            if found <= position if is_open else found != position:
                return False
            position, is_open = found + len(part), False
        last = self.parts[-1]
        if isinstance(last, Variable):
            return len(key) > position
        begins = len(key) - len(last)
        return key.endswith(last) and (begins > position if is_open else begins == position)


def _parts(source: str) -> list[str | Variable]:
    if _OF_GO.search(source):
        raise TemplateInvalid("is a template of Go; write {{ input.x }} for {{ .workflow.input.x }}")
    if source.count("{{") > source.count("}}"):
        raise TemplateInvalid(f"has a {{{{ without its }}}}; {_RULE}")
    try:
        kinds = {kind for _, kind, _ in _ENVIRONMENT.lex(source)}
        # Comments and raw blocks leave no trace in the tree, so they are looked for here.
        for kind, what in (("comment_begin", "comments"), ("raw_begin", "raw blocks"), ("block_begin", "statements")):
            if kind in kinds:
                raise TemplateInvalid(f"{what} are not allowed; {_RULE}")
        tree = _ENVIRONMENT.parse(source)
    except TemplateError as error:
        raise TemplateInvalid(f"cannot be read ({error.message}); {_RULE}") from None
    except RecursionError:
        raise TemplateInvalid(f"is nested too deeply; {_RULE}") from None
    parts: list[str | Variable] = []
    for output in tree.body:
        if not isinstance(output, nodes.Output):
            raise TemplateInvalid(f"{_kind(output)} is not allowed; {_RULE}")
        parts += [node.data if isinstance(node, nodes.TemplateData) else _variable(node) for node in output.nodes]
    return parts


def _kind(node: nodes.Node) -> str:
    names = {
        "Getitem": "a subscript",
        "Call": "a call",
        "Const": "a constant",
        "Name": "a name without a dot",
        "Sub": "a '-', in a name too,",  # Jinja reads `input.user-id` as a difference
    }
    return names.get(type(node).__name__, f"the expression {type(node).__name__.lower()}")


def _variable(node: nodes.Node) -> Variable:
    filters: list[str] = []
    fallback: str | None = None
    while isinstance(node, nodes.Filter):
        if node.name not in _FILTERS:
            near = did_you_mean(node.name, _FILTERS)
            raise TemplateInvalid(f"the filter {node.name!r} is not one of {', '.join(_FILTERS)}{near}")
        if node.name == "default":
            if isinstance(node.node, nodes.Filter):
                raise TemplateInvalid("the filter 'default' comes first, directly after its variable")
            fallback = _fallback(node)
        else:
            if node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
                raise TemplateInvalid(f"the filter {node.name!r} takes no argument")
            filters.insert(0, node.name)
        if node.node is None:  # only in Jinja's filter blocks, which are refused before
            raise TemplateInvalid(_RULE)
        node = node.node
    if not isinstance(node, nodes.Getattr) or not isinstance(node.node, nodes.Name):
        what = "more than one dot" if isinstance(node, nodes.Getattr) else _kind(node)
        near = f"; did you mean {{{{ input.{node.name} }}}}?" if isinstance(node, nodes.Name) else ""
        raise TemplateInvalid(f"{what} is not allowed; {_RULE}{near}")
    variable = Variable(node.node.name, node.attr, tuple(filters), fallback)
    _check_known(variable)
    return variable


def _fallback(node: nodes.Filter) -> str:
    arguments = node.args
    if len(arguments) != 1 or node.kwargs or node.dyn_args or node.dyn_kwargs:
        raise TemplateInvalid("the filter 'default' takes one argument: default('text')")
    constant = arguments[0]
    value = constant.value if isinstance(constant, nodes.Const) else None
    if isinstance(value, bool) or not isinstance(value, (str, int)) or value == "":
        raise TemplateInvalid("the argument of 'default' must be non-empty text or a whole number")
    return str(value)


def _check_known(variable: Variable) -> None:
    name = str(variable)
    if name == "workflow.run_id":
        raise TemplateInvalid(
            "workflow.run_id is not allowed: it changes at continue-as-new, and the workflow would lose its memory; "
            "write workflow.id"
        )
    if variable.name.startswith("_"):
        raise TemplateInvalid(f"{name} is not allowed: names do not begin with an underscore")
    if variable.scope != "input" and name not in _FIXED:
        near = did_you_mean(name, (*_FIXED, f"input.{variable.name}"))
        raise TemplateInvalid(f"there is no variable {name}; there are {_KNOWN}{near}")


_MISSING: Final = object()
_WHERE_FROM: Final = {
    "input": ": pass it in `input`",
    "workflow": ": outside a workflow pass the key, or the `ref` of the workflow's handle",
    "agent": ": name the agent",
}
"""Where the values of a scope come from, for those who lack one."""


def _value(variable: Variable, values: Mapping[str, Mapping[str, object]], resource: str) -> str:
    value = values.get(variable.scope, {}).get(variable.name, _MISSING)
    if value is _MISSING and variable.fallback is not None:
        value = variable.fallback
    problem: str | None = None
    text = ""
    if value is _MISSING:
        problem = f"is not given{_WHERE_FROM.get(variable.scope, '')}"
    elif value is None or isinstance(value, bool) or not isinstance(value, (str, int)):
        problem = f"is {'null' if value is None else f'a {type(value).__name__}'}; it must be text or a whole number"
    elif isinstance(value, int) and value.bit_length() > _MAX_INT_BITS:
        problem = "is too large a number for a key"
    else:
        # Hashes and separators must see one form of a letter, as the key rule does. A member of an enum that is text
        # says its name by str(); its value is what JSON carries to a worker, so that is what it stands for here.
        plain = str.__str__(value) if isinstance(value, str) else int.__repr__(value)
        text = unicodedata.normalize("NFC", plain)
        if any("\ud800" <= character <= "\udfff" for character in text):
            problem = "has half of a surrogate pair; it is no valid text"
        for name in variable.filters:
            if problem is None:
                text = _apply(name, text)
        if problem is None and not text:
            problem = "is empty"
    if problem is not None:
        raise MemoryKeyInvalid(f"memory {resource!r}: the key needs {variable}, which {problem}")
    return text


def _apply(name: str, text: str) -> str:
    if name == "lower":
        return unicodedata.normalize("NFC", text.lower())  # some letters have a form in one only in lower case
    if name == "trim":
        return text.strip()
    return hashlib.sha256(text.encode()).hexdigest()
