"""The command line, `durable-memory`."""

from durable_memory.cli.app import main

__all__ = ["main"]
