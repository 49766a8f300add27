"""What a client opened is closed whole: one connection that fails to close keeps no other open."""

from __future__ import annotations

from dataclasses import replace

import pytest

from durable_memory import MemoryClient, Registry
from durable_memory.memory.stores.forwarding import ForwardingStore
from durable_memory.memory.stores.in_memory import open_in_memory


class FailsToClose(ForwardingStore):
    """A store that closes its connections, and an error comes of it."""

    closed = False

    async def close(self) -> None:
        await super().close()
        self.closed = True
        raise ConnectionError("lost")


async def test_stores_are_all_closed_though_each_of_them_fails_to() -> None:
    stores = {persistence: FailsToClose(open_in_memory().store) for persistence in ("redis", "in_memory")}
    backends = {persistence: replace(open_in_memory(), store=store) for persistence, store in stores.items()}
    client = MemoryClient(Registry.from_resources([]), backends)
    with pytest.raises(ConnectionError):
        await client.close()
    assert [store.closed for store in stores.values()] == [True, True]
