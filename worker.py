"""The worker as a script: `python worker.py` is `durable-memory worker`."""

import sys

from durable_memory_command import main

if __name__ == "__main__":
    main(["worker", *sys.argv[1:]])
