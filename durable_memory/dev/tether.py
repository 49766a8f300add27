"""Becomes a given program that ends when its parent ends: `python tether.py PARENT_PID PROGRAM ARGUMENT…`.

On Linux the kernel sends SIGTERM when the thread that started this process is gone, even after a kill -9. Elsewhere
the program runs untied; the pid file of the supervisor then finds what was left over.

It is a program of its own, not a `preexec_fn`: Python code between fork and exec may hang in a process with threads.
It imports the standard library only, because it runs without site-packages to start fast.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Ties this process to `parent`, then replaces it by `command`."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0) != 0:
            sys.exit(f"prctl: {os.strerror(ctypes.get_errno())}")
        if os.getppid() != parent:
            sys.exit("the parent ended before the server began")
    os.execv(command[0], command)  # noqa: S606 -- no shell is the point


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
