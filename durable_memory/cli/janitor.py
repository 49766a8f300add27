"""The command that sweeps up once, as the janitor's schedule does again and again."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Annotated

import typer

from durable_memory.activities.runs import TemporalRuns
from durable_memory.activities.waker import TemporalWaker
from durable_memory.cli.options import Shared
from durable_memory.cli.output import say, show
from durable_memory.cli.session import keep_logs, open_client
from durable_memory.cli.spread_options import spread_options
from durable_memory.cli.table import facts
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.janitor.sweep import COUNTS, Janitor
from durable_memory.memory.settings import Settings
from durable_memory.temporal_connection import connect_temporal, load_profile

_WORDS = {
    "owners": "workflows looked at",
    "living": "that go on",
    "memories": "memories looked at",
    "released": "workflows that had ended",
    "cleared": "memories cleared",
    "flushed": "memories flushed",
    "kept": "memories kept",
    "woken": "flushes woken",
    "forgotten": "expired memories forgotten",
    "unknown": "workflows that could not be told; nothing of theirs was touched",
    "failed": "failed, to be tried again",
}


@spread_options
def janitor(
    shared: Shared,
    *,
    once: Annotated[bool, typer.Option("--once", hidden=True)] = True,  # noqa: ARG001 - said or not, it is one sweep
) -> None:
    """Sweep once: settle what ended workflows left, wake due flushes.

    A worker's schedule sweeps again and again. Needs TEMPORAL_ADDRESS. Exit code 1 if something failed.
    """
    settings = shared.settings()
    keep_logs(settings)
    counts = asyncio.run(_sweep(settings))
    data = {name: counts[name] for name in COUNTS}
    rows = ((_WORDS[name], f"{data[name]:,}") for name in COUNTS)
    show(shared.output, data, facts(f"Project {settings.project}", rows))
    if counts["failed"]:
        say("Error: a part of the sweep failed; the next one tries it again.")
        raise typer.Exit(1)


async def _sweep(settings: Settings) -> Counter[str]:
    profile = load_profile()
    if profile.address is None:
        raise MemoryInvalid("TEMPORAL_ADDRESS is not set; only Temporal knows which workflows have ended")
    temporal = await connect_temporal(profile, payload_keys=settings.payload_keys)
    waker = TemporalWaker(temporal, settings.task_queue)
    counts: Counter[str] = Counter()
    async with await open_client(settings, waker) as client:
        janitor = Janitor(client, TemporalRuns(temporal), waker.revive)
        position: str | None = None
        while True:
            swept = await janitor.sweep(position)
            counts.update(swept.counts)
            position = swept.position
            if position is None:
                return counts
