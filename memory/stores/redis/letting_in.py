"""Connections that a server, once reached, does not let in, while those that it has let in go on."""

from __future__ import annotations

from typing import Final

from redis import exceptions

_FULL: Final = "max number of clients reached"
_CLOSED: Final = ("Connection closed by server", "while writing to socket", "while reading from")


class ClosedAtOnceError(exceptions.ConnectionError):
    """A connection that was closed as it began. A server says why, but mostly the end is seen before its words."""

    def __init__(self) -> None:
        super().__init__(
            "the connection was closed as it began: its maxclients may be reached, or it speaks TLS alone, or a proxy "
            "has no server behind it"
        )


def is_closed(error: exceptions.ConnectionError) -> bool:
    """Whether a connection was made, and closed by the other side."""
    return any(words in str(error) for words in _CLOSED)


def is_not_let_in(error: BaseException) -> bool:
    """Whether an error is of this connection alone: others keep their places and the user that they came with."""
    return isinstance(error, (ClosedAtOnceError, exceptions.AuthenticationError)) or _FULL in str(error)
