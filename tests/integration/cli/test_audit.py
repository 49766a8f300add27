"""What commands remove goes to the audit's file, and their output stays what it was."""

from __future__ import annotations

import json
import os
import pwd
from pathlib import Path
from typing import Any

from tests.integration.cli.conftest import Cli
from tests.integration.cli.json_messages import json_messages

TELEMETRY = {"DURABLE_MEMORY_TELEMETRY_KEY": "k"}


def records(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "audit.jsonl").read_text().splitlines()]


async def test_each_command_that_removes_is_one_record_of_the_file(cli: Cli, folder: Path, project: str) -> None:
    given = {"DURABLE_MEMORY_AUDIT_LOG": "audit.jsonl", **TELEMETRY}
    await cli("append", "notes", "user:marley", "--json", "-", stdin=json_messages(3), **given)
    assert (folder / "audit.jsonl").read_text() == ""
    await cli("flush", "notes", "user:marley", "--force", "--dry-run", **given)
    await cli("flush", "notes", "user:marley", "--force", **given)
    await cli("append", "notes", "user:marley", "Hello", **given)
    cleared = await cli("clear", "notes", "user:marley", "--yes", "--backup", "-o", "json", **given)
    backup = cleared.json()["backup_id"]
    await cli("restore", "notes", "user:marley", backup, **given)
    request = {"operation": "write", "resource": "notes", "key": "user:marley"}
    written = {**request, "payload": {"messages": [{"role": "user", "content": "marley"}]}}
    await cli("execute", "-", stdin=json.dumps(written), **given)
    await cli("purge", "notes", "--prefix", "user:marley", "--dry-run", **given)
    await cli("purge", "notes", "--prefix", "user:marley", "--yes", **given)
    await cli("restore", "notes", "user:marley", "nonsense", **given)
    found = records(folder)
    assert [f"{one['operation']} {one['outcome']}" for one in found] == [
        "flush applied",
        "clear applied",
        "restore applied",
        "write applied",
        "purge_memory applied",
        "purge applied",
        "restore refused",
    ]
    assert {(one["caller"], one["project"], one["resource"]) for one in found} == {("cli", project, "notes")}
    assert {one["os_user"] for one in found} == {pwd.getpwuid(os.getuid()).pw_name}
    assert len({one["memory_hash"] for one in found if "memory_hash" in one}) == 1
    assert "marley" not in (folder / "audit.jsonl").read_text()
    assert (set(cleared.json()), cleared.err) == ({"cleared", "backup_id", "already_applied"}, "")


async def test_without_a_word_on_logs_a_command_tells_its_user_nothing_of_the_audit(cli: Cli, folder: Path) -> None:
    await cli("append", "notes", "k", "Hello")
    quiet = await cli("clear", "notes", "k", "--yes")
    assert (quiet.code, quiet.err) == (0, "")
    told = await cli("clear", "notes", "k", "--yes", DURABLE_MEMORY_LOG_LEVEL="info", DURABLE_MEMORY_LOG_FORMAT="json")
    [record] = [json.loads(line) for line in told.err.splitlines() if "durable_memory.audit" in line]
    assert (record["operation"], record["outcome"], record["caller"]) == ("clear", "applied", "cli")
    assert "audit" not in told.out
    assert not (folder / "audit.jsonl").exists()


async def test_a_command_whose_audit_cannot_be_kept_does_nothing(cli: Cli) -> None:
    await cli("append", "notes", "k", "Hello")
    for wrong in ("nowhere/audit.jsonl", "memories"):
        refused = await cli("clear", "notes", "k", "--yes", DURABLE_MEMORY_AUDIT_LOG=wrong)
        assert (refused.code, refused.out) == (1, "")
        [told] = refused.err.splitlines()
        assert told.startswith("Error: DURABLE_MEMORY_AUDIT_LOG: the file cannot be opened")
    assert len((await cli("read", "notes", "k", "-o", "json")).json()["messages"]) == 1
