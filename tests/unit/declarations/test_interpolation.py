"""`${ENV}` is filled in after parsing, one value at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from durable_memory.memory.declarations.loader import load_folders
from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.errors import InvalidDeclarations


def load(folder: Path, text: str, environment: Mapping[str, str]) -> MemoryResource:
    (folder / "a.yaml").write_text(f"resource: memory\nid: desk\n{text}", "utf-8")
    (source,) = load_folders([folder], environment)
    assert isinstance(source.declaration, MemoryResource)
    return source.declaration


def problem(folder: Path, text: str, environment: Mapping[str, str]) -> str:
    with pytest.raises(InvalidDeclarations) as caught:
        load(folder, text, environment)
    (fault,) = caught.value.faults
    assert fault.line == 3
    return fault.problem


def test_a_variable_gives_text_and_numbers(tmp_path: Path) -> None:
    text = "max_tokens: ${TOKENS}\ndescription: desk of ${TEAM} in ${CITY:-Rome}\nscope: ${SCOPE:-user}\n"
    resource = load(tmp_path, text, {"TOKENS": "700", "TEAM": "blue", "CITY": "Oslo"})
    assert (resource.max_tokens, resource.description, resource.scope) == (700, "desk of blue in Oslo", "user")


def test_a_default_stands_in_for_what_is_unset_or_empty(tmp_path: Path) -> None:
    for environment in ({}, {"TOKENS": ""}):
        assert load(tmp_path, "max_tokens: ${TOKENS:-600}\n", environment).max_tokens == 600
    assert load(tmp_path, "max_tokens: 600\ndescription: ${TEAM:-}\n", {}).description == ""


def test_unset_without_a_default_is_an_error_that_names_the_variable(tmp_path: Path) -> None:
    text = problem(tmp_path, "max_tokens: ${TOKENS}\n", {"tokens": "700"})
    assert "needs the environment variable TOKENS, which is not set" in text


def test_an_empty_variable_is_empty_text_and_never_null(tmp_path: Path) -> None:
    assert "is not a duration" in problem(tmp_path, "persistence: {ttl: '${TTL}'}\nmax_tokens: 900\n", {"TTL": ""})
    assert "is not a duration" in problem(tmp_path, 'persistence: {ttl: "${TTL}"}\nmax_tokens: 900\n', {"TTL": ""})
    assert "must be a whole number" in problem(tmp_path, "max_tokens: ${TOKENS}\n", {"TOKENS": ""})


@pytest.mark.parametrize("value", ["5\nscope: user", "5, scope: user", "&a 5", "*a", "!!int 5", "{a: 1}", "5 # five"])
def test_what_a_variable_holds_can_never_add_fields(tmp_path: Path, value: str) -> None:
    found = problem(tmp_path, "max_tokens: ${TOKENS}\n", {"TOKENS": value})
    assert found.startswith("must be a whole number")
    assert found.endswith("; it comes from the environment: TOKENS")


def test_what_a_variable_holds_is_not_filled_in_again(tmp_path: Path) -> None:
    resource = load(tmp_path, "max_tokens: 900\ndescription: ${A}\n", {"A": "${B}", "B": "no"})
    assert resource.description == "${B}"


def test_a_quoted_value_stays_text(tmp_path: Path) -> None:
    found = problem(tmp_path, "max_tokens: '${TOKENS}'\n", {"TOKENS": "700"})
    assert found == "must be a whole number; leave the quotes out; it comes from the environment: TOKENS"


def test_a_doubled_dollar_is_the_text_itself(tmp_path: Path) -> None:
    resource = load(tmp_path, "max_tokens: 900\ndescription: costs $5, $${TEAM}, $HOME\n", {"TEAM": "blue"})
    assert resource.description == "costs $5, ${TEAM}, $HOME"


@pytest.mark.parametrize(
    "text", ["${", "${}", "${1A}", "${A-b}", "${A:b}", "${A", "${A B}", "${A:-${B}}", "${A:-$${B}"]
)
def test_a_malformed_reference_is_an_error_and_not_text(tmp_path: Path, text: str) -> None:
    assert "write $${ for the text itself" in problem(tmp_path, f"description: '{text}'\nmax_tokens: 900\n", {"A": "x"})


def test_keys_are_not_filled_in(tmp_path: Path) -> None:
    assert "is not a field here" in problem(tmp_path, "${A}: 9\nmax_tokens: 900\n", {"A": "max_messages"})


def test_the_process_environment_is_the_default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESK_TOKENS", "321")
    (tmp_path / "a.yaml").write_text("resource: memory\nid: desk\nmax_tokens: ${DESK_TOKENS}\n", "utf-8")
    assert Registry.load([tmp_path]).memory("desk").max_tokens == 321
