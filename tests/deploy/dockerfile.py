"""deploy/Dockerfile as the tests read it: its stages, their instructions, and the files that it is given."""

from __future__ import annotations

import fnmatch
import json
import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
FILE = CHECKOUT / "deploy" / "Dockerfile"


@dataclass(frozen=True)
class Stage:
    """A stage. instructions: their names and what stands behind."""

    base: str
    instructions: list[tuple[str, str]]

    def all(self, name: str) -> list[str]:
        """What stands behind each instruction of this name."""
        return [text for found, text in self.instructions if found == name]

    def only(self, name: str) -> str:
        """What stands behind the one instruction of this name."""
        (text,) = self.all(name)
        return text

    def command(self, name: str) -> list[str]:
        """The words of an instruction in exec form, which starts no shell."""
        words: list[str] = json.loads(self.only(name))
        return words

    def variables(self) -> dict[str, str]:
        """What ENV sets."""
        return dict(word.split("=", 1) for text in self.all("ENV") for word in shlex.split(text))

    def health_check(self) -> list[str]:
        """The words of the command of HEALTHCHECK."""
        words: list[str] = json.loads(self.only("HEALTHCHECK").partition("CMD ")[2])
        return words


def stages() -> tuple[Stage, Stage]:
    """The one that builds, and the one that runs."""
    lines = [line for line in FILE.read_text().splitlines() if line and not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    read = [(name, text) for name, _, text in (line.partition(" ") for line in whole)]
    starts = [index for index, (name, _) in enumerate(read) if name == "FROM"]
    build, run = starts
    return Stage(read[build][1], read[build + 1 : run]), Stage(read[run][1], read[run + 1 :])


def context(names: Iterable[str]) -> set[str]:
    """Which of these files .dockerignore lets in; the last line that fits a file, or a folder above it, decides."""
    lines = [line for line in (CHECKOUT / ".dockerignore").read_text().splitlines() if not line.startswith("#")]
    return {name for name in names if not _ignored(name, lines)}


def _ignored(name: str, lines: Iterable[str]) -> bool:
    parts = name.split("/")
    paths = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    ignored = False
    for line in lines:
        pattern = line.removeprefix("!")
        # Of the patterns with stars, these files need those that fit a name at any depth.
        found = parts if pattern.startswith("**/") else paths
        if any(fnmatch.fnmatchcase(one, pattern.removeprefix("**/")) for one in found):
            ignored = not line.startswith("!")
    return ignored
