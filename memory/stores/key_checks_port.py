"""The port of key checks: by which encryption keys a project is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol


class KeyChecks(Protocol):
    """Keeps, for each project, what tells a key of an id from another key of that id. Each call is one atomic step."""

    async def noted(self, project: str) -> Mapping[str, str]:
        """Returns the checks of all keys that were noted, by their ids. Raises MemoryUnavailable."""
        ...

    async def note(self, project: str, checks: Mapping[str, str]) -> Mapping[str, str]:
        """Notes the checks of keys whose ids are not noted, and returns all that stand.

        checks: of all keys of a process. None is noted if the project has keys and none of these is one of them. Raises
        MemoryUnavailable.
        """
        ...
