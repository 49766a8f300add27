"""What `--dev` prints for other shells: all that has to be alike there, and no secret."""

from __future__ import annotations

from pathlib import Path

import pytest

from durable_memory.dev import DevServers
from durable_memory.dev.env_file import export_line
from durable_memory.memory.settings import Settings
from durable_memory.worker.shells import secrets_of, shell_variables

STARTED = DevServers("redis://127.0.0.1:1/0", "127.0.0.1:2", None, ("valkey", "temporal"))
NAMED = DevServers("redis://:hunter2@redis:1/0", "temporal:2", None, ())


def exports(settings: Settings, servers: DevServers) -> str:
    return export_line(shell_variables(settings, servers)).removesuffix("export ")


KEY = "k1:" + "A" * 43 + "="


def test_servers_that_the_environment_names_and_defaults_are_left_out() -> None:
    assert exports(Settings(), NAMED) == ""
    assert exports(Settings(), STARTED) == "export REDIS_URL=redis://127.0.0.1:1/0 TEMPORAL_ADDRESS=127.0.0.1:2"


def test_what_differs_from_the_defaults_is_set() -> None:
    assert exports(Settings(project="acme"), NAMED) == "export DURABLE_MEMORY_PROJECT=acme", "its queue follows from it"
    assert exports(Settings(task_queue="a b"), NAMED) == "export DURABLE_MEMORY_TASK_QUEUE='a b'"
    assert exports(Settings(prefix="x:", encoding="cl100k_base"), NAMED) == (
        "export DURABLE_MEMORY_PREFIX=x: DURABLE_MEMORY_ENCODING=cl100k_base"
    )


def test_folders_are_found_from_any_other_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    wanted = f"export DURABLE_MEMORY_MEMORIES={tmp_path}/one:{tmp_path}/two"
    assert exports(Settings(memories=(Path("one"), Path("two"))), NAMED) == wanted


def test_secrets_are_named_without_their_values() -> None:
    settings = Settings(encryption_keys=KEY, payload_keys=KEY, redis_url="redis://:hunter2@redis:1/0")
    assert secrets_of(settings) == "DURABLE_MEMORY_ENCRYPTION_KEYS, DURABLE_MEMORY_PAYLOAD_KEYS"
    assert exports(settings, NAMED) == ""
    assert secrets_of(Settings()) == ""
