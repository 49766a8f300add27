"""The field `privacy_policy`: faults with their lines, and what it needs installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations

FAULTY = r"""resource: memory
id: desk
max_tokens: 4000
privacy_policy:
  redact_patterns:
    - '\d{4}'
    - '(?=secret)x'
    - "[removed"
  redact_entities:
    - email
    - ssn
"""


def declared(**policy: Any) -> MemoryResource:
    data = {"resource": "memory", "id": "desk", "max_tokens": 4000, "privacy_policy": policy}
    return Registry.from_resources([data]).memory("desk")


def test_a_wrong_pattern_is_refused_with_its_own_line_and_not_repeated(tmp_path: Path) -> None:
    (tmp_path / "desk.yaml").write_text(FAULTY)
    with pytest.raises(InvalidDeclarations) as caught:
        load_folders([tmp_path], {})
    places = [(fault.line, fault.path) for fault in caught.value.faults]
    assert places == [
        (7, "privacy_policy.redact_patterns.1"),
        (8, "privacy_policy.redact_patterns.2"),
        (11, "privacy_policy.redact_entities.1"),
    ]
    assert "secret" not in str(caught.value)
    assert "[removed" not in str(caught.value)


@pytest.mark.parametrize("policy", [{"redact_patterns": ["x"]}, {"redact_entities": ["email"]}])
def test_without_its_package_a_resource_that_redacts_is_refused_by_the_name_of_the_extra(
    monkeypatch: pytest.MonkeyPatch, policy: dict[str, Any]
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(InvalidDeclarations) as caught:
        declared(**policy)
    (fault,) = caught.value.faults
    assert fault.path == "privacy_policy"
    assert fault.problem == (
        "needs the package google-re2, which is not installed: pip install 'durable-memory[privacy]'"
    )
    assert declared(non_persistable_message_types=["tool"]).privacy is not None


def test_a_resource_that_asks_for_nothing_has_no_stage() -> None:
    assert declared().privacy is None
    assert MemoryResource(id="desk", max_tokens=4000).privacy is None
    resource = declared(redact_entities=["email"])
    assert resource.privacy is resource.privacy is not None
