"""What every part of the conformance suite stands on: a fresh memory on the store under test, or a fresh project."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import TypeAlias

import pytest

from durable_memory.memory.identity import MemoryId
from durable_memory.memory.limits import Limits
from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.index_port import ProjectIndex
from durable_memory.testing.contracts.builders import summarising
from durable_memory.testing.contracts.driven import Driven, fresh_memory

OpenMemory: TypeAlias = Callable[..., Driven]
"""Called with limits, and with an identity where a fresh one will not do."""


class StoreCase:
    """Gives the tests of the suite `memory` and `open_memory`, made from the fixture `backend` of whoever runs it."""

    @pytest.fixture
    def open_memory(self, backend: Backend) -> OpenMemory:
        """Opens memories with limits of their own."""

        def open_one(limits: Limits, memory: MemoryId | None = None) -> Driven:
            return Driven(backend.store, limits, memory or fresh_memory())

        return open_one

    @pytest.fixture
    def memory(self, open_memory: OpenMemory) -> Driven:
        """A fresh memory of 100 tokens that summarises."""
        return open_memory(summarising())


class IndexCase:
    """Gives the tests of the suite `index` and `project`, made from the same fixture."""

    @pytest.fixture
    def index(self, backend: Backend) -> ProjectIndex:
        """The index under test."""
        return backend.index

    @pytest.fixture
    def project(self) -> str:
        """A project that nobody else uses."""
        return f"project-{uuid.uuid4().hex}"
