"""docs/operations.md and docs/troubleshooting.md name what exists, and all of it."""

from __future__ import annotations

import base64
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import typer.main
from temporalio.api.common.v1 import Payload

from durable_memory import Agent, AgentMemory, DeclaredAgent, EncryptionCodec, Memory
from durable_memory.activities.operations import OF_AN_AGENT, ON_A_MEMORY, PUBLIC
from durable_memory.cli.app import app
from durable_memory.logs import cannot_decode
from durable_memory.memory import errors
from durable_memory.memory.codec import decode
from durable_memory.memory.limits import Limits
from durable_memory.memory.operations import health
from durable_memory.memory.privacy.sealed_payload import missing_key, not_opened, sealed_payload
from durable_memory.memory.stores.redis.reply_errors import damaged
from durable_memory.memory.stores.values import StoredEntry
from durable_memory.memory.types import MemoryStats, Omitted
from durable_memory.memory.waking import RetriedFlush

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "operations.md").read_text()
TROUBLESHOOTING = (DOCS / "troubleshooting.md").read_text()
AGENTS = "## All memories of an agent"


def column(heading: str, above: str = "# Operations") -> set[str]:
    """The names in one column of the first table under a heading: of the operations on one memory, unless given."""
    lines = next(part for part in PAGE.split(f"{above}\n", 1)[1].split("\n\n") if part.startswith("|")).splitlines()
    headings, *rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
    names = [name.strip("`") for row in rows[1:] for name in row[headings.index(heading)].split(", ")]
    return {name for name in names if name}


def methods(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("_")} - {"ref", "id", "memories", "writer"}


def test_every_method_of_the_handles_is_listed() -> None:
    assert column("`AgentMemory`") == methods(AgentMemory)
    assert column("`Memory`") == methods(Memory)
    assert column("`Agent`", AGENTS) == methods(Agent)
    assert column("`DeclaredAgent`", AGENTS) == methods(DeclaredAgent)


def test_every_activity_is_listed() -> None:
    assert column("activity") == {each.name for each in ON_A_MEMORY}
    assert column("activity", AGENTS) == {each.name for each in OF_AN_AGENT}
    assert [name for name in PUBLIC if f"`{name}`" not in PAGE and name not in column("activity")] == []


def test_every_command_is_listed() -> None:
    commands = typer.main.get_group(app).commands
    assert "`durable-memory execute" in PAGE
    others = re.search(r"The commands (.*?) have no counterpart", PAGE, re.DOTALL)
    assert others is not None
    assert column("command") | column("command", AGENTS) | set(re.findall(r"`(\w+)`", others[1])) == set(commands) - {
        "execute"
    }


def test_every_error_is_listed_with_whether_it_is_retried() -> None:
    rows = re.findall(r"^\| `(Memory\w+)` \| (yes|no) \|", TROUBLESHOOTING, re.MULTILINE)
    tree = {kind.type: "yes" if kind.retryable else "no" for kind in errors.MemoryFault.__subclasses__()}
    assert dict(rows) == tree


NOW = datetime(2026, 1, 2, tzinfo=UTC)
WELL = MemoryStats(
    exists=True,
    version="1",
    tokens={},
    messages={},
    omitted=Omitted(),
    max_tokens=100,
    max_messages=None,
    flush_due=False,
)
STORE = {
    "Redis at localhost:6379 cannot be reached: connection refused; check this address and whether the server runs",
    "Redis at localhost:6379 cannot be reached: ClosedAtOnceError: the connection was closed as it began: its",
    "Redis at localhost:6379 refuses calls for now: BUSY Redis is busy running a script.",
    "Redis at localhost:6379 refuses calls for now: LOADING Redis is loading the dataset in memory",
    "Redis at localhost:6379 could not be asked within 2 s: slow calls of this process hold all 64 connections",
    "Redis at localhost:6379 is a read-only replica and refuses writes: name its primary",
    "Redis at localhost:6379 refuses this user or password: AuthenticationError",
    "Redis at localhost:6379 is out of memory (maxmemory) and refuses writes",
    "Redis at localhost:6379 shows a certificate that is not trusted: certificate has expired",
}
"""What a store says that does not answer, or takes no writes: health passes it on."""
UNLISTED = "failed: RuntimeError"


def unreadable() -> set[str]:
    """What a read that fails says: health passes it on as well."""
    sealed = sealed_payload("k1", "c2VhbGVk")
    with pytest.raises(errors.MemoryDamaged) as no_message:
        decode(StoredEntry("1", "{}", "short_term", 1))
    faults = missing_key("1", sealed), not_opened("1", sealed), damaged("desk", "counters disagree"), no_message.value
    return {fault.message for fault in faults}


async def logged() -> set[str]:
    """What the log of a worker says where health can only say that a flush is overdue."""
    key, other = ("k1:" + base64.b64encode(bytes([number]) * 32).decode() for number in (1, 2))
    sealed = await EncryptionCodec(key).encode([Payload(data=b"{}")])
    said = {cannot_decode("binary/encrypted")}
    for keys in (other.replace("k1", "k2"), other):
        with pytest.raises(errors.MemoryUndecryptable) as lacking:
            await EncryptionCodec(keys).decode(sealed)
        said.add(lacking.value.message)
    return said


def problems() -> set[str]:
    """Every sentence that health can say: of each failed flush that it has words for, and of one that it has not."""
    failed = [*(f"failed: {kind}" for kind in health.FAILED), UNLISTED]
    limits = replace(Limits.unlimited(), overflow_tokens=100, overflow_messages=10)
    ill = [
        *(replace(WELL, last_flush_outcome=outcome) for outcome in failed),
        replace(WELL, flush_blocked="pinned"),
        replace(WELL, flush_blocked="keep"),
        *(replace(WELL, due_since=NOW - timedelta(hours=1), flushing_owner=owner) for owner in (None, "worker-1")),
        replace(WELL, omitted=Omitted(messages=10, tokens=100)),
    ]
    retried = {
        health.retrying(stats, RetriedFlush("summarize", failures, kind, NOW, NOW))
        for stats in (WELL, replace(WELL, due_since=NOW))
        for failures in (1, 3)
        for kind in (*health.FAILED, "RuntimeError")
    }
    untaken = {health.untaken(replace(WELL, due_since=NOW - timedelta(minutes=1)), "durable-memory", NOW)}
    return (
        STORE
        | retried
        | untaken
        | unreadable()
        | {problem for stats in ill for problem in health.judge(stats, limits, NOW)}
    )


async def test_every_problem_of_health_has_a_row_that_says_what_to_do() -> None:
    words = [re.findall(r"`([^`]+)`", line.split("|")[1]) for line in _runbook()]
    said = problems() | await logged()
    assert [problem for problem in said if not any(word in problem for row in words for word in row)] == []
    assert [word for row in words for word in row if not any(word in problem for problem in said)] == []
    named = set(re.findall(r"failed: \w+", " ".join(said)))
    assert named - {word for row in words for word in row} == {UNLISTED}


def _runbook() -> list[str]:
    section = TROUBLESHOOTING.split("## What `health` says", 1)[1].split("\n## ", 1)[0]
    return [line for line in section.splitlines() if line.startswith("| `")][1:]
