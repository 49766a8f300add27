"""What `--dev` tells other shells: all that has to be alike there, and no secret; and where it writes it."""

from __future__ import annotations

from pathlib import Path

import pytest

from durable_memory.dev import DevServers, ServerStartError
from durable_memory.dev.env_file import env_file, export_line, require_ours
from durable_memory.memory.settings import Settings
from durable_memory.worker.shells import secrets_of, shell_variables

STARTED = DevServers("redis://127.0.0.1:1/0", "127.0.0.1:2", None, ("valkey", "temporal"))
NAMED = DevServers("redis://:hunter2@redis:1/0", "temporal:2", None, ())
KEY = "k1:" + "A" * 43 + "="


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(settings: Settings, servers: DevServers = NAMED) -> dict[str, str]:
    """What is set beside the folders of the declarations."""
    variables = shell_variables(settings, servers)
    del variables["DURABLE_MEMORY_MEMORIES"]
    return variables


def test_servers_that_the_environment_names_and_defaults_are_left_out() -> None:
    assert told(Settings()) == {}
    assert told(Settings(), STARTED) == {"REDIS_URL": "redis://127.0.0.1:1/0", "TEMPORAL_ADDRESS": "127.0.0.1:2"}


def test_what_differs_from_the_defaults_is_set() -> None:
    assert told(Settings(project="acme")) == {"DURABLE_MEMORY_PROJECT": "acme"}, "its queue follows from it"
    assert told(Settings(task_queue="a b")) == {"DURABLE_MEMORY_TASK_QUEUE": "a b"}
    assert told(Settings(prefix="x:", encoding="cl100k_base")) == {
        "DURABLE_MEMORY_PREFIX": "x:",
        "DURABLE_MEMORY_ENCODING": "cl100k_base",
    }


def test_a_shell_reads_values_as_they_are() -> None:
    assert export_line({"A": "a b", "B": "c"}) == "export A='a b' B=c"


def test_declarations_are_found_from_any_other_folder_also_those_of_the_default_one(tmp_path: Path) -> None:
    assert shell_variables(Settings(), NAMED) == {"DURABLE_MEMORY_MEMORIES": f"{tmp_path}/memories"}
    chosen = shell_variables(Settings(memories=(Path("one"), Path("two"))), NAMED)
    assert chosen == {"DURABLE_MEMORY_MEMORIES": f"{tmp_path}/one:{tmp_path}/two"}


def test_secrets_are_named_without_their_values() -> None:
    settings = Settings(encryption_keys=KEY, payload_keys=KEY, telemetry_key="hunter2")
    assert secrets_of(settings) == (
        "DURABLE_MEMORY_ENCRYPTION_KEYS, DURABLE_MEMORY_PAYLOAD_KEYS, DURABLE_MEMORY_TELEMETRY_KEY"
    )
    assert told(settings) == {}
    assert secrets_of(Settings()) == ""


def test_a_redis_that_only_this_command_names_is_one_of_the_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Settings(redis_url="redis://:hunter2@redis:1/0")
    assert (secrets_of(given), told(given)) == ("REDIS_URL", {})
    monkeypatch.setenv("REDIS_URL", "redis://another:1/0")
    assert secrets_of(given) == "REDIS_URL"
    assert secrets_of(Settings()) == "", "other shells may have the same environment"


def test_a_file_that_an_earlier_run_left_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "env"
    require_ours(file)
    with env_file(file, {"A": "1"}):
        left = file.read_bytes()
    assert not file.exists()
    file.write_bytes(left)
    require_ours(file)
    with env_file(file, {"A": "2"}):
        assert file.read_text().splitlines()[1:] == ["export A=2"]


def test_what_somebody_else_has_under_that_name_is_refused(tmp_path: Path) -> None:
    file, folder = tmp_path / "env", tmp_path / "virtualenv"
    file.write_bytes(b"export MINE=1\n\xff")
    folder.mkdir()
    for taken in (file, folder):
        with pytest.raises(ServerStartError, match=r"is not of durable-memory.*--dev-folder"):
            require_ours(taken)
    assert file.read_bytes() == b"export MINE=1\n\xff"
