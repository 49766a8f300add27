"""Settings of a process: given in code or on the command line, else by the environment, else the default.

`REDIS_URL` and `DURABLE_MEMORY_*`. A secret may stand in a file that `<NAME>_FILE` names, as container platforms
mount it.
"""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Final, Literal, TypeAlias, TypedDict

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, ValidationInfo
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict

from durable_memory.memory.declarations.declaration import checked_id
from durable_memory.memory.declarations.durations import Duration, Within
from durable_memory.memory.declarations.validation import problem_text
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.flushing.named import NAME, NamedSummarizer
from durable_memory.memory.identity import DEFAULT_PREFIX, DEFAULT_PROJECT
from durable_memory.memory.privacy.keyring import Keyring
from durable_memory.memory.task_queues import MAX_PROJECT_QUEUE_BYTES, project_queue
from durable_memory.memory.tokens.counting import DEFAULT_ENCODING, counting_named
from durable_memory.memory.types import check_task_queue

LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]
LogFormat: TypeAlias = Literal["json", "console"]
Interval = Annotated[Duration, Within("1s", "1d")]
"""A setting that says how often something is done."""

_PREFIX: Final = "DURABLE_MEMORY_"
SECRETS: Final[Mapping[str, str]] = {
    "redis_url": "REDIS_URL",
    "encryption_keys": "DURABLE_MEMORY_ENCRYPTION_KEYS",
    "payload_keys": "DURABLE_MEMORY_PAYLOAD_KEYS",
    "telemetry_key": "DURABLE_MEMORY_TELEMETRY_KEY",
}
"""Fields whose value may stand in a file, with the names of their variables."""
_MAX_SECRET_BYTES: Final = 64_000
_NEAR: Final = 0.8
_KEY_PREFIX: Final = re.compile(r"[!-z|~]{0,64}", re.ASCII)


def _checked_prefix(value: str) -> str:
    if _KEY_PREFIX.fullmatch(value) is None:
        raise ValueError("must be at most 64 printable ASCII characters without spaces and braces")
    return value


def _off(value: object) -> object:
    return None if value == "off" else value


def _checked_encoding(value: str) -> str:
    try:
        counting_named(value)
    except MemoryInvalid as error:
        raise ValueError(error.message) from None
    return value


def _checked_summarizer(value: str) -> str:
    if NAME.fullmatch(value) is None:
        raise ValueError("must be package.module:factory, as in my_agents.summaries:make")
    return value


def _checked_keys(value: str | None) -> str | None:
    if value is not None:
        Keyring.parse(value)
    return value


def _queue_of_project(value: object, info: ValidationInfo) -> object:
    return project_queue(info.data.get("project", DEFAULT_PROJECT)) if value == "" else value


def _checked_queue(value: str) -> str:
    check_task_queue(value, "", longest=MAX_PROJECT_QUEUE_BYTES)
    return value


def _split_folders(value: object) -> object:
    if not isinstance(value, str):
        return value
    folders = tuple(folder for folder in value.split(os.pathsep) if folder)
    if not folders:
        raise ValueError("names no folder")
    return folders


def _lower(value: object) -> object:
    return value.lower() if isinstance(value, str) else value


class ClientSettings(TypedDict):
    """The settings that a client is connected with; see MemoryClient.connect."""

    redis_url: str | None
    project: str
    prefix: str
    encoding: str
    encryption_keys: str | None
    telemetry_key: str | None


class Settings(BaseSettings):
    """The settings of a worker, a client or the command line.

    Raises MemoryInvalid, one sentence for each setting that is wrong, by the name of its variable, never with its
    value.
    """

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_ignore_empty=True,
        extra="forbid",
        frozen=True,
        hide_input_in_errors=True,
        populate_by_name=True,
        use_attribute_docstrings=True,
    )

    redis_url: str | None = Field(default=None, validation_alias="REDIS_URL", repr=False)
    """Where Redis or Valkey is; may hold a password. `REDIS_URL`, or a file named by `REDIS_URL_FILE`."""

    encryption_keys: Annotated[str | None, AfterValidator(_checked_keys)] = Field(
        default=None, validation_alias="DURABLE_MEMORY_ENCRYPTION_KEYS", repr=False
    )
    """Encrypts what Redis keeps: `id:base64` of 32 bytes, several by commas; the first one writes, all of them read.
    `DURABLE_MEMORY_ENCRYPTION_KEYS`, or a file named by `DURABLE_MEMORY_ENCRYPTION_KEYS_FILE`.
    """

    payload_keys: Annotated[str | None, AfterValidator(_checked_keys)] = Field(
        default=None, validation_alias="DURABLE_MEMORY_PAYLOAD_KEYS", repr=False
    )
    """Encrypts what workflows and activities pass, so what Temporal keeps, in the same form.
    `DURABLE_MEMORY_PAYLOAD_KEYS`, or a file named by `DURABLE_MEMORY_PAYLOAD_KEYS_FILE`.
    """

    telemetry_key: str | None = Field(
        default=None, validation_alias="DURABLE_MEMORY_TELEMETRY_KEY", repr=False, min_length=1
    )
    """The secret behind the hashes of memories in spans and audit; without it each process has its own.
    `DURABLE_MEMORY_TELEMETRY_KEY`, or a file named by `DURABLE_MEMORY_TELEMETRY_KEY_FILE`.
    """

    project: Annotated[str, AfterValidator(checked_id)] = DEFAULT_PROJECT
    """Keeps memories of several programs in one Redis apart."""

    prefix: Annotated[str, AfterValidator(_checked_prefix)] = DEFAULT_PREFIX
    """Begins every key in Redis."""

    task_queue: Annotated[str, AfterValidator(_checked_queue), BeforeValidator(_queue_of_project)] = Field(
        default="", validate_default=True
    )
    """The Temporal task queue of the project's flushers and of callers by name: `durable-memory`, or
    `durable-memory-<project>` for a project with a name of its own.
    """

    janitor_interval: Interval = timedelta(minutes=5)
    """How often the project's janitor looks for what ended workflows left."""

    reload_interval: Annotated[Interval | None, BeforeValidator(_off)] = timedelta(seconds=10)
    """How often workers look whether the YAML files have changed; `off`: never, but for the SIGHUP of `worker.py`."""

    summarizer: Annotated[str, AfterValidator(_checked_summarizer)] | None = None
    """Names a summariser of one's own, `package.module:factory`, which writes for all resources."""

    summary_slots: Annotated[int, Field(ge=1, le=1000)] = 10
    """How many summaries that wait for a model a process writes at the same time."""

    memories: Annotated[tuple[Path, ...], NoDecode, BeforeValidator(_split_folders)] = (Path("memories"),)
    """Folders of YAML files; in the environment separated as in PATH."""

    encoding: Annotated[str, AfterValidator(_checked_encoding)] = DEFAULT_ENCODING
    """How tokens of memories without token_provider are counted: `o200k_base`, `cl100k_base`, or as of a model."""

    http_host: Annotated[str, Field(min_length=1, max_length=255)] = "127.0.0.1"
    """The address on which the worker serves /livez, /readyz and /metrics."""

    http_port: Annotated[int, Field(ge=0, le=65_535)] = 0
    """Its port; 0 takes a free one, which the log names."""

    log_level: Annotated[LogLevel, BeforeValidator(_lower)] = "info"
    """The least severe log entries to write."""

    log_format: Annotated[LogFormat, BeforeValidator(_lower)] = "json"
    """`json` for collectors, one object a line; `console` for people."""

    audit_log: Path | None = None
    """A file to which each record of the audit is appended, whatever the level of the log is."""

    def __init__(self, **given: Any) -> None:
        _refuse_near_misses(os.environ)
        try:
            super().__init__(**given)
        except ValidationError as error:
            wrong = ((str(item["loc"][0]), problem_text(item)) for item in error.errors())
            named = (f"{field if field in given else variable_of(field)}: {problem}" for field, problem in wrong)
            raise MemoryInvalid("; ".join(named)) from None

    def of_client(self) -> ClientSettings:
        """Returns those that a client is connected with."""
        return {
            "redis_url": self.redis_url,
            "project": self.project,
            "prefix": self.prefix,
            "encoding": self.encoding,
            "encryption_keys": self.encryption_keys,
            "telemetry_key": self.telemetry_key,
        }

    def own_summarizer(self) -> NamedSummarizer | None:
        """Returns the summariser that is named, which is imported when it is needed; None if none is."""
        return None if self.summarizer is None else NamedSummarizer(self.summarizer)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the signature is the library's
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the same
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Returns where settings come from, the first wins."""
        return init_settings, _SecretFiles(settings_cls), env_settings


class _SecretFiles(PydanticBaseSettingsSource):
    """Reads secrets from the files that `<NAME>_FILE` names."""

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """See PydanticBaseSettingsSource."""
        return self._secret(field_name), str(field.validation_alias), False

    def __call__(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, variable in SECRETS.items():
            if name in self.current_state or variable in self.current_state:
                continue
            secret = self._secret(name)
            if secret is not None:
                values[variable] = secret
        return values

    @staticmethod
    def _secret(name: str) -> str | None:
        variable = SECRETS[name]
        file = os.environ.get(f"{variable}_FILE")
        if not file:
            return None
        if os.environ.get(variable):
            raise MemoryInvalid(f"{variable} and {variable}_FILE are both set; set one of them")
        try:
            with Path(file).open("rb") as stream:
                raw = stream.read(_MAX_SECRET_BYTES + 1)
            secret = raw.decode("utf-8").strip()
        except OSError as error:
            raise MemoryInvalid(f"{variable}_FILE: the file cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise MemoryInvalid(f"{variable}_FILE: the file is not UTF-8 text") from None
        if not secret:
            raise MemoryInvalid(f"{variable}_FILE: the file is empty")
        if len(raw) > _MAX_SECRET_BYTES:
            raise MemoryInvalid(f"{variable}_FILE: the file is larger than {_MAX_SECRET_BYTES:,} bytes")
        return secret


def variable_of(field: str) -> str:
    """Returns the name of the variable that a field is set by."""
    return field if field in SECRETS.values() else SECRETS.get(field, f"{_PREFIX}{field.upper()}")


def _refuse_near_misses(environment: Mapping[str, str]) -> None:
    """Refuses misspelt variables.

    Others of our prefix are let be: Kubernetes makes some of its own for a service called durable-memory.
    """
    known = {variable_of(name).removeprefix(_PREFIX): variable_of(name) for name in Settings.model_fields}
    files = {f"{variable}_FILE" for variable in SECRETS.values()}
    for name in map(str.upper, environment):
        if not name.startswith(_PREFIX) or name in known.values() or name in files:
            continue
        for near in difflib.get_close_matches(name.removeprefix(_PREFIX), known, n=1, cutoff=_NEAR):
            raise MemoryInvalid(f"{name} is not a setting; did you mean {known[near]!r}?")
