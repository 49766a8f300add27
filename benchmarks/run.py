"""What the product costs, as ratios measured in one run against floors and others. `make bench`."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import store
import writers
from rich.console import Console
from table import Row, show

from durable_memory.dev import start_valkey


async def main() -> int:
    """Starts a Valkey of its own, measures, prints, and returns how many bars were missed."""
    console = Console(width=130 if not sys.stdout.isatty() else None)
    measured: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="durable-memory-bench-") as folder:
        valkey = await start_valkey(Path(folder), fsync="everysec")
        try:
            for part in (store, writers):
                measured += [row async for row in part.rows(valkey.url)]
        finally:
            valkey.server.kill()
    show(measured, console)
    return sum(row.missed for row in measured)


if __name__ == "__main__":
    sys.exit(1 if asyncio.run(main()) else 0)
