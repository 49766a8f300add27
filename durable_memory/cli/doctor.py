"""The command that looks at everything that a project runs on."""

from __future__ import annotations

import asyncio
from typing import Final

import typer

from durable_memory.cli.options import Shared
from durable_memory.cli.output import show
from durable_memory.cli.project_checks import Verdict, check_project
from durable_memory.cli.session import log_for_people
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import listing
from durable_memory.memory.types.answers import to_json

_STYLES: Final = {Verdict.WARNING.value: "yellow", Verdict.PROBLEM.value: "bold red"}


@spread_options
def doctor(shared: Shared) -> None:
    """Check all that a project runs on: declarations, Redis, workers.

    It changes nothing. Exit code 1 if there is a problem.
    """
    settings = shared.settings()
    log_for_people(settings)
    checks = asyncio.run(check_project(settings))
    healthy = all(check.verdict is not Verdict.PROBLEM for check in checks)
    rows = ((check.part, check.verdict.value, check.text) for check in checks)
    columns = ("part", "verdict", "found")
    table = listing(f"Project {settings.project}", columns, rows, whole=("part", "verdict"), styles=_STYLES)
    show(shared.output, {"healthy": healthy, "checks": to_json(tuple(checks))}, table)
    if not healthy:
        raise typer.Exit(1)
