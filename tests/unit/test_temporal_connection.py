"""Connecting to Temporal."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from temporalio.client import Client
from temporalio.envconfig import ClientConfigProfile

from durable_memory.temporal_connection import connect_temporal


@pytest.mark.parametrize("turns", range(4))
async def test_a_cancellation_that_comes_with_the_answer_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, turns: int
) -> None:
    answer: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def connect(*_: Any, **__: Any) -> str:
        return await answer

    monkeypatch.setattr(Client, "connect", connect)
    connecting = asyncio.create_task(connect_temporal(ClientConfigProfile(address="localhost:7233")))
    await asyncio.sleep(0.01)
    answer.set_result("connected")
    for _ in range(turns):
        await asyncio.sleep(0)
    in_time = connecting.cancel()
    await asyncio.wait({connecting})
    assert connecting.cancelled() == in_time
