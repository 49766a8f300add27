"""For tests: `MemoryActivityEnvironment` runs one activity of an agent, `contracts` hold a store to its ports.

The first needs no extra: docs/python.md has a whole test, under "Testing your agent".
"""

from durable_memory.testing.activity_environment import MemoryActivityEnvironment

__all__ = ["MemoryActivityEnvironment"]
