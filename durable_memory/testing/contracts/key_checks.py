"""Conformance: by which encryption keys a project is written."""

from __future__ import annotations

import asyncio
import uuid

import pytest

from durable_memory.memory.stores.backend import Backend
from durable_memory.memory.stores.key_checks_port import KeyChecks


class KeyChecksContract:
    """The noted keys of a project."""

    @pytest.fixture
    def key_checks(self, backend: Backend) -> KeyChecks:
        """The notes under test."""
        return backend.key_checks

    @pytest.fixture
    def sealed(self) -> str:
        """A project that nobody else uses."""
        return f"project-{uuid.uuid4().hex}"

    async def test_the_first_check_of_a_key_stands(self, key_checks: KeyChecks, sealed: str) -> None:
        assert await key_checks.noted(sealed) == {}
        assert await key_checks.note(sealed, {"old": "1"}) == {"old": "1"}
        assert await key_checks.note(sealed, {"new": "2", "old": "1"}) == {"old": "1", "new": "2"}
        assert await key_checks.note(sealed, {"new": "2", "old": "3"}) == {"old": "1", "new": "2"}
        assert await key_checks.noted(sealed) == {"old": "1", "new": "2"}

    async def test_of_two_that_begin_with_different_keys_one_is_the_first(
        self, key_checks: KeyChecks, sealed: str
    ) -> None:
        answers = await asyncio.gather(*(key_checks.note(sealed, {name: "1"}) for name in ("a", "b")))
        assert answers[0] == answers[1] == await key_checks.noted(sealed)
        assert len(answers[0]) == 1

    async def test_the_keys_of_one_project_are_not_those_of_another(self, key_checks: KeyChecks, sealed: str) -> None:
        await key_checks.note(sealed, {"old": "1"})
        assert await key_checks.noted(f"{sealed}-2") == {}
