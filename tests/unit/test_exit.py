"""A program with a Temporal client leaves by one way, whatever becomes of its work."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import asyncio, atexit, os, signal, sys
from durable_memory.exit import run_and_leave

atexit.register(print, "an ordinary end of the interpreter")

async def main():
    print("begun")
    {end}

run_and_leave(main())
"""


def _ended(end: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(end=end)], capture_output=True, text=True, timeout=60, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    ("end", "code"),
    [
        ("pass", 0),
        ("return 3", 3),
        ("sys.exit()", 0),
        ("sys.exit(4)", 4),
        ("os.kill(os.getpid(), signal.SIGINT); await asyncio.sleep(60)", 130),
    ],
)
def test_a_program_leaves_with_the_code_of_its_work_and_says_nothing(end: str, code: int) -> None:
    assert _ended(end) == (code, "begun\n", "")


def test_an_error_is_told_with_its_place_and_the_program_leaves_with_1() -> None:
    code, out, err = _ended("raise ConnectionError('nobody answers')")
    assert (code, out) == (1, "begun\n")
    assert err.startswith("Traceback")
    assert err.endswith("ConnectionError: nobody answers\n")


def test_the_words_of_an_exit_are_told() -> None:
    assert _ended("sys.exit('REDIS_URL is not set')") == (1, "begun\n", "REDIS_URL is not set\n")


def test_a_program_that_a_running_loop_imports_again_is_told_where_the_call_belongs() -> None:
    code, out, err = _ended("run_and_leave(main())")
    assert (code, out) == (1, "begun\n")
    assert err.startswith("Error: run_and_leave was called where an event loop runs already.")
    assert err.endswith('call it below `if __name__ == "__main__":`.\n')
