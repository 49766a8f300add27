"""The example of shared memories, run as a person runs it."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

SHARE = Path(__file__).parents[3] / "examples" / "memory-sharing" / "share.py"

RECORDED = "recorded in ['audit-trail', 'trip-thread']"
FOR_AGENTS = "memory 'trip-thread' is for agents only (agents_only: true); name the declared agent that calls"


async def test_three_agents_share_two_memories_each_in_its_mode(redis_url: str, temporal_address: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        str(SHARE),
        env={**os.environ, "REDIS_URL": redis_url, "TEMPORAL_ADDRESS": temporal_address},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output, _ = await process.communicate()
    text = output.decode()
    assert process.returncode == 0, text
    lines = [re.sub(r"\d+ tokens", "N tokens", line) for line in text.splitlines() if re.match(r"\w+( tries|:)", line)]
    assert lines == [
        f"intake: I see Trip thread 0 (N tokens), and was told: Two nights in Lyon.; {RECORDED}",
        f"booking: I see Trip thread 2 (N tokens), and was told: Book it.; {RECORDED}",
        "auditor: I see Audit trail 4, Trip thread 4 (N tokens), and was told: All well?; recorded in []",
        "auditor tries append: trip-thread: agent 'auditor' has declared it read-only, which does not allow append",
        "booking tries append: done",
        "booking tries clear: trip-thread: agent 'booking' has declared it append-only, which does not allow clear",
        f"nobody tries clear: {FOR_AGENTS}",
        "intake tries clear: done",
    ]
