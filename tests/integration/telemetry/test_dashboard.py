"""The dashboard of deploy/ shows every series, and a real Prometheus answers each of its queries."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from durable_memory.worker.metrics import WorkerMetrics
from tests.integration.telemetry.page import rows
from tests.integration.telemetry.prometheus import Prometheus, prometheus_of
from tests.integration.telemetry.story import Sample

DASHBOARD = json.loads((Path(__file__).parents[3] / "deploy" / "grafana" / "memories.json").read_text())
PANELS: dict[str, dict[str, Any]] = {panel["title"]: panel for panel in DASHBOARD["panels"] if panel["type"] != "row"}
TARGETS = [target for panel in PANELS.values() for target in panel["targets"]]
SERIES = [row[0] for row in rows("series")]


@pytest.fixture(scope="session")
async def prometheus(
    told: tuple[list[Sample], list[Sample]],  # noqa: ARG001 - has moved every series
    metrics: WorkerMetrics,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Prometheus]:
    async with prometheus_of(metrics.text, tmp_path_factory.mktemp("prometheus")) as running:
        yield running


def asked(target: dict[str, Any], resource: str = ".*") -> str:
    """The query as Grafana sends it."""
    expression: str = target["expr"]
    return expression.replace("$__rate_interval", "1m").replace("$resource", resource)


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target["expr"])
async def test_a_query_has_an_answer_with_the_labels_of_its_legend(
    prometheus: Prometheus, target: dict[str, Any]
) -> None:
    answer = await prometheus.query(asked(target))
    assert {frozenset(sample["metric"]) for sample in answer} == {
        frozenset(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]))
    }


async def test_memories_can_be_chosen(prometheus: Prometheus) -> None:
    target = PANELS["Fill of views"]["targets"][0]
    answer = await prometheus.query(asked(target, "small|cut"))
    assert {sample["metric"]["resource"] for sample in answer} == {"small", "cut"}


@pytest.mark.parametrize("series", SERIES)
def test_each_series_is_shown(series: str) -> None:
    assert any(re.search(rf"\b{series}(_bucket)?\b", target["expr"]) for target in TARGETS)


def test_panels_stand_side_by_side() -> None:
    cells = [
        (x, y)
        for panel in DASHBOARD["panels"]
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert {x for x, _ in cells} == set(range(24))
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])
