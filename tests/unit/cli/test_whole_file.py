"""A file that a command writes is there when it is whole, and replaces none that was made meanwhile."""

from __future__ import annotations

import os
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from durable_memory.cli.whole_file import whole_file
from durable_memory.memory.errors import MemoryInvalid


def no_links(*_: object) -> None:
    raise OSError(95, "Operation not supported")


@pytest.fixture(params=["links", "no links"])
def file(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A name in a folder of a file system with links, and of one without."""
    monkeypatch.setattr(os, "link", {"links": os.link, "no links": no_links}[request.param])
    return tmp_path / "out.jsonl"


def test_a_file_has_its_name_when_it_is_whole_and_only_its_owner_reads_it(file: Path) -> None:
    with whole_file(file) as stream:
        stream.write(b"whole")
        assert not file.exists()
    assert file.read_bytes() == b"whole"
    assert file.stat().st_mode & 0o777 == 0o600
    assert list(file.parent.iterdir()) == [file]


def test_one_that_another_made_meanwhile_stays_and_nothing_that_was_written_is_lost(file: Path) -> None:
    with ExitStack() as around:
        around.enter_context(whole_file(file)).write(b"whole")
        file.write_text("of another")
        with pytest.raises(MemoryInvalid) as refused:
            around.close()
    part = file.with_name("out.jsonl.part")
    assert str(refused.value) == f"{file}: was made by another meanwhile; what was exported stays in {part}"
    assert file.read_text() == "of another"
    assert part.read_bytes() == b"whole"


def test_nothing_is_left_of_one_that_failed(file: Path) -> None:
    with suppress(ZeroDivisionError), whole_file(file) as stream:
        stream.write(b"half")
        raise ZeroDivisionError
    assert list(file.parent.iterdir()) == []
