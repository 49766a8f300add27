"""Conformance: a store that answers says so, for itself and for one memory, and makes nothing by it."""

from __future__ import annotations

from durable_memory.memory.stores.values import ABSENT
from durable_memory.testing.contracts.builders import user
from durable_memory.testing.contracts.case import StoreCase
from durable_memory.testing.contracts.driven import Driven


class AnsweringContract(StoreCase):
    """What health asks of a store."""

    async def test_a_store_is_asked_whether_it_answers_and_may_be_written_to(self, memory: Driven) -> None:
        await memory.store.ping()
        await memory.store.check_rights(memory.memory)
        assert (await memory.read()).version == ABSENT
        await memory.append(user("a"))
        before = await memory.state()
        await memory.store.check_rights(memory.memory)
        assert await memory.state() == before
