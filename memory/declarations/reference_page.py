"""The reference of the YAML documents as a Markdown page, made from the models: docs/yaml-reference.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from durable_memory.memory.declarations.durations import format_duration
from durable_memory.memory.declarations.field_docs import FieldDoc, PartDoc, field_docs
from durable_memory.memory.declarations.scopes import SCOPES

GUIDE: Final = {
    "": "",
    "token_provider": "tokens",
    "token_allocation": "sections-and-their-shares",
    "eviction_policy": "policies",
    "flushing.summarizer": "summaries-by-a-language-model",
    "privacy_policy": "privacy",
    "memories[]": "agents",
}
"""Parts that the guide, docs/yaml.md, explains: the headings there."""

_HEAD: Final = """\
# The fields of memories and agents

<!-- Made from the models: durable-memory schema --reference > docs/yaml-reference.md -->

Every field of a YAML document of this version, as `durable-memory schema --reference` prints them. [yaml.md](yaml.md)
is the guide: what the fields are for, with examples.

Under *values*: an **id** has 1 to 100 of `a-z 0-9 _ -`, no sign first. A **duration** is a whole number and a unit,
`150ms`, `20s`, `5m`, `72h`, `7d`; a bare number is refused. A **share** is a part of 1. A **group** is a message, or
an assistant's tool calls with all their results. A **key template** is text with `{{ input.name }}`, see
[keys](yaml.md#keys). What is *required* has to stand where the part that it belongs to is written.
"""


def reference_page() -> str:
    """Returns the page, which ends with a line break."""
    blocks = [_HEAD, "## A memory\n", *_document(field_docs("memory"), scopes=True)]
    blocks += ["## An agent\n", *_document(field_docs("agent"), scopes=False)]
    return "\n".join(blocks)


def _document(parts: tuple[PartDoc, ...], *, scopes: bool) -> Iterator[str]:
    for part in parts:
        if part.path:
            yield f"### `{part.path}`\n"
        yield from (f"{paragraph}\n" for paragraph in part.rules)
        if guide := GUIDE.get(part.path):
            yield f"Explained in [the guide](yaml.md#{guide}).\n"
        yield _table(("field", "values", "default", "what it does"), map(_row, part.fields))
        if scopes and not part.path:
            yield "### `scope`\n"
            yield _table(("scope", "`persistence.ttl` by default", "`on_workflow_end`, the default first"), _scopes())


def _row(field: FieldDoc) -> tuple[str, ...]:
    values = field.values
    if field.part is not None:
        link = f"[fields](#{anchor(field.part)})"
        values = values.removesuffix("fields") + link
    see = " See [its table](#scope)." if field.path == "scope" else ""
    return f"`{field.path}`", values, field.default, field.text + see


def _scopes() -> Iterator[tuple[str, ...]]:
    for scope, rule in SCOPES.items():
        ttl = "null" if rule.ttl is None else format_duration(rule.ttl)
        yield f"`{scope}`", f"`{ttl}`", ", ".join(f"`{action}`" for action in rule.actions)


def _table(heads: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def anchor(heading: str) -> str:
    """Returns what a link to a heading of a Markdown page ends with."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
