"""docs/deploying.md: its commands name what there is, and those that need no Docker and no cluster are run."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from temporalio.client import Client

from durable_memory.memory.settings import Settings, variable_of
from tests.deploy import compose
from tests.deploy.chart import FOLDER, VALUES, container, rendered
from tests.deploy.dockerfile import CHECKOUT, stages
from tests.deploy.tools import module, program
from tests.integration.cli.programs import DECLARATIONS, run_command
from tests.integration.worker.workers import eventually, worker_process

TEXT = (CHECKOUT / "docs" / "deploying.md").read_text()
BUILD, RUN = stages()


def blocks(kind: str) -> list[str]:
    """The blocks of a language."""
    return re.findall(rf"^```{kind}\n(.*?)^```$", TEXT, re.DOTALL | re.MULTILINE)


COMMANDS = [line for block in blocks("sh") for line in block.replace("\\\n", "").splitlines()]
(VALUES_FILE,) = blocks("yaml")
PAGE_VALUES: dict[str, Any] = yaml.safe_load(VALUES_FILE)


def commands(*words: str) -> list[list[str]]:
    """The words of each command that begins with these."""
    split = [shlex.split(part) for line in COMMANDS for part in re.split(r" \| | && ", line)]
    return [found for found in split if found[: len(words)] == list(words)]


def options(command: list[str]) -> dict[str, list[str]]:
    """The values of each option of a command."""
    found: dict[str, list[str]] = {}
    for word, after in zip(command, [*command[1:], ""], strict=True):
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            found.setdefault(name, []).append(value if equals else after)
    return found


def test_the_commands_of_docker_name_files_and_services_of_the_clone() -> None:
    (build,) = commands("docker", "build")
    assert options(build)["--file"] == ["deploy/Dockerfile"]
    assert build[-1] == "."
    (pushed,) = commands("docker", "push")
    assert options(build)["--tag"] == [pushed[-1]] == [container(rendered(PAGE_VALUES))["image"]]
    composed = commands("docker", "compose")
    assert {options(command)["--file"][0] for command in composed} == {"deploy/compose.yaml"}
    (execute,) = (command for command in composed if "exec" in command)
    service, *inside = execute[execute.index("exec") + 1 :]
    assert service in compose.SERVICES
    assert inside == [*RUN.command("ENTRYPOINT"), "doctor"]


def test_the_table_of_the_image_is_true() -> None:
    table = dict(re.findall(r"^\| ([\w ]+) \| (.*) \|$", TEXT, re.MULTILINE))
    user, group = RUN.only("USER").split(":")
    assert table["user"] == f"{user}, group {group}"
    assert table["port"].startswith(f"{RUN.variables()['DURABLE_MEMORY_HTTP_PORT']} for")
    assert table["declarations"].startswith(f"`{RUN.variables()['DURABLE_MEMORY_MEMORIES']}`")
    extras = BUILD.only("ARG").removeprefix("EXTRAS=").split(",")
    assert table["extras"].partition(";")[0] == ", ".join(f"`{extra}`" for extra in extras)
    assert table["command"].startswith(f"`{RUN.command('CMD')[0]}`")
    assert table["health check"].startswith("`/livez`.")
    assert "/livez" in RUN.health_check()[-1]
    assert table["end"] == f"SIGTERM; it needs up to {least_grace()} seconds"


def least_grace() -> int:
    schema = yaml.safe_load((FOLDER / "values.schema.json").read_text())
    seconds: int = schema["properties"]["terminationGracePeriodSeconds"]["minimum"]
    return seconds


def test_an_image_of_ones_own_puts_things_where_they_are_looked_for(tmp_path: Path) -> None:
    (text,) = blocks("dockerfile")
    assert f"COPY memories {RUN.variables()['DURABLE_MEMORY_MEMORIES']}\n" in text
    stated = set(re.findall(r"(DURABLE_MEMORY_\w+)=", text))
    assert stated < {variable_of(field) for field in Settings.model_fields}
    assert stated
    (tmp_path / "Dockerfile").write_text(text)
    found = subprocess.run([program("hadolint"), tmp_path / "Dockerfile"], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_file_beside_the_compose_file_takes_what_the_page_names() -> None:
    paragraph = re.search(r"^The file `deploy/\.env` also takes (.*?)\. Your own", TEXT, re.DOTALL | re.MULTILINE)
    assert paragraph is not None
    filled_in = {name for name, _ in re.findall(r"\$\{([A-Z_]+)(:-)?", compose.FILE.read_text())} - {"REDIS_PASSWORD"}
    handed_on = {name for name, value in compose.SERVICES["worker"]["environment"].items() if value is None}
    assert set(re.findall(r"`([A-Z_]+)`", paragraph[1])) == filled_in | handed_on
    assert re.search(r"^\.env$", (CHECKOUT / ".gitignore").read_text(), re.MULTILINE)


def test_the_secret_has_the_keys_that_the_chart_reads() -> None:
    (create,) = commands("kubectl", "create", "secret")
    assert set(options(create)["--from-file"]) == {secret["key"] for secret in VALUES["secrets"].values()}
    assert {secret["name"] for secret in PAGE_VALUES["secrets"].values()} == {create[create.index("generic") + 1]}
    assert set(PAGE_VALUES["secrets"]) == set(VALUES["secrets"])


def test_the_declarations_are_those_of_the_configmap() -> None:
    made = {command[command.index("configmap") + 1] for command in commands("kubectl", "create", "configmap")}
    assert made == {PAGE_VALUES["memories"]["configMap"]}


def test_the_chart_takes_the_values_and_makes_the_deployments_that_are_asked_about() -> None:
    parse = module("helm_python").parse_set_string
    made = set()
    for command in commands("helm", "upgrade"):
        release, chart = [word for word in command[2:] if not word.startswith("--")][:2]
        assert CHECKOUT / chart == FOLDER
        sets = [parse(text) for text in options(command).get("--set", [])]
        made.add(rendered(PAGE_VALUES, *sets, name=release)["Deployment"]["metadata"]["name"])
    asked = {word for command in commands("kubectl") for word in command if word.startswith("deployment/")}
    assert asked == {f"deployment/{name}" for name in made}
    (execute,) = commands("kubectl", "exec")
    assert execute[execute.index("--") + 1 :] == [*RUN.command("ENTRYPOINT"), "doctor"]


def test_every_command_is_about_one_namespace() -> None:
    asked = [one for tool in ("kubectl", "helm") for one in commands(tool)]
    without = [one for one in asked if "--namespace" not in options(one)]
    # What is applied says itself where it belongs.
    assert [one[:3] for one in without] == [["kubectl", "create", "namespace"], ["kubectl", "apply", "--filename"]]
    assert without[0][-1] == "agents"
    assert [options(one)["--namespace"] for one in asked if one not in without] == [["agents"]] * (len(asked) - 2)


async def test_the_declarations_of_the_clone_are_valid() -> None:
    (command,) = commands("durable-memory", "validate")
    ended = await run_command(str(Path(sys.executable).with_name(command[0])), *command[1:], cwd=CHECKOUT)
    assert ended.code == 0, ended.err


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "declared.yaml").write_text(DECLARATIONS)
    return tmp_path


async def test_temporal_makes_the_version_of_the_page_the_current_one(
    folder: Path, project: str, redis_url: str, temporal_client: Client
) -> None:
    (make_current,) = commands("temporal", "worker", "deployment")
    (upgrade,) = (command for command in commands("helm", "upgrade") if len(options(command).get("--set", [])) == 3)
    versioning = rendered(PAGE_VALUES, *map(module("helm_python").parse_set_string, options(upgrade)["--set"]))
    pod = versioning["Deployment"]["spec"]["template"]["spec"]
    given = {variable["name"]: variable.get("value", "") for variable in pod["containers"][0]["env"]}
    (name,), (build_id,) = options(make_current)["--deployment-name"], options(make_current)["--build-id"]
    assert (given["TEMPORAL_DEPLOYMENT_NAME"], given["TEMPORAL_WORKER_BUILD_ID"]) == (name, build_id)
    (exported,) = commands("export")
    said = dict(word.split("=", 1) for word in exported[1:])
    assert (said["TEMPORAL_ADDRESS"], said["TEMPORAL_NAMESPACE"]) == tuple(PAGE_VALUES["temporal"].values())
    address = temporal_client.service_client.config.target_host
    variables = {
        "REDIS_URL": redis_url,
        "TEMPORAL_ADDRESS": address,
        "DURABLE_MEMORY_PROJECT": project,
        "TEMPORAL_DEPLOYMENT_NAME": project,
        "TEMPORAL_WORKER_BUILD_ID": build_id,
    }
    command = [project if word == name else word for word in make_current[1:]]
    async with worker_process(cwd=folder, **variables) as worker:
        await worker.ready()

        async def accepted() -> bool:
            temporal = str(Path(sys.executable).with_name("temporal"))
            return (await run_command(temporal, *command, cwd=folder, TEMPORAL_ADDRESS=address)).code == 0

        await eventually(accepted)
