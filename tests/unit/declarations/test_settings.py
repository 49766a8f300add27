"""Settings: given, else by the environment, else the default; wrong ones are one sentence without the value."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.settings import Settings
from durable_memory.memory.task_queues import summaries_queue


@pytest.fixture(autouse=True)
def _empty_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith(("DURABLE_MEMORY_", "REDIS_URL")):
            monkeypatch.delenv(name)


KEY = "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0LXNlY3I="
DEFAULTS: dict[str, object] = {
    "redis_url": None,
    "encryption_keys": None,
    "payload_keys": None,
    "telemetry_key": None,
    "project": "default",
    "prefix": "dm:",
    "task_queue": "durable-memory",
    "janitor_interval": timedelta(minutes=5),
    "reload_interval": timedelta(seconds=10),
    "summarizer": None,
    "summary_slots": 10,
    "memories": (Path("memories"),),
    "encoding": "o200k_base",
    "http_host": "127.0.0.1",
    "http_port": 0,
    "log_level": "info",
    "log_format": "json",
    "audit_log": None,
}
FROM_ENVIRONMENT: dict[str, tuple[str, str, object]] = {
    "redis_url": ("REDIS_URL", "redis://:pw@db:6379/1", "redis://:pw@db:6379/1"),
    "encryption_keys": ("DURABLE_MEMORY_ENCRYPTION_KEYS", f"k1:{KEY}", f"k1:{KEY}"),
    "payload_keys": ("DURABLE_MEMORY_PAYLOAD_KEYS", f"k1:{KEY}", f"k1:{KEY}"),
    "telemetry_key": ("DURABLE_MEMORY_TELEMETRY_KEY", "s3cret", "s3cret"),
    "project": ("DURABLE_MEMORY_PROJECT", "shop", "shop"),
    "prefix": ("DURABLE_MEMORY_PREFIX", "app/", "app/"),
    "task_queue": ("DURABLE_MEMORY_TASK_QUEUE", "memory-eu", "memory-eu"),
    "janitor_interval": ("DURABLE_MEMORY_JANITOR_INTERVAL", "90s", timedelta(seconds=90)),
    "reload_interval": ("DURABLE_MEMORY_RELOAD_INTERVAL", "off", None),
    "summarizer": ("DURABLE_MEMORY_SUMMARIZER", "my_agents.summaries:make", "my_agents.summaries:make"),
    "summary_slots": ("DURABLE_MEMORY_SUMMARY_SLOTS", "3", 3),
    "memories": ("DURABLE_MEMORY_MEMORIES", os.pathsep.join(["a", "b/c", ""]), (Path("a"), Path("b/c"))),
    "encoding": ("DURABLE_MEMORY_ENCODING", "gpt-4", "gpt-4"),
    "http_host": ("DURABLE_MEMORY_HTTP_HOST", "0.0.0.0", "0.0.0.0"),
    "http_port": ("DURABLE_MEMORY_HTTP_PORT", "9464", 9464),
    "log_level": ("DURABLE_MEMORY_LOG_LEVEL", "DEBUG", "debug"),
    "log_format": ("DURABLE_MEMORY_LOG_FORMAT", "console", "console"),
    "audit_log": ("DURABLE_MEMORY_AUDIT_LOG", "audit.jsonl", Path("audit.jsonl")),
}
REFUSED = [
    ("DURABLE_MEMORY_ENCRYPTION_KEYS", KEY, "key 1 must be <id>:<base64 of 32 bytes>"),
    ("DURABLE_MEMORY_PAYLOAD_KEYS", KEY, "key 1 must be <id>:<base64 of 32 bytes>"),
    ("DURABLE_MEMORY_ENCRYPTION_KEYS", "k1:c2VjcmV0", "key 1 has 6 bytes; 32 are needed"),
    ("DURABLE_MEMORY_ENCRYPTION_KEYS", f"k1:{KEY},k2:secret!", "key 2 is not base64"),
    ("DURABLE_MEMORY_ENCRYPTION_KEYS", f"k1:{KEY} k1:{KEY}", "key 2 has the id of another one"),
    ("DURABLE_MEMORY_PROJECT", "My Shop", "lower-case letters"),
    ("DURABLE_MEMORY_PREFIX", "dm{1}:", "without spaces and braces"),
    ("DURABLE_MEMORY_PREFIX", "dm :", "without spaces and braces"),
    ("DURABLE_MEMORY_TASK_QUEUE", "q" * 991, "has 991 bytes, the limit is 990"),
    ("DURABLE_MEMORY_TASK_QUEUE", "é" * 496, "has 992 bytes, the limit is 990"),
    ("DURABLE_MEMORY_TASK_QUEUE", "/_sys/x", "begins with /_sys/, which is for Temporal's own"),
    ("DURABLE_MEMORY_TASK_QUEUE", " ", "is not the name of a task queue"),
    ("DURABLE_MEMORY_MEMORIES", os.pathsep, "names no folder"),
    ("DURABLE_MEMORY_JANITOR_INTERVAL", "300", "is not a duration"),
    ("DURABLE_MEMORY_JANITOR_INTERVAL", "100ms", "from 1s to 1d"),
    ("DURABLE_MEMORY_JANITOR_INTERVAL", "2d", "from 1s to 1d"),
    ("DURABLE_MEMORY_RELOAD_INTERVAL", "0s", "longer than zero"),
    ("DURABLE_MEMORY_RELOAD_INTERVAL", "500ms", "from 1s to 1d"),
    ("DURABLE_MEMORY_SUMMARY_SLOTS", "0", "at least 1"),
    ("DURABLE_MEMORY_ENCODING", "o200kbase", "did you mean 'o200k_base'?"),
    ("DURABLE_MEMORY_SUMMARIZER", "my_agents.summaries", "must be package.module:factory"),
    ("DURABLE_MEMORY_SUMMARIZER", "my_agents/summaries.py:make", "must be package.module:factory"),
    ("DURABLE_MEMORY_HTTP_HOST", "h" * 300, "at most 255 characters"),
    ("DURABLE_MEMORY_HTTP_PORT", "http", "must be a whole number"),
    ("DURABLE_MEMORY_HTTP_PORT", "70000", "at most 65535"),
    ("DURABLE_MEMORY_LOG_LEVEL", "WARNNG", "did you mean 'warning'?"),
    ("DURABLE_MEMORY_LOG_FORMAT", "xml", "must be json or console"),
]


def test_every_setting_has_a_default_and_a_variable() -> None:
    assert set(Settings.model_fields) == set(DEFAULTS) == set(FROM_ENVIRONMENT)
    assert Settings().model_dump() == DEFAULTS


@pytest.mark.parametrize("name", FROM_ENVIRONMENT)
def test_the_environment_goes_before_the_default(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    variable, text, value = FROM_ENVIRONMENT[name]
    monkeypatch.setenv(variable, text)
    of_its_own = {"task_queue": f"durable-memory-{value}"} if name == "project" else {}
    assert Settings().model_dump() == {**DEFAULTS, **of_its_own, name: value}


@pytest.mark.parametrize("name", FROM_ENVIRONMENT)
def test_what_is_given_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    variable, text, _ = FROM_ENVIRONMENT[name]
    monkeypatch.setenv(variable, text)
    given = "redis://given" if name == "redis_url" else DEFAULTS[name]
    assert getattr(Settings(**{name: given}), name) == given


@pytest.mark.parametrize("name", FROM_ENVIRONMENT)
def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(FROM_ENVIRONMENT[name][0], "")
    assert Settings().model_dump() == DEFAULTS


@pytest.mark.parametrize("project", ["summaries", "meeting-summaries"])
def test_no_project_gets_the_queue_of_anothers_summaries(project: str) -> None:
    with pytest.raises(MemoryInvalid, match="DURABLE_MEMORY_TASK_QUEUE: is needed for this project"):
        Settings(project=project)
    assert Settings(project=project, task_queue="its-own").task_queue == "its-own"


def test_the_longest_queue_leaves_room_for_that_of_its_summaries() -> None:
    queue = Settings(task_queue="q" * 990).task_queue
    assert len(summaries_queue(queue)) == 1000


@pytest.mark.parametrize(("variable", "text", "problem"), REFUSED)
def test_a_wrong_value_is_refused_by_the_name_of_its_variable(
    monkeypatch: pytest.MonkeyPatch, variable: str, text: str, problem: str
) -> None:
    monkeypatch.setenv(variable, text)
    with pytest.raises(MemoryInvalid, match=f"{variable}: ") as caught:
        Settings()
    assert problem in str(caught.value)
    assert text not in {word.strip("';:,.?") for word in str(caught.value).split()}


def test_all_wrong_settings_are_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_HTTP_PORT", "http")
    monkeypatch.setenv("DURABLE_MEMORY_LOG_FORMAT", "xml")
    with pytest.raises(MemoryInvalid, match=r"HTTP_PORT: .*; DURABLE_MEMORY_LOG_FORMAT: "):
        Settings()


@pytest.mark.parametrize(
    ("misspelt", "meant"),
    [("DURABLE_MEMORY_PROJET", "DURABLE_MEMORY_PROJECT"), ("DURABLE_MEMORY_REDIS_URL", "REDIS_URL")],
)
def test_a_misspelt_variable_is_an_error(monkeypatch: pytest.MonkeyPatch, misspelt: str, meant: str) -> None:
    monkeypatch.setenv(misspelt, "x")
    with pytest.raises(MemoryInvalid, match=f"{misspelt} is not a setting; did you mean '{meant}'"):
        Settings()


def test_variables_that_kubernetes_makes_for_a_service_of_our_name_are_let_be(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "SERVICE_HOST", "SERVICE_PORT", "SERVICE_PORT_HTTP", "PORT_9464_TCP", "PORT_9464_TCP_ADDR"):
        monkeypatch.setenv(f"DURABLE_MEMORY_{name}", "tcp://10.0.0.1:9464")
    assert Settings().model_dump() == DEFAULTS


def test_a_misspelt_setting_in_code_is_an_error() -> None:
    with pytest.raises(MemoryInvalid, match=r"^htp_port: is not known"):
        Settings(htp_port=1)


def test_a_wrong_value_in_code_is_refused_by_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DURABLE_MEMORY_LOG_FORMAT", "xml")
    with pytest.raises(MemoryInvalid, match=r"^project: must be .*; DURABLE_MEMORY_LOG_FORMAT: must be "):
        Settings(project="Of mine")


def test_a_secret_may_stand_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "redis-url"
    secret.write_text("rediss://:s3cret@db:6380\n", "utf-8")
    monkeypatch.setenv("REDIS_URL_FILE", str(secret))
    settings = Settings()
    assert settings.redis_url == "rediss://:s3cret@db:6380"
    assert "s3cret" not in repr(settings)
    assert "s3cret" not in str(settings)
    assert Settings(redis_url="redis://given").redis_url == "redis://given"


def test_keys_may_stand_in_a_file_one_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "keys").write_text(f"k2:{KEY}\nk1:{KEY}\n")
    monkeypatch.setenv("DURABLE_MEMORY_ENCRYPTION_KEYS_FILE", str(tmp_path / "keys"))
    settings = Settings()
    assert settings.encryption_keys == f"k2:{KEY}\nk1:{KEY}"
    assert KEY not in repr(settings)


def test_a_secret_and_its_file_are_one_too_many(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "redis-url"
    secret.write_text("redis://a", "utf-8")
    monkeypatch.setenv("REDIS_URL_FILE", str(secret))
    monkeypatch.setenv("REDIS_URL", "redis://b")
    with pytest.raises(MemoryInvalid, match="REDIS_URL and REDIS_URL_FILE are both set"):
        Settings()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "cannot be read"),
        (b" \n", "is empty"),
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"x" * 64_001, "is larger than"),
    ],
)
def test_a_secret_file_that_gives_nothing_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None, problem: str
) -> None:
    secret = tmp_path / "redis-url"
    for raw in filter(None, [content]):
        secret.write_bytes(raw)
    monkeypatch.setenv("REDIS_URL_FILE", str(secret))
    with pytest.raises(MemoryInvalid, match=f"REDIS_URL_FILE: the file {problem}"):
        Settings()
