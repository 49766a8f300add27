"""Reads declarations from folders: every document of every YAML file, and all faults at once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from durable_memory.memory.declarations.declaration import is_id
from durable_memory.memory.declarations.faults import Fault, Location
from durable_memory.memory.declarations.scalars import read_values
from durable_memory.memory.declarations.validation import DeclarationInvalid, Resource, declare
from durable_memory.memory.declarations.yaml_source import MAX_BYTES, Fields, Node, read_documents
from durable_memory.memory.errors import InvalidDeclarations
from durable_memory.memory.types import did_you_mean

SUFFIXES: Final = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document, or a field of it, stands. line is 0 for declarations made in code."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True, slots=True)
class Source:
    """A document: what it declares, and where it and its fields stand.

    kind, id, memory: as written, also when the rest of the document is faulty, so that one fault makes no others.
    """

    place: Place
    kind: object
    id: object
    memory: object
    declaration: Resource | None
    id_place: Place
    memory_place: Place


def load_folders(folders: Iterable[Path | str], environment: Mapping[str, str] | None = None) -> tuple[Resource, ...]:
    """Returns what the `*.yaml` and `*.yml` files of these folders declare, in the order of their names.

    Args:
        folders: folders, without their subfolders; or single files.
        environment: what `${NAME}` is filled in from; the process's environment by default.

    Raises:
        InvalidDeclarations: with every fault of every file.
    """
    environment = os.environ if environment is None else environment
    faults: list[Fault] = []
    sources: list[Source] = []
    for file in _files(folders, faults):
        documents = _documents(file, faults)
        sources += [_source(document, str(file), environment, faults) for document in documents]
    return _checked(sources, faults)


def check_declared(resources: Iterable[Resource | Mapping[str, Any]]) -> tuple[Resource, ...]:
    """Returns declarations made in code, models or mappings, after the same checks as those of files.

    Raises:
        InvalidDeclarations: with every fault of every declaration.
    """
    faults: list[Fault] = []
    sources: list[Source] = []
    for index, given in enumerate(resources):
        place = Place(f"resource {index + 1}", 0)
        declaration: Resource | None = None
        if isinstance(given, Mapping):
            try:
                declaration = declare(given)
            except DeclarationInvalid as invalid:
                faults += [Fault(place.file, 0, ".".join(location), problem) for location, problem in invalid.problems]
        else:
            declaration = given
        data = given if isinstance(given, Mapping) else given.model_dump()
        sources.append(
            Source(place, data.get("resource"), data.get("id"), data.get("memory"), declaration, place, place)
        )
    return _checked(sources, faults)


def _checked(sources: Sequence[Source], faults: list[Fault]) -> tuple[Resource, ...]:
    """Returns the declarations of `sources`, after the checks between documents."""
    faults += _duplicates(sources)
    faults += _dangling(sources)
    if faults:
        raise InvalidDeclarations(sorted(set(faults)))
    return tuple(source.declaration for source in sources if source.declaration is not None)


def _files(folders: Iterable[Path | str], faults: list[Fault]) -> list[Path]:
    """The files, each once, also where folders are given twice."""
    files: dict[Path, Path] = {}
    for folder in map(Path, folders):
        try:
            if folder.is_file():
                found = [folder]
            else:
                found = sorted(
                    path
                    for path in folder.iterdir()
                    if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and path.is_file()
                )
        except FileNotFoundError:
            faults.append(Fault(str(folder), 0, "", "there is no such folder"))
            continue
        except OSError as error:
            faults.append(Fault(str(folder), 0, "", f"cannot be read: {error.strerror}"))
            continue
        if not found:
            faults.append(Fault(str(folder), 0, "", "holds no *.yaml or *.yml file"))
        for path in found:
            files.setdefault(path.resolve(), path)
    return list(files.values())


def _documents(file: Path, faults: list[Fault]) -> list[Node]:
    try:
        with file.open("rb") as stream:
            raw = stream.read(MAX_BYTES + 1)
    except OSError as error:
        faults.append(Fault(str(file), 0, "", f"cannot be read: {error.strerror}"))
        return []
    documents, found = read_documents(raw, str(file))
    faults += found
    return documents


def _source(document: Node, file: str, environment: Mapping[str, str], faults: list[Fault]) -> Source:
    if not isinstance(document, Fields):
        faults.append(Fault(file, document.line, "", "must be a mapping of fields, beginning with resource:"))
        place = Place(file, document.line)
        return Source(place, None, None, None, None, place, place)
    reading = read_values(document, environment)
    data = reading.data
    problems = list(reading.problems)
    unreadable = {location for location, _ in problems}
    declaration: Resource | None = None
    try:
        declaration = declare(data)
    except DeclarationInvalid as invalid:
        # A value that could not be read is None here, and would be reported once more.
        problems += [(location, problem) for location, problem in invalid.problems if location not in unreadable]
    for location, problem in problems:
        faults.append(Fault(file, _line(document, location), ".".join(location), problem))
    return Source(
        place=Place(file, document.line),
        kind=data.get("resource"),
        id=data.get("id"),
        memory=data.get("memory"),
        declaration=declaration,
        id_place=Place(file, _line(document, ("id",))),
        memory_place=Place(file, _line(document, ("memory",))),
    )


def _line(document: Node, location: Location) -> int:
    """The line of the key at `location`, or of the nearest one above it that is written."""
    node, line = document, document.line
    for name in location:
        if not isinstance(node, Fields) or name not in node.entries:
            break
        entry = node.entries[name]
        node, line = entry.value, entry.line
    return line


def _duplicates(sources: Sequence[Source]) -> list[Fault]:
    faults: list[Fault] = []
    first: dict[tuple[object, object], Source] = {}
    for source in sources:
        if not isinstance(source.id, str) or not isinstance(source.kind, str):
            continue
        earlier = first.setdefault((source.kind, source.id), source)
        if earlier is not source:
            problem = f"this {source.kind} is declared twice, first at {earlier.id_place}"
            faults.append(Fault(source.id_place.file, source.id_place.line, "id", problem))
    return faults


def _dangling(sources: Sequence[Source]) -> list[Fault]:
    known = sorted(source.id for source in sources if source.kind == "memory" and isinstance(source.id, str))
    faults: list[Fault] = []
    for source in sources:
        # What is no id has its own fault, and may not be repeated: it may have been filled in from a secret.
        if source.kind == "agent" and is_id(source.memory) and source.memory not in known:
            problem = f"there is no memory resource {source.memory!r}{did_you_mean(source.memory, known)}"
            faults.append(Fault(source.memory_place.file, source.memory_place.line, "memory", problem))
    return faults
