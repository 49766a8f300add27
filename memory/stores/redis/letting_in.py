"""Connections that cannot be made, while those that were made before go on."""

from __future__ import annotations

import errno
import socket
from typing import Final

from redis import exceptions

_FULL: Final = "max number of clients reached"
_CLOSED: Final = ("Connection closed by server", "while writing to socket", "while reading from")


class ClosedAtOnceError(exceptions.ConnectionError):
    """A connection that was closed as it began. A server says why, but mostly the end is seen before its words."""

    def __init__(self) -> None:
        super().__init__(
            "the connection was closed as it began: the server's maxclients may be reached, or the server speaks only "
            "TLS, or a proxy has no server behind it"
        )


def is_closed(error: exceptions.ConnectionError) -> bool:
    """Whether a connection was made, and closed by the other side."""
    return any(words in str(error) for words in _CLOSED)


def spares_others(error: BaseException) -> bool:
    """Whether an error is of a new connection alone.

    The server lets no more in, or not this user any more; its name is not found for now; or this process may open no
    more.
    """
    if isinstance(error, (ClosedAtOnceError, exceptions.AuthenticationError)) or _FULL in str(error):
        return True
    cause = error.__context__
    return isinstance(cause, socket.gaierror) or (
        isinstance(cause, OSError) and cause.errno in {errno.EMFILE, errno.ENFILE}
    )
