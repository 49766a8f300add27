"""YAML text to a tree that knows its lines: strict, bounded, and safe for text of any origin.

The tree is built from the parser's events in one pass. Nothing is constructed, aliases are counted before they are
expanded, and a document that is too large, too deep or too often repeated stops at that point.
"""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import yaml

from durable_memory.memory.declaration_faults import Fault
from durable_memory.memory.declarations.yaml_syntax import MAX_DEPTH, TOO_DEEP, syntax_fault

MAX_BYTES: Final = 1_000_000
MAX_ALIASES: Final = 100
MAX_NODES: Final = 2_000
"""Values in a document, counted as if every alias was written out."""
MAX_KEY_LENGTH: Final = 100

# The C parser is twenty times faster; both give the same events.
_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(slots=True)
class Scalar:
    """A value. plain: written without quotes, so it may be a number, a boolean or null."""

    line: int
    text: str
    plain: bool

    @property
    def size(self) -> int:
        """One value."""
        return 1


@dataclass(slots=True)
class Items:
    """A list."""

    line: int
    values: list[Node] = field(default_factory=list)
    size: int = 1
    depth: int = 1


@dataclass(slots=True)
class Entry:
    """A key of a mapping, with its own line, and its value."""

    line: int
    value: Node


@dataclass(slots=True)
class Fields:
    """A mapping."""

    line: int
    entries: dict[str, Entry] = field(default_factory=dict)
    size: int = 1
    depth: int = 1


Node: TypeAlias = Scalar | Items | Fields


class _Refused(Exception):
    """Reading cannot go on."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(problem)
        self.line = line
        self.problem = problem


@dataclass(slots=True)
class _Open:
    """A container under construction. key: the key whose value comes next."""

    node: Items | Fields
    anchor: str | None
    key: tuple[str, int] | None = None


def read_documents(raw: bytes, file: str) -> tuple[list[Node], list[Fault]]:
    """Returns the documents of a file, empty ones left out, and what is wrong with its YAML.

    Documents before a fault that stops the parser are returned.
    """
    documents: list[Node] = []
    faults: list[Fault] = []
    text = ""
    try:
        text = _decoded(raw)
        for document in _Builder(file, faults).documents(text):
            documents.append(document)  # noqa: PERF402 - what was built before a fault stops the reading is kept
    except _Refused as refused:
        faults.append(Fault(file, refused.line, "", refused.problem))
    except yaml.MarkedYAMLError as error:
        line, problem = syntax_fault(error, text)
        faults.append(Fault(file, line, "", problem))
    except yaml.reader.ReaderError as error:
        faults.append(Fault(file, _line_of(error.character, text), "", "has a character that YAML does not allow"))
    if not documents and not faults:
        faults.append(Fault(file, 1, "", "holds no document"))
    return documents, faults


def _line_of(character: object, text: str) -> int:
    # The C and the Python reader count positions differently; the character itself is the same.
    wanted = chr(character) if isinstance(character, int) else str(character)
    return text[: max(0, text.find(wanted))].count("\n") + 1


def _decoded(raw: bytes) -> str:
    if len(raw) > MAX_BYTES:
        raise _Refused(1, f"is larger than {MAX_BYTES:,} bytes")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        other = "; it looks like UTF-16, save it as UTF-8" if raw.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else ""
        raise _Refused(raw[: error.start].count(b"\n") + 1, f"is not UTF-8 text{other}") from None
    inside = text.find("\n\ufeff")
    if inside >= 0:
        line = text.count("\n", 0, inside) + 2
        raise _Refused(line, "begins with a byte order mark, which files have only at their start: remove it")
    return text


class _Builder:
    """Turns events into nodes, with a stack of its own instead of recursion."""

    def __init__(self, file: str, faults: list[Fault]) -> None:
        self._file = file
        self._faults = faults
        self._stack: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._aliases = 0
        self._root: Node | None = None

    def documents(self, text: str) -> Iterator[Node]:
        for event in yaml.parse(text, Loader=_Loader):
            self._take(event)
            if isinstance(event, yaml.DocumentEndEvent) and self._root is not None:
                empty = isinstance(self._root, Scalar) and self._root.plain and not self._root.text
                if not empty:
                    yield self._root

    def _take(self, event: yaml.Event) -> None:
        line = event.start_mark.line + 1 if event.start_mark else 1
        match event:
            case yaml.DocumentStartEvent():
                self._anchors, self._aliases, self._root = {}, 0, None
            case yaml.AliasEvent():
                self._place(self._aliased(event.anchor, line), line)
            case yaml.ScalarEvent():
                self._no_tag(event.tag, line)
                # A block scalar or quoted text is text; only plain scalars can be anything else.
                node = Scalar(line, event.value, plain=bool(event.implicit[0]))
                self._anchor(event.anchor, node)
                self._place(node, line)
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                self._no_tag(event.tag, line)
                self._open(event, line)
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                closed = self._stack.pop()
                self._anchor(closed.anchor, closed.node)
                self._place(closed.node, closed.node.line)
            case _:
                pass

    def _open(self, event: yaml.MappingStartEvent | yaml.SequenceStartEvent, line: int) -> None:
        if len(self._stack) >= MAX_DEPTH:
            raise _Refused(line, TOO_DEEP)
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        node: Items | Fields = Fields(line) if isinstance(event, yaml.MappingStartEvent) else Items(line)
        self._stack.append(_Open(node, event.anchor))

    def _anchor(self, anchor: str | None, node: Node) -> None:
        if anchor is not None:
            self._anchors[anchor] = node

    def _aliased(self, anchor: str | None, line: int) -> Node:
        self._aliases += 1
        if self._aliases > MAX_ALIASES:
            raise _Refused(line, f"has more than {MAX_ALIASES} aliases")
        if anchor is None or anchor not in self._anchors:
            raise _Refused(line, "uses an alias whose anchor does not stand before it in the same document")
        node = self._anchors[anchor]
        if node is None:
            raise _Refused(line, "has an alias inside what it stands for")
        return node

    def _no_tag(self, tag: str | None, line: int) -> None:
        if tag is not None:
            raise _Refused(line, "has a tag (!); write the plain value")

    def _place(self, node: Node, line: int) -> None:
        if not self._stack:
            self._root = node
            return
        parent = self._stack[-1]
        if isinstance(parent.node, Items):
            parent.node.values.append(node)
        elif parent.key is None:
            self._key(parent, node, line)
            return
        else:
            self._value(parent, parent.node, node)
        self._grow(parent.node, node, line)

    def _grow(self, parent: Items | Fields, node: Node, line: int) -> None:
        parent.size += node.size
        depth = 1 + (0 if isinstance(node, Scalar) else node.depth)
        parent.depth = max(parent.depth, depth)
        if parent.size > MAX_NODES:
            raise _Refused(line, f"has more than {MAX_NODES:,} values once its aliases are written out")
        if len(self._stack) + parent.depth > MAX_DEPTH + 1:
            raise _Refused(line, TOO_DEEP)

    def _key(self, parent: _Open, node: Node, line: int) -> None:
        if not isinstance(node, Scalar):
            raise _Refused(line, "has a key that is no text; a template, {{ … }}, has to be in quotes")
        if node.plain and node.text == "<<":
            raise _Refused(line, "has a merge key (<<); write the fields out")
        if not node.text:
            raise _Refused(line, "has an empty key")
        if node.text != node.text.strip():
            raise _Refused(line, "has a key with a space around it that YAML takes for text: use plain spaces")
        if len(node.text) > MAX_KEY_LENGTH:
            raise _Refused(line, f"has a key of more than {MAX_KEY_LENGTH} characters")
        parent.key = (node.text, line)

    def _value(self, parent: _Open, fields: Fields, node: Node) -> None:
        if parent.key is None:
            return
        name, line = parent.key
        parent.key = None
        first = fields.entries.get(name)
        if first is None:
            fields.entries[name] = Entry(line, node)
        else:
            both = f"on line {line}" if first.line == line else f"on line {first.line} and on line {line}"
            problem = f"stands twice, {both}"
            self._faults.append(Fault(self._file, line, self._path(name), problem))

    def _path(self, name: str) -> str:
        above = [
            str(len(opened.node.values)) if isinstance(opened.node, Items) else opened.key[0] if opened.key else ""
            for opened in self._stack[:-1]
        ]
        return ".".join([*above, name])
