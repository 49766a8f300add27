"""The key checks of one process."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping


class InMemoryKeyChecks:
    """The KeyChecks port in this process."""

    def __init__(self) -> None:
        self._noted: dict[str, dict[str, str]] = defaultdict(dict)

    async def noted(self, project: str) -> Mapping[str, str]:
        """See KeyChecks."""
        return dict(self._noted[project])

    async def note(self, project: str, checks: Mapping[str, str]) -> Mapping[str, str]:
        """See KeyChecks."""
        noted = self._noted[project]
        if not noted or noted.items() & checks.items():
            self._noted[project] = {**checks, **noted}
        return dict(self._noted[project])
