"""What other products have and this one never will is refused by name, with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.errors import InvalidDeclarations

MEMORY: dict[str, Any] = {"resource": "memory", "id": "desk", "max_tokens": 1000}


def only_problem(*documents: dict[str, Any]) -> tuple[str, str]:
    with pytest.raises(InvalidDeclarations) as caught:
        Registry.from_resources(documents)
    (fault,) = caught.value.faults
    return fault.path, fault.problem


@pytest.mark.parametrize("name", ["append_ttl", "clear_ttl"])
def test_locks_that_append_and_clear_do_not_need_are_refused_with_that_explanation(name: str) -> None:
    found, problem = only_problem({**MEMORY, "locking": {name: "10s"}})
    assert found == f"locking.{name}"
    assert "append and clear need no lock" in problem
