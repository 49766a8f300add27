"""deploy/Dockerfile: what it builds from, whom it runs as, and that it says what the worker knows."""

from __future__ import annotations

import re
import subprocess
import tomllib

from packaging.specifiers import SpecifierSet

from durable_memory.memory.settings import Settings, variable_of
from tests.deploy.dockerfile import CHECKOUT, FILE, context, stages
from tests.deploy.tools import program

BUILD, RUN = stages()
PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]


def test_the_linter_finds_nothing() -> None:
    done = subprocess.run([program("hadolint"), str(FILE)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


def test_both_stages_have_the_same_python_down_to_its_last_number() -> None:
    image = BUILD.base.removesuffix(" AS build")
    assert image == RUN.base
    version = re.fullmatch(r"python:(3\.\d+\.\d+)-slim-\w+", image)
    assert version is not None
    assert SpecifierSet(PROJECT["requires-python"]).contains(version[1])


def test_it_runs_as_a_user_by_number_who_is_not_root() -> None:
    user, group = RUN.only("USER").split(":")
    assert f"useradd --uid {user} --gid {group} " in RUN.only("RUN")
    assert int(user) >= 10_000


def test_every_variable_is_a_setting_or_pythons() -> None:
    settings = {variable_of(field) for field in Settings.model_fields}
    assert set(RUN.variables()) - settings == {"PATH", "PYTHONDONTWRITEBYTECODE"}


def test_the_port_that_it_names_is_the_one_that_it_sets() -> None:
    assert RUN.only("EXPOSE") == RUN.variables()["DURABLE_MEMORY_HTTP_PORT"]


def test_every_extra_that_it_installs_is_one() -> None:
    name, _, extras = BUILD.only("ARG").partition("=")
    assert name == "EXTRAS"
    # Without the servers of development, and the suites of stores.
    assert set(extras.split(",")) == set(PROJECT["optional-dependencies"]) - {"dev", "testing"}


def test_nothing_gets_into_the_build_but_what_the_wheel_is_made_of(
    tracked: tuple[str, ...], shipped: dict[str, str]
) -> None:
    links = {f"durable_memory/{name}" for name in ("activities", "memory", "workflows")}
    beside = {".env", ".git/config", "deploy/.env", ".durable-memory/env", "dist/a.whl", "memory/__pycache__/a.pyc"}
    assert context({*tracked, *beside}) == {"LICENSE", "README.md", "pyproject.toml", *links, *shipped}
