"""The codec of docs/security.md, run as it stands, and its user of Redis."""

from __future__ import annotations

import base64
import re
import runpy
from pathlib import Path
from uuid import uuid4

import pytest
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError
from temporalio.client import Client

from durable_memory import MemoryClient, Registry
from tests.integration.docs.pages import CHECKOUT, files_of
from tests.integration.redis.topologies import ask
from tests.integration.redis.warnings_at_start import warnings_of

PAGE = (CHECKOUT / "docs" / "security.md").read_text()


async def test_a_client_of_the_page_keeps_what_it_sends_from_the_history(
    tmp_path: Path, temporal_address: str, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for page in ("README.md", "docs/security.md"):  # memories of the one, the client of the other
        for name, text in files_of(page).items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TEMPORAL_ADDRESS", temporal_address)
    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setenv("DURABLE_MEMORY_PAYLOAD_KEYS", "k1:" + base64.b64encode(b"1" * 32).decode())
    client: Client = await runpy.run_path("connecting.py")["connect"]()
    said = "The parcel is in Lyon."
    handle = await client.start_workflow("Nobody", said, id=f"sealed-{uuid4().hex}", task_queue="nobody-polls")
    history = (await (await Client.connect(temporal_address)).get_workflow_handle(handle.id).fetch_history()).to_json()
    await handle.terminate()
    assert base64.b64encode(b"binary/encrypted").decode() in history
    assert base64.b64encode(f'"{said}"'.encode()).decode() not in history


async def test_the_user_of_the_page_can_do_all_that_the_product_does_and_nothing_else(redis_url: str) -> None:
    [line] = re.findall(r"^ACL SETUSER .*$", PAGE, re.MULTILINE)
    *command, name, on, password = line.split()[:5]
    user, url = f"{name}-{uuid4().hex}", redis_url.replace("://", "://{}:{}@")
    async with Redis.from_url(redis_url) as raw:
        await ask(raw, *command, user, on, password, *line.split()[5:])
        url = url.format(user, password.removeprefix(">"))
        registry = Registry.from_resources([{"resource": "memory", "id": "desk", "max_tokens": 400}])
        assert await warnings_of(url) == ()
        async with await MemoryClient.connect(url, memories=registry, project=user) as client:
            memory = client.memory("desk", "k")
            appended = await memory.append(["A sentence of about ten tokens, more or less."] * 30)
            await memory.pin(appended.ids[-1:])
            assert (await memory.flush()).outcome == "committed"
            assert (await memory.health(check_connectivity=True)).healthy
            assert [line async for line in client.export_messages("desk")]
            backup = (await memory.clear(confirm=True, backup=True)).backup_id
            assert backup is not None
            await memory.restore(backup)
            assert [listed.key async for listed in client.list_memories("desk")] == ["k"]
            assert (await client.purge("desk", dry_run=False, confirm=True)).backups == 1
        async with Redis.from_url(url) as theirs:
            for forbidden in (("FLUSHALL",), ("KEYS", "*"), ("GET", "other"), ("CONFIG", "SET", "maxmemory", "1")):
                with pytest.raises(NoPermissionError):
                    await ask(theirs, *forbidden)
        await raw.acl_deluser(user)
