"""Both stores with the power over their time: what the schedules of the protocol's rules need."""

from __future__ import annotations

import pytest

from durable_memory.memory.limits import Limits
from durable_memory.testing.contracts.builders import tiny
from durable_memory.testing.contracts.driven import Driven
from durable_memory.testing.contracts.rigs import StoreRig, drive
from tests.stores_in_time import in_memory_rig, redis_rig, rig

__all__ = ["in_memory_rig", "redis_rig", "rig"]


@pytest.fixture
def limits() -> Limits:
    """The budget of the schedules: 4 tokens, one of them for a summary; a flush is due at 3 and leaves 1."""
    return tiny(ttl_ms=60_000)


@pytest.fixture
def memory(rig: StoreRig, limits: Limits) -> Driven:
    return drive(rig, limits)
