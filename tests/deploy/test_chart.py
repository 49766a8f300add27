"""The Helm chart: Kubernetes takes what it renders, which runs with no right that a worker does not need."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from tests.deploy.chart import FOLDER, LEAST, Values, container, merged, rendered
from tests.deploy.dockerfile import CHECKOUT, stages
from tests.deploy.tools import module
from tests.deploy.values import EVERYTHING, SETS

CHART = yaml.safe_load((FOLDER / "Chart.yaml").read_text())
RULES = CHECKOUT / "deploy" / "prometheus" / "alerts.yaml"
BUILD, RUN = stages()

OF_PROMETHEUS = {"PodMonitor", "PrometheusRule"}


@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_the_linter_finds_nothing(values: Values) -> None:
    found = module("helm_python").lint(str(FOLDER), merged(LEAST, values), strict=True)
    assert found["errors"] == []
    assert [message["error"] for message in found["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_the_oldest_and_the_newest_kubernetes_take_every_object(values: Values) -> None:
    validate = module("kubernetes_validate")
    oldest = CHART["kubeVersion"].removeprefix(">=").removesuffix(".0-0")
    objects = {kind: found for kind, found in rendered(values).items() if kind not in OF_PROMETHEUS}
    for version in (oldest, validate.latest_version()):
        taken = {kind: validate.validate(found, version, strict=True) for kind, found in objects.items()}
        assert set(taken.values()) == {".".join(version.split(".")[:2])}
    assert {"Deployment"} < set(objects)


def test_each_value_that_turns_something_on_does() -> None:
    usual = {"Deployment", "PodDisruptionBudget", "ServiceAccount"}
    assert set(rendered()) == usual
    more = {"ConfigMap", "HorizontalPodAutoscaler", "NetworkPolicy", *OF_PROMETHEUS}
    assert set(rendered(EVERYTHING)) == usual | more
    assert set(rendered(SETS["foreign"])) == usual - {"ServiceAccount"}
    assert set(rendered(SETS["closed"])) == usual - {"PodDisruptionBudget"} | {"NetworkPolicy"}


@pytest.mark.parametrize("values", SETS.values(), ids=SETS)
def test_a_worker_may_do_nothing_but_its_work(values: Values) -> None:
    objects = rendered(values)
    pod = objects["Deployment"]["spec"]["template"]["spec"]
    user, group = map(int, RUN.only("USER").split(":"))
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": group,
        "fsGroup": group,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    assert container(objects)["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert pod["automountServiceAccountToken"] is False


def test_what_selects_the_workers_selects_them_and_no_other_release() -> None:
    objects, others = rendered(EVERYTHING), rendered(EVERYTHING, name="others")
    spec = objects["Deployment"]["spec"]
    wanted = spec["selector"]["matchLabels"].items()
    selectors = [objects[kind]["spec"]["selector"] for kind in ("PodDisruptionBudget", "PodMonitor")]
    selectors += [objects["NetworkPolicy"]["spec"]["podSelector"]]
    selectors += [spread["labelSelector"] for spread in spec["template"]["spec"]["topologySpreadConstraints"]]
    assert [selector["matchLabels"].items() for selector in selectors] == [wanted] * 4
    assert wanted <= spec["template"]["metadata"]["labels"].items()
    assert not wanted <= others["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    assert (
        objects["HorizontalPodAutoscaler"]["spec"]["scaleTargetRef"]["name"]
        == objects["Deployment"]["metadata"]["name"]
    )


def test_the_autoscaler_alone_counts_the_workers_it_has() -> None:
    assert rendered()["Deployment"]["spec"]["replicas"] == 2
    assert "replicas" not in rendered(EVERYTHING)["Deployment"]["spec"]


def test_workers_are_replaced_with_their_declarations_only_if_they_do_not_read_them_again() -> None:
    def annotations(*given: Values) -> object:
        return rendered(*given)["Deployment"]["spec"]["template"]["metadata"].get("annotations")

    files = [{"memories": {"files": {"a.yaml": text}}} for text in ("# one\n", "# two\n")]
    off = {"env": {"DURABLE_MEMORY_RELOAD_INTERVAL": "off"}}
    assert [annotations(file) for file in files] == [None, None]
    assert annotations(files[0], off) == annotations(files[0], off)
    assert annotations(files[0], off) != annotations(files[1], off)


def test_the_rules_are_those_of_the_one_file_in_a_folder_and_in_an_archive(tmp_path: Path) -> None:
    rules = yaml.safe_load(RULES.read_text())
    with module("helm_python").Chart.load(FOLDER) as chart:
        archive = Path(chart.save(tmp_path))
    for source in (FOLDER, archive):
        assert rendered(EVERYTHING, chart=source)["PrometheusRule"]["spec"] == rules
    assert len(rules["groups"]) == 1


def test_it_is_of_this_release() -> None:
    version = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    assert (CHART["version"], CHART["appVersion"]) == (version, version)
    assert container(rendered())["image"] == f"registry.example.com/durable-memory:{version}"
    assert container(rendered(EVERYTHING))["image"] == f"registry.example.com/durable-memory@sha256:{'a' * 64}"
