"""Given the same 500 appends and 50 reads, each policy keeps what its definition says, wherever it is asked."""

from __future__ import annotations

import asyncio
import json
import sys
import uuid
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, get_args

import pytest
from temporalio.client import Client
from temporalio.worker import Worker

from durable_memory import MemoryClient, Message
from durable_memory.memory.errors import MemoryInvalid
from durable_memory.memory.limits import PolicyName
from tests.integration.policies.flows import PlayStory
from tests.integration.policies.story import APPENDS, CAPACITY, READS, declarations, kept_by, name_of, story
from tests.integration.worker.workers import WorkerProcess, worker_process

POLICIES = get_args(PolicyName)


@pytest.fixture(params=["redis", "in_memory"])
async def client(request: pytest.FixtureRequest, redis_url: str, tmp_path: Path) -> AsyncIterator[MemoryClient]:
    (tmp_path / "declared.yaml").write_text(declarations(POLICIES, request.param))
    async with await MemoryClient.connect(redis_url, memories=[tmp_path], project=uuid.uuid4().hex) as client:
        yield client


def test_the_story_tells_the_policies_apart() -> None:
    steps = story()
    assert [sum(not step.read for step in steps), sum(bool(step.read) for step in steps)] == [APPENDS, READS]
    kept = {policy: kept_by(policy, steps) for policy in POLICIES}
    assert {len(texts) for texts in kept.values()} == {CAPACITY}
    assert len({tuple(texts) for texts in kept.values()}) == len(POLICIES) - 1
    assert kept["lru"] == kept["token_aware_lru"], "the latter differs at flushes only"


@pytest.mark.parametrize("policy", POLICIES)
async def test_what_stays_is_what_the_definition_says(client: MemoryClient, policy: str) -> None:
    memory = client.memory(name_of(policy), "story")
    ids: list[str] = []
    for step in story():
        if step.read:
            await memory.read(ids=[ids[place] for place in step.read])
        else:
            ids += (await memory.append(step.message())).ids
    assert [message.text for message in (await memory.read()).messages] == kept_by(policy, story())


async def test_what_stays_is_the_same_when_three_processes_take_turns(redis_url: str, tmp_path: Path) -> None:
    (tmp_path / "declared.yaml").write_text(declarations(POLICIES, "redis"))
    project = uuid.uuid4().hex
    program = [sys.executable, "-m", "tests.integration.policies.teller", str(tmp_path), redis_url, project]
    tellers = [await asyncio.create_subprocess_exec(*program, stdin=PIPE, stdout=PIPE) for _ in range(3)]

    async def tell(policy: str) -> None:
        ids: list[str] = []
        for turn, step in enumerate(story()):
            told = {"read": [ids[place] for place in step.read]} if step.read else {"message": step.message()}
            ids += await ask(tellers[turn % 3], {"resource": name_of(policy), **told})

    for policy in POLICIES:
        await tell(policy)
    for teller in tellers:
        teller.terminate()
        await teller.wait()
    async with await MemoryClient.connect(redis_url, memories=[tmp_path], project=project) as client:
        views = {policy: await client.memory(name_of(policy), "story").read() for policy in POLICIES}
    kept = {policy: [message.text for message in view.messages] for policy, view in views.items()}
    assert kept == {policy: kept_by(policy, story()) for policy in POLICIES}


async def ask(teller: asyncio.subprocess.Process, told: dict[str, Any]) -> list[str]:
    assert teller.stdin is not None
    assert teller.stdout is not None
    teller.stdin.write(json.dumps(told).encode() + b"\n")
    ids: list[str] = json.loads(await teller.stdout.readline())
    return ids


async def test_what_stays_is_the_same_when_three_workers_of_temporal_share_the_activities(
    temporal_client: Client, redis_url: str, tmp_path: Path
) -> None:
    project = f"policies-{uuid.uuid4().hex[:12]}"
    shared = {
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": temporal_client.service_client.config.target_host,
        "DURABLE_MEMORY_PROJECT": project,
        "DURABLE_MEMORY_TASK_QUEUE": project,
    }
    short = story(60, 12)
    steps = [{"read": list(step.read)} if step.read else {"message": step.message()} for step in short]
    workers: list[WorkerProcess] = []
    async with AsyncExitStack() as stack:
        for number in range(3):
            folder = tmp_path / str(number)
            (folder / "memories").mkdir(parents=True)
            (folder / "memories" / "declared.yaml").write_text(declarations(["lfu"], "redis"))
            workers.append(await stack.enter_async_context(worker_process(cwd=folder, **shared)))
        await asyncio.gather(*(worker.ready() for worker in workers))
        await stack.enter_async_context(Worker(temporal_client, task_queue=f"{project}-story", workflows=[PlayStory]))
        handle = await temporal_client.start_workflow(
            PlayStory.run,
            args=[project, {"resource": "lfu", "key": "story"}, steps],
            id=project,
            task_queue=f"{project}-story",
        )
        assert await handle.result() == kept_by("lfu", short) != kept_by("fifo", short)
        started = {
            event.activity_task_started_event_attributes.identity
            for event in (await handle.fetch_history()).events
            if event.HasField("activity_task_started_event_attributes")
        }
        assert len(started) == 3, "each process did a part of it"


async def test_a_view_shows_the_priority_that_was_given(client: MemoryClient) -> None:
    memory = client.memory("priority", "shown")
    await memory.append([{"role": "user", "content": "a refund"}, Message.user("now", priority="critical")])
    assert [message.priority for message in (await memory.read()).messages] == ["normal", "critical"]


async def test_a_priority_that_there_is_not_is_refused(client: MemoryClient) -> None:
    with pytest.raises(MemoryInvalid, match=r"messages\[0\]\.priority: must be one of low, normal, high, critical"):
        await client.memory("priority", "refused").append({"role": "user", "content": "x", "priority": "urgent"})
