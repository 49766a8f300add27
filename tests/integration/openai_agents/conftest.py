"""The SDK sends no traces from these tests, nor at the end of the process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session", autouse=True)
def _untraced() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_AGENTS_DISABLE_TRACING", "1")
        yield
