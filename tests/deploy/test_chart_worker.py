"""What the chart says of a worker is what a real one does: variables, files, port, probes, and its end."""

from __future__ import annotations

import asyncio
import json
import signal
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from temporalio.client import Client
from temporalio.envconfig import ClientConfigProfile

from durable_memory.dev import Valkey
from durable_memory.worker.http import REQUEST_SECONDS
from durable_memory.worker.program import DRAIN
from tests.deploy.chart import FOLDER, container, rendered, variables
from tests.deploy.dockerfile import stages
from tests.deploy.mounted import mount, mount_all
from tests.deploy.values import EVERYTHING
from tests.integration.worker.workers import worker_process
from tests.ports import quiet_ports

BUILD, RUN = stages()
THREAD = "resource: memory\nid: thread\nmax_tokens: 600\nprivacy_policy: {require_encryption: true}\n"
NOTES = "resource: memory\nid: notes\nmax_tokens: 600\n"
KEY = f"a:{'MTIz' * 10}MTE="


def under(root: Path, value: str) -> str:
    """A path of the container as one of this machine; another text as it is."""
    return f"{root}{value}" if value.startswith("/") else value


async def test_a_worker_starts_as_its_pod_says_answers_its_probes_follows_its_configmap_and_ends_in_time(
    tmp_path: Path, project: str, own_valkey: Valkey, temporal_client: Client
) -> None:
    (port,) = quiet_ports(1)
    names = ("encryptionKeys", "payloadKeys", "telemetryKey")
    objects = rendered(
        {
            "httpPort": port,
            "temporal": {"address": temporal_client.service_client.config.target_host},
            "versioning": {"deploymentName": project, "buildId": "b1"},
            "secrets": {name: {"name": "durable-memory"} for name in names},
            "memories": {"files": {"thread.yaml": THREAD}},
            "env": {"DURABLE_MEMORY_PROJECT": project, "DURABLE_MEMORY_RELOAD_INTERVAL": "1s"},
            "podMonitor": {"enabled": True},
        }
    )
    pod = objects["Deployment"]["spec"]["template"]["spec"]
    secret = {"redis-url": own_valkey.url, "encryption-keys": KEY, "payload-keys": KEY, "telemetry-key": "hush"}
    folders = mount_all(tmp_path, objects, secret)
    given = {**RUN.variables(), **variables(objects)}
    here = {name: under(tmp_path, value) for name, value in given.items() if name != "PATH"}
    here["DURABLE_MEMORY_HTTP_HOST"] = "127.0.0.1"
    assert container(objects)["args"] == RUN.command("CMD") == ["worker"]
    async with worker_process(cwd=tmp_path, **here) as worker:
        await worker.entry(http=f"http://127.0.0.1:{port}")
        polling = await worker.entry(message="polling")
        assert polling["deployment_version"] == f"{project}.b1"
        assert container(objects)["ports"] == [{"name": "http", "containerPort": port}]
        probes = {name: container(objects)[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")}
        assert {probe["port"] for probe in probes.values()} == {"http"}
        for probe in probes.values():
            await worker.answers(probe["path"], 200)
        redis = psutil.Process(own_valkey.server.pid)
        redis.suspend()
        await worker.answers(probes["readiness"]["path"], 503)
        # Who is started again for want of Redis does not come back with one.
        assert [(await worker.get(probes[name]["path"]))[0] for name in ("startup", "liveness")] == [200, 200]
        redis.resume()
        (endpoint,) = objects["PodMonitor"]["spec"]["podMetricsEndpoints"]
        assert endpoint["port"] == "http"
        await worker.answers(endpoint["path"], 200, "temporal_")
        mount(folders["memories"], {"thread.yaml": THREAD + f"---\n{NOTES}"})
        await worker.text("the declarations were read again; added: notes")
        async with asyncio.timeout(pod["terminationGracePeriodSeconds"]):
            assert await worker.end(signal.SIGTERM) == 0


def test_a_worker_has_time_to_finish_and_an_answer_of_a_probe_time_to_come() -> None:
    default = rendered()
    schema = json.loads((FOLDER / "values.schema.json").read_text())["properties"]["terminationGracePeriodSeconds"]
    least = timedelta(seconds=schema["minimum"])
    assert default["Deployment"]["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] >= schema["minimum"]
    assert least >= DRAIN + timedelta(seconds=5)
    assert container(default)["readinessProbe"]["timeoutSeconds"] > REQUEST_SECONDS


def test_temporals_library_takes_each_variable_about_temporal() -> None:
    given = {name: value for name, value in variables(rendered(EVERYTHING)).items() if name.startswith("TEMPORAL_")}
    versions = {"TEMPORAL_DEPLOYMENT_NAME", "TEMPORAL_WORKER_BUILD_ID"}
    given = {
        name: value if isinstance(value, str) else "a key" for name, value in given.items() if name not in versions
    }

    def profile(environment: dict[str, str]) -> Any:
        return ClientConfigProfile.load(disable_file=True, override_env_vars=environment)

    whole = profile(given)
    unread = [name for name in given if profile({**given, name: ""}) == whole]
    assert unread == []
