"""The codec of docs/security.md, run as it stands."""

from __future__ import annotations

import base64
import runpy
from pathlib import Path
from uuid import uuid4

import pytest
from temporalio.client import Client

from tests.integration.docs.pages import files_of


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
