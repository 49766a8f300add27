"""The one way out of every process of ours that opened a Temporal client."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from typing import NoReturn


def leave(code: int) -> NoReturn:
    """Ends this process at once, after logs and streams were flushed. Close the clients before.

    An ordinary end of the interpreter crashes in about one of eight processes that used a Temporal client, since
    threads of its core still call into Python. A code of 0 becomes 1 if the output could not be written.
    """
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        if stream is None:  # closed before the program began
            continue
        try:
            stream.flush()
        except BrokenPipeError:
            code = code or 1  # nobody reads any more, as behind `| head`
        except (OSError, ValueError) as error:
            code = code or 1
            with contextlib.suppress(OSError, ValueError, AttributeError):
                sys.stderr.write(
                    f"Error: the output could not be written: {getattr(error, 'strerror', None) or error}\n"
                )
    os._exit(code)
