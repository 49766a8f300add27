"""The README's tour, run as it stands: its files are written out, its programs started, their output compared."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tomllib
import uuid
from pathlib import Path
from textwrap import indent

import pytest

from durable_memory import MemoryClient
from tests.integration.docs.pages import CHECKOUT, files_of

README = CHECKOUT / "README.md"
RUNNING = CHECKOUT / "docs" / "running.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def blocks() -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(README.read_text())]


async def run(folder: Path, *command: str, **environment: str) -> str:
    process = await asyncio.create_subprocess_exec(
        *command,
        cwd=folder,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, errors = await process.communicate()
    assert process.returncode == 0, errors.decode()
    return output.decode()


@pytest.fixture
def tour(tmp_path: Path) -> Path:
    for name, text in files_of("README.md").items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


BOOKING = """
import asyncio
import os
from durable_memory import MemoryClient, Message

async def main():
    async with await MemoryClient.connect(os.environ["REDIS_URL"], memories=["memories"], project="readme") as client:
{lines}
        print(context.to_openai())

asyncio.run(main())
"""


async def test_the_tour_prints_what_the_readme_says(tour: Path, redis_url: str, temporal_address: str) -> None:
    environment = {
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": temporal_address,
        "DURABLE_MEMORY_PROJECT": "readme",
        "DURABLE_MEMORY_TASK_QUEUE": "readme",
    }
    printed = await run(tour, sys.executable, "main.py", **environment)
    expected = next(text for kind, text in blocks() if kind == "text")
    assert printed == expected
    program = str(Path(sys.executable).with_name("durable-memory"))
    seen = await run(tour, program, "read", "customer-support", "user:42", **environment)
    assert "It is order A-17." in seen
    # What another agent sees of it, in the words of the README.
    context = next(line for kind, text in blocks() if kind == "sh" for line in text.splitlines() if " context " in line)
    shared = await run(tour, program, *context.split()[1:], **environment)
    assert "Support thread" in shared
    assert "It is order A-17." in shared
    # The same in Python: the lines of the README inside a program.
    lines = next(text for _, text in blocks() if text.startswith("agent = client.agent("))
    (tour / "booking.py").write_text(BOOKING.format(lines=indent(lines, " " * 8)))
    seen = await run(tour, sys.executable, "booking.py", **environment)
    assert "It is order A-17." in seen
    assert "Done." in await run(tour, program, "read", "customer-support", "user:42", **environment)


async def test_the_tour_works_in_one_file_as_well(tour: Path, redis_url: str, temporal_address: str) -> None:
    own_modules = ("from support import SupportAgent\n", "from model import reply\n")
    parts = [(tour / name).read_text() for name in ("support.py", "model.py", "main.py")]
    for name in ("support.py", "model.py"):
        (tour / name).unlink()
    whole = "\n\n".join(parts)
    for line in own_modules:
        assert line in whole
        whole = whole.replace(line, "")
    (tour / "main.py").write_text(whole)
    printed = await run(
        tour,
        sys.executable,
        "main.py",
        REDIS_URL=redis_url,
        TEMPORAL_ADDRESS=temporal_address,
        DURABLE_MEMORY_PROJECT="readme-one-file",
        DURABLE_MEMORY_TASK_QUEUE="readme-one-file",
    )
    assert printed == next(text for kind, text in blocks() if kind == "text")


NO_PLUGIN = """
import asyncio
import os
from datetime import timedelta
from temporalio import activity, workflow
from temporalio.client import Client, WorkflowFailureError
from temporalio.worker import Worker
from durable_memory import AgentMemory
from durable_memory.exit import leave

@workflow.defn
class Forgetful:
    @workflow.run
    async def run(self) -> None:
        short = workflow.ActivityConfig(schedule_to_close_timeout=timedelta(seconds=5))
        await AgentMemory("customer-support", key="user:44", activity_config=short).append("Hello")

@activity.defn
async def reply() -> None:
    pass

async def fail(client, queue, activities):
    async with Worker(client, task_queue=queue, workflows=[Forgetful], activities=activities):
        try:
            await client.execute_workflow(Forgetful.run, id=queue, task_queue=queue)
        except WorkflowFailureError as error:
            print(error.cause.cause, "|", error.cause.cause.cause)

async def main():
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    await asyncio.gather(fail(client, "no-plugin", [reply]), fail(client, "no-activity", []))

if __name__ == "__main__":
    asyncio.run(main())
    leave(0)
"""


MAKES_A_WORKER = """
import asyncio
import os
from temporalio.client import Client
from temporalio.worker import Worker
from durable_memory.exit import leave
from importing import Forgetful

async def main():
    client = await Client.connect(os.environ["TEMPORAL_ADDRESS"])
    try:
        Worker(client, task_queue="never-runs", workflows=[Forgetful])
    except RuntimeError as error:
        print(error)
    else:
        print("made")

asyncio.run(main())
leave(0)
"""


async def test_a_worker_without_the_plugin_says_what_the_page_says(tour: Path, temporal_address: str) -> None:
    (tour / "forgetful.py").write_text(NO_PLUGIN)
    printed = await run(tour, sys.executable, "forgetful.py", TEMPORAL_ADDRESS=temporal_address)
    first, last = re.findall(r"`(Activity function\s+memory\.append) … (is not registered)`", RUNNING.read_text())[0]
    assert re.search(rf"{' '.join(first.split())} .*{last}", printed)
    assert "ScheduleToStart timeout" in printed  # nobody took the call


@pytest.mark.parametrize("name", ["AgentContext", "MemoryClient", "MemoryPlugin", "Registry", "current_memory_client"])
async def test_a_worker_without_the_plugin_is_not_even_made_for_a_file_that_imports_what_the_page_says(
    tour: Path, temporal_address: str, name: str
) -> None:
    (tour / "importing.py").write_text(NO_PLUGIN.replace("import AgentMemory", f"import AgentMemory, {name}"))
    (tour / "made.py").write_text(MAKES_A_WORKER)
    printed = await run(tour, sys.executable, "made.py", TEMPORAL_ADDRESS=temporal_address)
    [(error, names)] = re.findall(r"- `Worker\(…\)` itself fails \(`(.*?)`\)([^.]*)\.", RUNNING.read_text())
    assert (error in printed, "made" in printed) == ((True, False) if f"`{name}`" in names else (False, True))


async def test_the_declarations_of_the_readme_are_valid_and_complete(tour: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("durable-memory")),
        "validate",
        cwd=tour,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, notes = await process.communicate()
    assert (process.returncode, notes) == (0, b"")
    assert b"booking" in output


async def test_the_script_prints_what_the_readme_says(tour: Path, redis_url: str) -> None:
    project = f"tour-{uuid.uuid4().hex[:8]}"
    printed = await run(tour, sys.executable, "script.py", REDIS_URL=redis_url, DURABLE_MEMORY_PROJECT=project)
    assert printed.strip() in README.read_text()
    assert printed == "True 2 Good morning!\n"
    async with await MemoryClient.connect(redis_url, memories=[tour / "memories"], project=project) as client:
        assert [listed.key async for listed in client.list_memories()] == ["user:43"]


def test_every_named_file_of_the_readme_is_part_of_a_test() -> None:
    assert sorted(files_of("README.md")) == [
        "main.py",
        "memories/booking.yaml",
        "memories/support.yaml",
        "model.py",
        "script.py",
        "support.py",
    ]


def test_the_page_that_the_readme_links_names_every_extra() -> None:
    declared = tomllib.loads((README.parent / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    table = RUNNING.read_text().split("| extra | brings |\n", 1)[1].split("\n\n", 1)[0]
    assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(declared)
