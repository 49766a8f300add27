"""What the product costs, as ratios measured in one run against floors and others. `make bench`."""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

import corrections
import features
import flush
import history
import opened
import repetitive
import store
import summaries
import through_temporal
import writers
from rich.console import Console
from table import Row, show

from durable_memory.dev import start_valkey
from durable_memory.exit import leave

TURNS, TURNS_OF_A_RUN = 60, 15
LONG_TURNS, LONG_TURNS_OF_A_RUN = 2_000, 200


async def rows(redis_url: str, *, long: bool) -> AsyncIterator[Row]:
    """Measures all rows in order."""
    turns, turns_of_a_run = (LONG_TURNS, LONG_TURNS_OF_A_RUN) if long else (TURNS, TURNS_OF_A_RUN)
    for part in (
        store.rows(redis_url),
        features.rows(redis_url),
        summaries.rows(),
        repetitive.rows(),
        corrections.rows(),
        flush.rows(redis_url),
        writers.rows(redis_url),
        opened.rows(redis_url),
        through_temporal.rows(redis_url),
        history.rows(redis_url, turns=turns, turns_of_a_run=turns_of_a_run),
    ):
        async for row in part:
            yield row


async def main(*, long: bool) -> int:
    """Starts a Valkey of its own, measures, prints, and returns how many bars were missed."""
    console = Console(width=150 if not sys.stdout.isatty() else None)
    with tempfile.TemporaryDirectory(prefix="durable-memory-bench-") as folder:
        valkey = await start_valkey(Path(folder), fsync="everysec")
        try:
            measured = [row async for row in rows(valkey.url, long=long)]
        finally:
            valkey.server.kill()
    show(measured, console)
    return sum(row.missed for row in measured)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description="Measures what the product costs, side by side with floors and others."
    )
    parser.add_argument("--long", action="store_true", help="the history over 2,000 turns: some minutes more")
    leave(1 if asyncio.run(main(long=parser.parse_args().long)) else 0)
