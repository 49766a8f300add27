"""Reads declarations from folders: every document of every YAML file, and all faults at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from durable_memory.memory.declaration_faults import Fault, Finding, Location
from durable_memory.memory.declarations.agent import AgentResource
from durable_memory.memory.declarations.declaration import is_id
from durable_memory.memory.declarations.references import repeated_labels, repeated_memories, unknown_memories
from durable_memory.memory.declarations.resource import MemoryResource
from durable_memory.memory.declarations.scalars import read_values
from durable_memory.memory.declarations.validation import NO_FIELD, DeclarationInvalid, Resource, declare
from durable_memory.memory.declarations.yaml_source import MAX_BYTES, Fields, Items, Node, read_documents
from durable_memory.memory.errors import InvalidDeclarations, MemoryInvalid

SUFFIXES: Final = (".yaml", ".yml")

Check: TypeAlias = Callable[[Mapping[str, Any]], Iterable[Finding]]
"""Finds what this process cannot do in a document as written, which may have other faults."""


@dataclass(frozen=True, slots=True)
class Source:
    """A document: what it declares, and where it and its fields stand.

    file: as it was named, or the place in the list for declarations made in code. data: as written, also when the rest
    of the document is faulty, so that one fault makes no others. node: the tree that knows the lines; None in code.
    """

    file: str
    data: Mapping[str, Any]
    declaration: Resource | None
    node: Node | None = None

    @property
    def kind(self) -> object:
        """What the document says that it declares."""
        return self.data.get("resource")

    @property
    def id(self) -> object:
        """The id as written."""
        return self.data.get("id")

    def fault(self, location: Location, problem: str) -> Fault:
        """Returns the fault of a field."""
        line = 0 if self.node is None else _line(self.node, location)
        return Fault(self.file, line, ".".join(location), problem)


def load_folders(
    folders: Iterable[Path | str], environment: Mapping[str, str] | None = None, check: Check | None = None
) -> tuple[Source, ...]:
    """Returns what the `*.yaml` and `*.yml` files of these folders declare, in the order of their names.

    folders: without their subfolders; or single files. environment: what `${NAME}` is filled in from; the process's
    environment by default. check: looks at each document as well. Raises InvalidDeclarations with every fault of every
    file.
    """
    folders = folders_of(folders)
    environment = os.environ if environment is None else environment
    faults: list[Fault] = []
    sources: list[Source] = []
    for file in declaration_files(folders, faults):
        documents = _documents(file, faults)
        sources += [_source(document, str(file), environment, faults) for document in documents]
    if check is not None:
        faults += [source.fault(*found) for source in sources for found in check(source.data)]
    return _checked(sources, faults)


def folders_of(given: Iterable[Path | str]) -> tuple[Path | str, ...]:
    """Returns a list of folders as it stays. Raises MemoryInvalid for what is none."""
    _refuse_one(given, "the folders of declarations: must be a list of paths, as in ['./memories']")
    return tuple(given)


def check_declared(resources: Iterable[object]) -> tuple[Source, ...]:
    """Returns declarations made in code, models or mappings, after the same checks as those of files.

    Raises InvalidDeclarations with every fault of every declaration.
    """
    _refuse_one(resources, "the declarations: must be a list of mappings and models")
    faults: list[Fault] = []
    sources: list[Source] = []
    for index, given in enumerate(resources):
        name = f"resource {index + 1}"
        declaration: Resource | None = None
        if isinstance(given, Mapping):
            data: Mapping[str, Any] = given
            try:
                declaration = declare(given)
            except DeclarationInvalid as invalid:
                faults += [Fault(name, 0, ".".join(location), problem) for location, problem in invalid.problems]
        elif isinstance(given, (MemoryResource, AgentResource)):
            declaration, data = given, given.model_dump()
        else:
            problem = f"must be a mapping, a MemoryResource or an AgentResource, not {type(given).__name__}"
            faults.append(Fault(name, 0, "", problem))
            continue
        sources.append(Source(name, data, declaration))
    return _checked(sources, faults)


def _refuse_one(given: object, wanted: str) -> None:
    """Raises MemoryInvalid for one thing where many belong: a text would be taken for a list of its letters."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise MemoryInvalid(f"{wanted}, not {type(given).__name__}")


def _checked(sources: Sequence[Source], faults: list[Fault]) -> tuple[Source, ...]:
    """Returns `sources`, each of which has its declaration, after the checks between documents."""
    faults += _duplicates(sources)
    faults += _wrong_references(sources)
    if faults:
        raise InvalidDeclarations(sorted(set(faults)))
    return tuple(sources)


def declaration_files(folders: Iterable[object], faults: list[Fault]) -> list[Path]:
    """Returns the files, each once, also where folders are given twice; adds to `faults` what cannot be read."""
    files: dict[str, Path] = {}
    for index, given in enumerate(folders):
        if not isinstance(given, (str, os.PathLike)):
            faults.append(Fault(f"folder {index + 1}", 0, "", f"must be a path, not {type(given).__name__}"))
            continue
        folder = Path(given)
        try:
            if folder.is_file():
                found = [folder]
            else:
                found = sorted(
                    path
                    for path in folder.iterdir()
                    if path.suffix.lower() in SUFFIXES and not path.name.startswith(".") and _is_meant(path)
                )
        except FileNotFoundError:
            problem = (
                "there is no such folder; --memories, memories= of Python, or DURABLE_MEMORY_MEMORIES names another one"
            )
            faults.append(Fault(str(folder.absolute()), 0, "", problem))
            continue
        except OSError as error:
            faults.append(Fault(str(folder), 0, "", f"cannot be read: {error.strerror}"))
            continue
        if not found:
            faults.append(Fault(str(folder), 0, "", "holds no *.yaml or *.yml file"))
        for path in found:
            files.setdefault(os.path.realpath(path), path)
    return list(files.values())


def _is_meant(path: Path) -> bool:
    """Tells whether it is a file, or a link that leads nowhere: without it, what it declares would be gone silently."""
    return path.is_file() or (path.is_symlink() and not path.exists())


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
        problem = (
            "is a list; write its items as documents of their own, with a line --- between them"
            if isinstance(document, Items)
            else "must be a mapping of fields, beginning with resource:"
        )
        faults.append(Fault(file, document.line, "", problem))
        return Source(file, {}, None, document)
    reading = read_values(document, environment)
    data = reading.data
    problems = list(reading.problems)
    unreadable = {location for location, _ in problems}
    declaration: Resource | None = None
    try:
        declaration = declare(data)
    except DeclarationInvalid as invalid:
        # A value that could not be read is None here, and would be reported once more.
        problems += [
            (location, problem if problem.startswith(NO_FIELD) else problem + reading.origins.get(location, ""))
            for location, problem in invalid.problems
            if location not in unreadable
        ]
    source = Source(file, data, declaration, document)
    faults += [source.fault(*problem) for problem in problems]
    return source


def _line(document: Node, location: Location) -> int:
    """The line of the key or list item at `location`, or of the nearest one above it that is written."""
    node, line = document, document.line
    for name in location:
        if isinstance(node, Items) and name.isdecimal() and int(name) < len(node.values):
            node = node.values[int(name)]
            line = node.line
        elif isinstance(node, Fields) and name in node.entries:
            entry = node.entries[name]
            node, line = entry.value, entry.line
        else:
            break
    return line


def _duplicates(sources: Sequence[Source]) -> list[Fault]:
    faults: list[Fault] = []
    first: dict[tuple[object, object], Source] = {}
    for source in sources:
        if not isinstance(source.id, str) or not isinstance(source.kind, str):
            continue
        earlier = first.setdefault((source.kind, source.id), source)
        if earlier is not source:
            problem = f"this {source.kind} is declared twice, first at {earlier.fault(('id',), '').place}"
            faults.append(source.fault(("id",), problem))
    return faults


def _wrong_references(sources: Sequence[Source]) -> list[Fault]:
    known = sorted(source.id for source in sources if source.kind == "memory" and is_id(source.id))
    declared = {one.declaration.id: one.declaration for one in sources if isinstance(one.declaration, MemoryResource)}
    faults: list[Fault] = []
    for source in sources:
        found = list(unknown_memories(source.data, known)) if source.kind == "agent" else []
        if isinstance(source.declaration, AgentResource):
            # What stands under one key is one memory too many, whose label is of no interest then.
            found += [*repeated_memories(source.declaration, declared)] or repeated_labels(source.declaration)
        faults += [source.fault(location, problem) for location, problem in found]
    return faults
