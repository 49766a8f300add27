"""What the compiler of Lua says of a text: which names it takes from outside, and which it leaves to what follows.

Read from what string.dump gives of it, the compiled form of Lua 5.1: a header, then a function with those inside it.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

MOST_LOCALS: Final = 200
"""In one function, at one time: LUAI_MAXVARS."""

_HEADER: Final = b"\x1bLua\x51\x00\x01\x04\x08\x04\x08\x00"
"""Lua 5.1, little-endian, with the widths that _Reader reads."""

_GET_GLOBAL: Final = 5
_SET_GLOBAL: Final = 7
_END: Final = "end_of_text"


@dataclass(frozen=True, slots=True)
class _Local:
    name: str
    begins: int
    ends: int


@dataclass(frozen=True, slots=True)
class _Function:
    globals: frozenset[str]
    locals: tuple[_Local, ...]
    inside: tuple[_Function, ...]

    def free(self) -> Iterator[str]:
        yield from self.globals
        for one in self.inside:
            yield from one.free()


class _Reader:
    def __init__(self, dump: bytes) -> None:
        self._dump, self._at = dump, len(_HEADER)

    def _next(self, form: str) -> int:
        (value,) = struct.unpack_from("<" + form, self._dump, self._at)
        self._at += struct.calcsize("<" + form)
        return int(value)

    def _text(self) -> str:
        size = self._next("Q")
        self._at += size
        return self._dump[self._at - size : self._at - 1].decode() if size else ""

    def _constant(self) -> str:
        kind = self._next("B")
        if kind == 4:
            return self._text()
        self._at += {0: 0, 1: 1, 3: 8}[kind]
        return ""

    def function(self) -> _Function:
        """Reads the function that begins here."""
        self._text()
        self._at += 2 * 4 + 4  # its lines; numbers of upvalues and parameters, whether it takes more, size of the stack
        code = [self._next("I") for _ in range(self._next("I"))]
        constants = [self._constant() for _ in range(self._next("I"))]
        inside = tuple(self.function() for _ in range(self._next("I")))
        for _ in range(self._next("I")):
            self._next("I")  # the line of each instruction
        local = tuple(_Local(self._text(), self._next("I"), self._next("I")) for _ in range(self._next("I")))
        for _ in range(self._next("I")):
            self._text()  # names of upvalues
        of_globals = (one >> 14 for one in code if one & 0x3F in (_GET_GLOBAL, _SET_GLOBAL))
        return _Function(frozenset(constants[one] for one in of_globals), local, inside)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A text as the compiler sees it.

    free: names that it uses and that are no locals of its own. given: the locals that are there at its end.
    most_locals: how many there are at one time, outside its functions.
    """

    free: frozenset[str]
    given: frozenset[str]
    most_locals: int


async def compiled(redis: Redis, text: str) -> Chunk:
    """Compiles a text by the Lua of this server. It may not end with a return."""
    ended = f"{text}\nlocal {_END} = 0"
    dump = await redis.eval("return string.dump(assert(loadstring(ARGV[1])))", 0, ended)
    assert dump.startswith(_HEADER)
    main = _Reader(dump).function()
    end = main.locals[-1]
    given = frozenset(one.name for one in main.locals if one.ends == end.ends and one is not end)
    most = max(sum(one.begins <= at < one.ends for one in main.locals) for at in range(end.ends))
    return Chunk(frozenset(main.free()), given, most)
