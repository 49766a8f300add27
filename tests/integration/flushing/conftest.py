"""Scenes on both stores."""

from __future__ import annotations

import pytest

from durable_memory.testing.contracts.rigs import StoreRig
from tests.integration.flushing.scene import Scene
from tests.stores_in_time import in_memory_rig, redis_rig, rig

__all__ = ["in_memory_rig", "redis_rig", "rig"]


@pytest.fixture
def scene(rig: StoreRig) -> Scene:
    return Scene(rig)
