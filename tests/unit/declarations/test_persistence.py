"""The field `persistence`: what its parts mean together."""

from __future__ import annotations

from typing import Any

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.limits import BreakerLimits


def declared(**persistence: Any) -> MemoryResource:
    data = {"resource": "memory", "id": "desk", "max_tokens": 1000, "persistence": persistence}
    return Registry.from_resources([data]).memory("desk")


def problem_of(**persistence: Any) -> str:
    with pytest.raises(InvalidDeclarations) as caught:
        declared(**persistence)
    (fault,) = caught.value.faults
    return f"{fault.path}: {fault.problem}"


def test_a_circuit_breaker_has_the_numbers_that_are_written() -> None:
    written = {"enabled": True, "timeout": "250ms", "max_failures": 2, "reset_timeout": "3s"}
    assert declared(circuit_breaker=written).persistence.circuit_breaker.limits() == BreakerLimits(0.25, 2, 3.0)
    default = declared(circuit_breaker={"enabled": True}).persistence.circuit_breaker.limits()
    assert default == BreakerLimits(0.15, 4, 20.0)


def test_there_is_no_circuit_breaker_unless_it_is_enabled() -> None:
    assert declared().persistence.circuit_breaker.limits() is None
    assert declared(circuit_breaker={"enabled": False, "timeout": "1s"}).persistence.circuit_breaker.limits() is None


def test_numbers_of_a_circuit_breaker_that_nobody_switched_are_refused() -> None:
    assert problem_of(circuit_breaker={"timeout": "1s"}).startswith("persistence.circuit_breaker.enabled: is missing")


def test_a_memory_that_never_ends_is_not_refreshed() -> None:
    assert problem_of(ttl=None, refresh_on_read=True).startswith("persistence.refresh_on_read: has no effect")
    assert declared(ttl=None, refresh_on_read=False).limits().refresh_on_read is False


def test_what_always_answers_has_no_circuit_breaker() -> None:
    problem = problem_of(type="in_memory", circuit_breaker={"enabled": True})
    assert problem.startswith("persistence.circuit_breaker: has no effect where persistence.type is in_memory")
