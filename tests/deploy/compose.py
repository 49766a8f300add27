"""deploy/compose.yaml as `docker compose` reads it, filled in with variables."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import yaml

from tests.deploy.dockerfile import CHECKOUT

FILE = CHECKOUT / "deploy" / "compose.yaml"
GIVEN = {"REDIS_PASSWORD": "a4f1c9"}


def filled(variables: Mapping[str, str]) -> str:
    """The file with these variables, as `docker compose` fills it in. Raises KeyError for one that it demands."""

    def value(found: re.Match[str]) -> str:
        name, kind, rest = found.groups()
        return variables[name] if kind == "?" else variables.get(name, rest or "")

    return re.sub(r"\$\{(\w+)(?::([-?])([^}]*))?\}", value, FILE.read_text())


SERVICES: dict[str, Any] = yaml.safe_load(filled(GIVEN))["services"]
