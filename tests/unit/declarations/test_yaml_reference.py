"""docs/yaml-reference.md is what the models say, and says it of every field."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from durable_memory.memory.declarations.agent import AgentResource, DeclaredMemory, Inject
from durable_memory.memory.declarations.field_docs import FieldDoc, field_docs
from durable_memory.memory.declarations.not_supported import Kind
from durable_memory.memory.declarations.reference_page import GUIDE, anchor, reference_page
from durable_memory.memory.declarations.resource import MemoryResource
from tests.unit.declarations.resource_documents import paths_of

DOCS = Path(__file__).parents[3] / "docs"
PAGE = DOCS / "yaml-reference.md"
FIELDS: dict[Kind, dict[str, FieldDoc]] = {
    kind: {field.path: field for part in field_docs(kind) for field in part.fields} for kind in ("memory", "agent")
}


def anchors(page: Path) -> set[str]:
    return {anchor(heading) for heading in re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)}


def test_the_committed_page_is_what_the_models_say() -> None:
    made_by = "durable-memory schema --reference > docs/yaml-reference.md"
    assert PAGE.read_text("utf-8") == reference_page(), made_by
    assert made_by in reference_page()


def test_every_field_has_a_line() -> None:
    parts = {path for path, field in FIELDS["memory"].items() if field.part is not None}
    assert set(FIELDS["memory"]) - parts == set(paths_of(MemoryResource))
    inside = [*DeclaredMemory.model_fields, *(f"inject.{name}" for name in Inject.model_fields)]
    assert set(FIELDS["agent"]) == {*AgentResource.model_fields, *(f"memories[].{name}" for name in inside)}


@pytest.mark.parametrize("field", [field for fields in FIELDS.values() for field in fields.values()], ids=str)
def test_a_line_says_values_default_and_effect(field: FieldDoc) -> None:
    assert field.values
    assert field.default or field.part is not None
    assert field.text.endswith((".", "`)"))
    assert "|" not in field.values + field.default + field.text
    assert "\n" not in field.values + field.default + field.text


@pytest.mark.parametrize(
    ("path", "values", "default"),
    [
        ("max_tokens", "1 or more tokens", "no limit"),
        ("flushing.keep_last", "0 to 100,000 groups", "2"),
        ("flushing.target_ratio", "share, 0 to below 1", "0.5"),
        ("flushing.summarizer.timeout", "duration from 1s to 5m", "`2m`"),
        ("flushing.summarizer.model", "`openai:<model>` or `anthropic:<model>`", "required where `type` is `llm`"),
        ("persistence.ttl", "duration or `null`", "by scope"),
        ("persistence.refresh_on_read", "`true`, `false`", "`false`"),
        ("token_provider.model", "text, 1 to 200 characters", "required"),
        ("token_allocation.user_defined", "names, each with a number, above 0 to below 1", "none"),
        ("privacy_policy.non_persistable_message_types", "list: `system`, `user`, `assistant`, `tool`", "none"),
    ],
)
def test_values_and_defaults_come_from_the_model(path: str, values: str, default: str) -> None:
    field = FIELDS["memory"][path]
    assert (field.values, field.default) == (values, default)


def test_every_link_leads_to_a_heading() -> None:
    guide, page = DOCS / "yaml.md", PAGE
    headings = {"yaml.md": anchors(guide), "yaml-reference.md": anchors(page)}
    links = [
        (file, found) for file in (guide, page) for found in re.findall(r"\]\(([\w.-]*)#([^)]+)\)", file.read_text())
    ]
    wrong = [(file.name, link) for file, link in links if link[1] not in headings.get(link[0] or file.name, {link[1]})]
    assert wrong == []
    assert {part for kind in FIELDS for part in GUIDE if part} <= {
        part.path for kind in ("memory", "agent") for part in field_docs(kind)
    }
