"""Declarations that are read again: when files have changed and stand still, and never without all being valid."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from durable_memory.memory.declarations.registry import Registry
from durable_memory.memory.declarations.watching import Changes, Watch
from durable_memory.memory.errors import InvalidDeclarations, MemoryInvalid
from tests.unit.declarations.yaml_files import DESK

Look = Callable[[], bool]

NOTES = "resource: memory\nid: notes\nmax_tokens: 1000\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "declared.yaml"
    file.write_text(DESK)
    return file


@pytest.fixture
def watch(file: Path) -> Watch:
    return Watch([file.parent])


@pytest.fixture
def is_due(watch: Watch) -> Look:
    return watch.looking()


def declare(file: Path, text: str) -> None:
    file.write_text(text)


def remove(path: Path) -> None:
    path.unlink()


def accept(_: Registry) -> None:
    """Takes whatever is valid."""


def test_nothing_is_due_while_nothing_changes(is_due: Look) -> None:
    assert [is_due() for _ in range(3)] == [False] * 3


def test_a_change_is_due_once_the_files_have_stood_still(is_due: Look, file: Path) -> None:
    file.write_text(DESK + "scope: user\n")
    assert not is_due(), "it may still be written"
    file.write_text(DESK + "scope: user\nversion: 1.0.0\n")
    assert not is_due(), "it is being written"
    assert is_due()


def test_the_looks_of_two_who_watch_count_apart(watch: Watch, file: Path) -> None:
    first, second = watch.looking(), watch.looking()
    file.write_text(DESK + "scope: user\n")
    assert [first(), second()] == [False, False], "it may still be written"
    assert [first(), second()] == [True, True]


@pytest.mark.parametrize("change", ["new file", "file removed", "renamed over", "same size"])
async def test_every_kind_of_change_is_seen_and_read_once(watch: Watch, is_due: Look, file: Path, change: str) -> None:
    other = file.with_name("other.yaml")
    match change:
        case "new file":
            declare(other, NOTES)
        case "file removed":
            remove(file)
            declare(other, NOTES)
        case "renamed over":
            declare(other.with_suffix(".new"), DESK.replace("1000", "2000"))
            shutil.move(other.with_suffix(".new"), file)
        case _:
            declare(file, DESK.replace("1000", "3000"))
    assert [is_due(), is_due()] == [False, True]
    await watch.reload(accept)
    assert [is_due(), is_due()] == [False, False]


def test_a_version_that_was_given_the_size_and_time_of_the_old_one_is_seen(is_due: Look, file: Path) -> None:
    before = file.stat()
    file.write_text(DESK.replace("1000", "2000"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert [is_due(), is_due()] == [False, True]


async def test_what_has_changed_is_named(watch: Watch, file: Path) -> None:
    declare(file, DESK.replace("1000", "2000"))
    declare(file.with_name("notes.yaml"), NOTES)
    assert await watch.reload(accept) == Changes(added=("notes",), changed=("desk",), removed=())
    declare(file, f"{DESK}---\nresource: agent\nid: clerk\nmemory: desk\n")
    remove(file.with_name("notes.yaml"))
    assert await watch.reload(accept) == Changes(added=("agent clerk",), changed=("desk",), removed=("notes",))


async def test_a_fault_keeps_the_last_good_declarations_and_is_read_once(
    watch: Watch, is_due: Look, file: Path
) -> None:
    good = watch.registry
    declare(file, DESK + "max_tokenz: 5\n")
    assert [is_due(), is_due()] == [False, True]
    with pytest.raises(InvalidDeclarations, match=r"declared.yaml:4: max_tokenz: is not a field"):
        await watch.reload(accept)
    assert watch.registry is good
    assert [is_due(), is_due()] == [False, False]
    declare(file, DESK + "version: 2.0.0\n")
    assert [is_due(), is_due()] == [False, True]
    assert (await watch.reload(accept)).changed == ("desk",)


async def test_a_folder_that_is_gone_is_a_fault(watch: Watch, is_due: Look, file: Path) -> None:
    shutil.rmtree(file.parent)
    assert [is_due(), is_due()] == [False, True]
    with pytest.raises(InvalidDeclarations, match="there is no such folder"):
        await watch.reload(accept)


async def test_what_is_not_accepted_does_not_come_into_force(watch: Watch, file: Path) -> None:
    def refuse(_: Registry) -> None:
        raise MemoryInvalid("needs a store that was not opened")

    good = watch.registry
    declare(file, NOTES)
    with pytest.raises(MemoryInvalid, match="not opened"):
        await watch.reload(refuse)
    assert watch.registry is good
