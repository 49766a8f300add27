"""Ports for servers that are told theirs, or that start again on the same one."""

from __future__ import annotations

import contextlib
import random
import socket

BELOW_CONNECTIONS = range(20_000, 30_000)
"""Each connection gets a port too, in the ranges of Linux (from 32,768) and macOS (from 49,152): not one of these."""


def quiet_ports(count: int) -> list[int]:
    """Returns different loopback ports that are free, and that no connection takes by chance before they are used."""
    with contextlib.ExitStack() as stack:
        found: list[int] = []
        while len(found) < count:
            with contextlib.suppress(OSError):
                candidate = stack.enter_context(socket.socket())
                candidate.bind(("127.0.0.1", random.choice(BELOW_CONNECTIONS)))
                found.append(candidate.getsockname()[1])
        return found
