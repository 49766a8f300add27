"""The files of docs/sharing.md, run as they stand."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from tests.integration.docs.pages import CHECKOUT, files_of

PAGE = "docs/sharing.md"

LENDS = """
import asyncio
import os
from temporalio.client import Client
from temporalio.worker import Worker
from durable_memory import MemoryClient, MemoryPlugin
from durable_memory.exit import run_and_leave
from team import Editor, Reader

async def main():
    plugin = MemoryPlugin(memories=["memories"], redis_url=os.environ["REDIS_URL"], project="sharing-page")
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"], plugins=[plugin])
    async with Worker(client, task_queue="sharing-page", workflows=[Editor, Reader]):
        papers = ["the first", "the second"]
        for line in await client.execute_workflow(Editor.run, papers, id="sharing-page", task_queue="sharing-page"):
            print("> said:", line)
    connected = MemoryClient.connect(os.environ["REDIS_URL"], memories=["memories"], project="sharing-page")
    async with await connected as memories:
        view = await memories.memory("notes", "Editor/sharing-page").read()
        print("> left:", view.version)

run_and_leave(main())
"""


async def test_children_write_to_the_memory_of_their_parent_in_their_own_name_until_it_ends(
    tmp_path: Path, redis_url: str, temporal_address: str
) -> None:
    for name, text in {**files_of(PAGE), "lends.py": LENDS}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "lends.py"),
        cwd=tmp_path,
        env={**os.environ, "REDIS_URL": redis_url, "TEMPORAL_ADDRESS": temporal_address},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    lines = [line for line in output.decode().splitlines() if line.startswith("> ")]
    assert sorted(lines[:-1]) == [
        "> said: reader: I have read the first.",
        "> said: reader: I have read the second.",
    ]
    assert lines[-1] == "> left: absent"


def test_every_block_of_code_is_a_file_that_is_run_here() -> None:
    page = (CHECKOUT / PAGE).read_text()
    assert list(files_of(PAGE)) == ["memories/team.yaml", "team.py"]
    assert page.count("```") == 2 * len(files_of(PAGE))
