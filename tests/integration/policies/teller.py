"""A process that appends and reads as it is told, line by line. Arguments: folder of declarations, Redis, project."""

from __future__ import annotations

import asyncio
import json
import sys

from durable_memory import MemoryClient


async def tell(folder: str, redis_url: str, project: str) -> None:
    """Answers each line of stdin, `{resource, message}` or `{resource, read: ids}`, with a line: the new ids."""
    async with await MemoryClient.connect(redis_url, memories=[folder], project=project) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            told = json.loads(line)
            memory = client.memory(told["resource"], "story")
            ids: tuple[str, ...] = ()
            if "message" in told:
                ids = (await memory.append(told["message"])).ids
            else:
                await memory.read(ids=told["read"])
            sys.stdout.write(json.dumps(ids) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(tell(*sys.argv[1:4]))
