"""A file that a command writes: it gets its name when it is whole, and never takes the place of another."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from durable_memory.memory.errors import MemoryInvalid

_NO_LINKS: Final = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK)
"""What file systems without links answer."""


@contextmanager
def whole_file(file: Path) -> Iterator[IO[bytes]]:
    """Opens FILE.part to write to; it becomes FILE when the context ends, and goes if an error ends that.

    Raises MemoryInvalid if FILE.part cannot be made. If FILE.part cannot get its name, it stays: MemoryInvalid if
    another made FILE meanwhile, else OSError.
    """
    unfinished = file.with_name(f"{file.name}.part")
    try:
        # Whoever may not read the memories may not read this either.
        stream = os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
    except FileExistsError:
        raise MemoryInvalid(
            f"{unfinished}: exists: another export writes to it, or one was killed; choose another name, or remove it"
        ) from None
    except OSError as error:
        raise MemoryInvalid(f"{unfinished}: cannot be written: {error.strerror}") from None
    try:
        with stream:
            yield stream
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
    try:
        _name(unfinished, file)
    except FileExistsError:
        raise MemoryInvalid(f"{file}: was made by another meanwhile; what was exported stays in {unfinished}") from None


def _name(unfinished: Path, file: Path) -> None:
    """Gives a file its name. Raises FileExistsError if there is a file of that name, which a rename would replace."""
    try:
        os.link(unfinished, file)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        if os.path.lexists(file):  # only a moment is left to others
            raise FileExistsError from None
        unfinished.rename(file)
    else:
        unfinished.unlink()
