"""What a client opened is closed whole: one connection that fails to close keeps no other open."""

from __future__ import annotations

import pytest

from durable_memory import MemoryClient, Registry
from durable_memory.memory.stores.in_memory import open_in_memory


async def test_stores_are_all_closed_though_each_of_them_fails_to(monkeypatch: pytest.MonkeyPatch) -> None:
    backends = {name: open_in_memory() for name in ("redis", "in_memory")}
    closed: list[str] = []
    for name, backend in backends.items():

        async def fail(name: str = name) -> None:
            closed.append(name)
            raise ConnectionError(name)

        monkeypatch.setattr(backend.store, "close", fail)
    client = MemoryClient(Registry.from_resources([]), backends)
    with pytest.raises(ConnectionError):
        await client.close()
    assert sorted(closed) == ["in_memory", "redis"]
