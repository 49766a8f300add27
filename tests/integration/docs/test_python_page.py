"""The files of docs/python.md, run as they stand, and a Redis that stays away longer than the page's call waits."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from durable_memory import Message, ToolCall, View
from tests.integration.docs.pages import CHECKOUT, files_of
from tests.unit.chat.sdk_types import check_anthropic

PAGE = "docs/python.md"
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "test_desk.py")

SHIPPED = """
resource: memory
id: desk
max_tokens: 4000
privacy_policy: {require_encryption: true}
---
resource: memory
id: profile
max_tokens: 1000
---
resource: agent
id: helper
memory: true
memories: [profile, desk]
memory_key: "user:{{ input.user }}"
"""

REDIS_GOES_AWAY = """
import asyncio
import time
from pathlib import Path
from temporalio.client import Client
from temporalio.worker import Worker
from desk import Note
from durable_memory import MemoryPlugin, Registry
from durable_memory.dev import start_temporal, start_valkey
from durable_memory.exit import leave

REGISTRY = Registry.from_resources([{"resource": "memory", "id": "desk", "max_tokens": 4000}])

async def main():
    temporal = await start_temporal(Path("temporal"), ui=False, keep=False)
    valkey = await start_valkey(Path("valkey"))
    try:
        plugin = MemoryPlugin(redis_url=valkey.url, memories=REGISTRY)
        client = await Client.connect(temporal.address, plugins=[plugin])
        async with Worker(client, task_queue="desk", workflows=[Note]):
            async def note(name):
                return await client.execute_workflow(Note.run, args=["42", "Hello"], id=name, task_queue="desk")
            print(await note("before"))
            valkey.server.kill()
            began = time.monotonic()
            print(await note("without-redis"))
            print(time.monotonic() - began, "seconds")
    finally:
        temporal.server.kill()
        valkey.server.kill()

asyncio.run(main())
leave(0)
"""


A_HUMAN_DECIDES = """
import asyncio
from pathlib import Path
from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker
from approval import Approved, ask_model, run_tool
from desk import Note
from durable_memory import MemoryPlugin, Registry, memory_error
from durable_memory.dev import start_temporal
from durable_memory.exit import leave
from test_desk import RESOURCES, Look

WORKFLOWS = [Approved, Look, Note]

async def main():
    temporal = await start_temporal(Path("temporal"), ui=False, keep=False)
    try:
        plugin = MemoryPlugin(memories=Registry.from_resources(RESOURCES), allow_in_memory=True)
        client = await Client.connect(temporal.address, plugins=[plugin])
        async with Worker(client, task_queue="desk", workflows=WORKFLOWS, activities=[ask_model, run_tool]):
            async def start(run, name, text):
                return await client.start_workflow(run, args=["42", text], id=name, task_queue="desk")
            async def seen(name, role):
                return await (await start(Look.run, name, role)).result()
            for allowed in (True, False):
                talk = await start(Approved.run, f"approved-{allowed}", f"May you, if {allowed}?")
                while (call := await talk.query(Approved.waits_for)) is None:
                    await asyncio.sleep(0.05)
                print("> seen meanwhile:", await seen(f"look-{allowed}", "user"))
                await talk.signal(Approved.decide, args=[call, allowed])
                print("> said:", await talk.result())
            print("> results:", await seen("look-again", "tool"))
            try:
                await (await start(Note.run, "too-large", "word " * 5000)).result()
            except WorkflowFailureError as error:
                fault = memory_error(error)
                print("> refused:", fault.type, fault.non_retryable)
    finally:
        temporal.server.kill()

asyncio.run(main())
leave(0)
"""


SMALL = """
import asyncio
from durable_memory import MemoryClient, Message, Registry
from summaries import ModelSummarizer

SMALL = {"resource": "memory", "id": "small", "max_tokens": 300, "persistence": {"type": "in_memory"},
         "flushing": {"summary_tokens": 60, "keep_last": 1}}

async def main():
    registry = Registry.from_resources([SMALL])
    async with await MemoryClient.connect(memories=registry, summarizer=ModelSummarizer()) as client:
        memory = client.memory("small", "key")
        await memory.append([Message.user(f"Parcel {number} is late. " * 8) for number in range(4)])
        print((await memory.flush(force=True)).outcome)
        print((await memory.read()).messages[0].text)

asyncio.run(main())
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in files_of(PAGE).items():
        (tmp_path / name).write_text(text)
    return tmp_path


async def run(folder: Path, *command: str, **given: str) -> str:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *command,
        cwd=folder,
        env={**os.environ, **given},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, (output + errors).decode()
    return output.decode()


def test_every_block_of_python_is_a_file_that_is_run_here() -> None:
    assert list(files_of(PAGE)) == ["tools.py", "desk.py", "naming.py", "approval.py", "summaries.py", "test_desk.py"]
    assert (CHECKOUT / PAGE).read_text().count("```python") == 6


def test_names_stand_in_the_text_where_an_api_has_none() -> None:
    page: dict[str, Any] = {}
    exec(files_of(PAGE)["naming.py"], page)
    view = View(
        (
            Message.user("Where is it?", name="anna"),
            Message.assistant("I look.", tool_calls=[ToolCall("c", "track")], name="triage"),
            Message.tool("In Lyon.", "c"),
            Message.assistant("It is in Lyon.", name="courier"),
        ),
        tokens=0,
        version="absent",
    )
    request = page["with_names"](view)
    check_anthropic(request)
    texts = [block["text"] for turn in request["messages"] for block in turn["content"] if block["type"] == "text"]
    assert texts == ["Where is it?", "[triage] I look.", "[courier] It is in Lyon."]


async def test_the_test_of_an_agent_passes_without_redis(folder: Path) -> None:
    assert "2 passed" in await run(folder, *PYTEST)


async def test_the_same_test_passes_with_shipped_yaml_that_is_kept_in_memory(folder: Path) -> None:
    (kept,) = re.findall(r"`memories=(Registry.load.+?)`", (CHECKOUT / PAGE).read_text())
    (folder / "memories").mkdir()
    (folder / "memories" / "desk.yaml").write_text(SHIPPED)
    test = (folder / "test_desk.py").read_text()
    declared = "Registry.from_resources(RESOURCES)"
    assert declared in test
    (folder / "test_desk.py").write_text(test.replace(declared, kept))
    assert "2 passed" in await run(folder, *PYTEST)


async def test_without_redis_a_call_and_the_cleanup_end_after_the_time_that_they_were_given(folder: Path) -> None:
    (folder / "gone.py").write_text(REDIS_GOES_AWAY)
    lines = (await run(folder, "gone.py")).splitlines()  # Temporal's core may log between them
    assert [line for line in lines if "noted" in line] == ["noted", "not noted: MemoryUnavailable"]
    [seconds] = [float(line.split()[0]) for line in lines if line.endswith(" seconds")]
    assert seconds < 15 + 10 + 60  # those of the page, and what a busy machine takes; by itself it is ten minutes


async def test_nobody_sees_a_turn_before_the_human_has_decided_and_its_error_is_found(folder: Path) -> None:
    (folder / "approving.py").write_text(A_HUMAN_DECIDES)
    lines = (await run(folder, "approving.py")).splitlines()
    assert [line for line in lines if line.startswith("> ")] == [
        "> seen meanwhile: ",
        "> said: It is on its way as A-17 (3 messages seen).",
        "> seen meanwhile: May you, if True?",
        "> said: It is not allowed (7 messages seen).",
        "> results: on its way as A-17 / not allowed",
        "> refused: MemoryOversize True",
    ]


async def test_the_summarizer_keeps_to_the_room_of_a_small_memory(folder: Path) -> None:
    (folder / "memories").mkdir()
    (folder / "memories" / "desk.yaml").write_text("{resource: memory, id: desk, max_tokens: 4000}\n")
    (folder / "small.py").write_text(SMALL)
    printed = await run(folder, "small.py")
    assert printed.startswith("committed\n")
    assert "user: Parcel 0 is late." in printed
