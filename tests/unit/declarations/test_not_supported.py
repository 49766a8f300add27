"""What later versions will have is refused as such, by name, and never ignored or called unknown."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import InvalidDeclarations

MEMORY: dict[str, Any] = {"resource": "memory", "id": "desk", "max_tokens": 1000}
MODEL: dict[str, Any] = {"provider": "anthropic", "model": "claude-opus-4-5"}


def only_problem(*documents: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources(documents)
    (fault,) = caught.value.faults
    return fault.path, fault.problem


@pytest.mark.parametrize(
    ("path", "part"),
    [
        ("token_provider.api_key_env", {"token_provider": {**MODEL, "api_key_env": "ANTHROPIC_API_KEY"}}),
        ("token_provider.endpoint", {"token_provider": {**MODEL, "endpoint": "https://tokens.example"}}),
    ],
)
def test_a_field_of_a_later_version_is_refused_as_such(path: str, part: dict[str, Any]) -> None:
    found, problem = only_problem({**MEMORY, **part})
    assert found == path
    assert "is not supported in this version" in problem


@pytest.mark.parametrize("name", ["append_ttl", "clear_ttl"])
def test_locks_that_append_and_clear_do_not_need_are_refused_with_that_explanation(name: str) -> None:
    found, problem = only_problem({**MEMORY, "locking": {name: "10s"}})
    assert found == f"locking.{name}"
    assert "append and clear need no lock" in problem
