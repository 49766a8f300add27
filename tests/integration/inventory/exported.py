"""What an export gives, line by line."""

from __future__ import annotations

import json
from typing import Any

from durable_memory import MemoryClient


async def lines_of(client: MemoryClient, resource: str = "desk", **options: Any) -> list[str]:
    return [line async for line in client.export_messages(resource, **options)]


def messages_in(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines[1:-1]]


def spoken_in(lines: list[str]) -> list[str]:
    return [line["message"]["content"] for line in messages_in(lines)]
