"""What is wrong with a plugin, and can be known without a network, is said before a workflow is started."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest
from temporalio.client import Client
from temporalio.common import VersioningBehavior, WorkerDeploymentVersion
from temporalio.worker import Worker, WorkerDeploymentConfig

from durable_memory import MemoryPlugin, Registry
from durable_memory.memory.errors import InvalidDeclarations, MemoryInvalid
from tests.integration.temporal.flows.conversations import CONVERSATIONS
from tests.integration.temporal.rig import plugin, unique


def worker(client: Client, queue: str) -> Worker:
    """Returns a worker that does not run yet."""
    return Worker(client, task_queue=queue, workflows=CONVERSATIONS)


async def test_without_redis_url_no_worker_can_be_made(temporal_address: str) -> None:
    client = await Client.connect(temporal_address, plugins=[plugin("", unique("project"))])  # to start workflows only
    with pytest.raises(MemoryInvalid, match=r"REDIS_URL is not set.*MemoryPlugin\(redis_url="):
        worker(client, unique("queue"))


@pytest.mark.parametrize(
    "url",
    [
        "http://:s3cret@localhost",
        "redis://:s3cret@localhost:port/0",
        "redis+cluster://:s3cret@localhost:port",
        "redis+sentinel://:s3cret@localhost",
        "redis://:s3cret@localhost?socket_timeout=1",
        "redis://:s3cret@localhost?socket_connect_timeout=soon",
    ],
)
def test_a_redis_url_that_cannot_be_read_is_refused_where_the_plugin_is_made(url: str) -> None:
    with pytest.raises(MemoryInvalid, match=r"^Redis URL redis|^Redis URL http") as caught:
        plugin(url, unique("project"))
    assert "s3cret" not in caught.value.message


def test_a_folder_a_declaration_and_keys_that_are_wrong_are_refused_where_the_plugin_is_made(
    tmp_path: Path, redis_url: str
) -> None:
    with pytest.raises(InvalidDeclarations, match="nowhere"):
        MemoryPlugin(redis_url=redis_url, memories=[tmp_path / "nowhere"])
    (tmp_path / "wrong.yaml").write_text("resource: memory\nid: desk\nmax_tokens: 5x\n")
    with pytest.raises(InvalidDeclarations, match=r"wrong\.yaml:3: max_tokens"):
        MemoryPlugin(redis_url=redis_url, memories=[tmp_path])
    with pytest.raises(MemoryInvalid, match="encryption_keys: key 1 must be"):
        plugin(redis_url, unique("project"), encryption_keys="s3cret")


MODELLED = Registry.from_resources(
    [
        {
            "resource": "memory",
            "id": "desk",
            "max_tokens": 4000,
            "flushing": {"summarizer": {"type": "llm", "model": "openai:gpt-4o", "api_key_env": "NO_SUCH_KEY"}},
        }
    ]
)


async def test_a_model_without_its_key_is_named_where_a_worker_that_asks_it_is_made(
    temporal_address: str, redis_url: str
) -> None:
    project, queue = unique("project"), unique("queue")
    options = {"memories": MODELLED, "task_queue": queue}
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project, **options)])
    with pytest.raises(InvalidDeclarations, match="the environment variable NO_SUCH_KEY is not set"):
        worker(client, unique("queue"))  # its companion would ask
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project, companion=False, **options)])
    worker(client, unique("queue"))  # asks nobody
    with pytest.raises(InvalidDeclarations, match="the environment variable NO_SUCH_KEY is not set"):
        worker(client, queue)


SEALED = Registry.from_resources(
    [{"resource": "memory", "id": "desk", "max_tokens": 4000, "privacy_policy": {"require_encryption": True}}]
)
WITHOUT_KEYS = r"^desk: privacy_policy\.require_encryption is true.* DURABLE_MEMORY_ENCRYPTION_KEYS or "


async def test_memories_that_require_encryption_are_refused_where_a_worker_without_keys_is_made(
    temporal_address: str, redis_url: str
) -> None:
    project = unique("project")
    given = plugin(redis_url, project, memories=SEALED, companion=False)
    client = await Client.connect(temporal_address, plugins=[given])  # to start workflows only
    with pytest.raises(MemoryInvalid, match=WITHOUT_KEYS):
        worker(client, unique("queue"))
    keys = "k1:" + base64.b64encode(b"1" * 32).decode()
    with_keys = plugin(redis_url, project, memories=SEALED, encryption_keys=keys)
    async with worker(await Client.connect(temporal_address, plugins=[with_keys]), unique("queue")):
        with_keys.use(SEALED)


async def test_declarations_that_require_encryption_replace_none_of_a_plugin_without_keys(
    temporal_address: str, redis_url: str
) -> None:
    given = plugin(redis_url, unique("project"))
    client = await Client.connect(temporal_address, plugins=[given])
    with pytest.raises(MemoryInvalid, match=WITHOUT_KEYS):
        given.use(SEALED)
    async with worker(client, unique("queue")):  # whose declarations are those of before
        with pytest.raises(MemoryInvalid, match=WITHOUT_KEYS):
            given.use(SEALED)


@pytest.mark.parametrize("behavior", [VersioningBehavior.UNSPECIFIED, VersioningBehavior.PINNED])
async def test_a_version_that_would_hold_a_flusher_is_refused_where_the_worker_is_made(
    temporal_address: str, redis_url: str, behavior: VersioningBehavior
) -> None:
    project = unique("project")
    client = await Client.connect(temporal_address, plugins=[plugin(redis_url, project)])

    def versioned(behavior: VersioningBehavior, queue: str) -> Worker:
        version = WorkerDeploymentVersion(project, "build-1")
        config = WorkerDeploymentConfig(version, use_worker_versioning=True, default_versioning_behavior=behavior)
        return Worker(client, task_queue=queue, deployment_config=config)

    with pytest.raises(MemoryInvalid, match=r"^deployment_config: .* default_versioning_behavior=.*AUTO_UPGRADE"):
        versioned(behavior, f"flushes-of-{project}")
    assert versioned(VersioningBehavior.AUTO_UPGRADE, f"flushes-of-{project}").task_queue == f"flushes-of-{project}"
    assert versioned(behavior, unique("queue")).task_queue.startswith("queue-")
