"""The one way out of every process of ours that opened a Temporal client."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import sys
import traceback
from collections.abc import Coroutine
from typing import Any, Final, NoReturn

_IN_A_LOOP: Final = (
    "run_and_leave was called where an event loop runs already. If this file has workflows, Temporal's sandbox "
    'imported it again: call it below `if __name__ == "__main__":`.'
)


def run_and_leave(work: Coroutine[Any, Any, int | None]) -> NoReturn:
    """Runs the whole work of a program in `asyncio`, and leaves with the code that it returns; None is 0.

    It leaves however the work ends: an error is printed with its traceback and gives 1, Ctrl-C gives 130, and
    SystemExit what it says.
    """
    import asyncio  # noqa: PLC0415 - the command line leaves from here as well, and most of it needs no event loop

    if _inside_a_loop():
        work.close()
        sys.stderr.write(f"Error: {_IN_A_LOOP}\n")
        leave(1)
    code = 1
    try:
        code = asyncio.run(work) or 0
    except KeyboardInterrupt:
        code = 128 + signal.SIGINT
    except SystemExit as ended:
        if ended.code is None or isinstance(ended.code, int):
            code = ended.code or 0
        else:
            sys.stderr.write(f"{ended.code}\n")
    except BaseException:  # noqa: BLE001 - whatever it is, an ordinary end could crash and hide it
        traceback.print_exc()
    leave(code)


def _inside_a_loop() -> bool:
    import asyncio  # noqa: PLC0415 - see above

    with contextlib.suppress(RuntimeError):
        asyncio.get_running_loop()
        return True
    return False


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
