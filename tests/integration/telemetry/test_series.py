"""Every series that docs/telemetry.md lists moves, with bounded labels that tell no key."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest

from durable_memory.memory.janitor.actions import ACTIONS
from durable_memory.memory.telemetry import SECONDS_BUCKETS
from durable_memory.worker.metrics import WorkerMetrics
from tests.integration.telemetry.declared import DECLARATIONS
from tests.integration.telemetry.page import rows
from tests.integration.telemetry.story import KEY, Sample

SERIES = {name: (kind, labels.split(", ")) for name, kind, labels, _ in rows("series")}
BOOKKEEPING = ("_created", "_sum", "_bucket")


def totals(taken: Sequence[Sample]) -> Counter[str]:
    """The sums of counters, and how often histograms were recorded."""
    sums: Counter[str] = Counter()
    for sample in taken:
        sums[sample.name.removesuffix("_count")] += 0 if sample.name.endswith(BOOKKEEPING) else sample.value  # type: ignore[assignment] # Counter sums floats as well
    return sums


@pytest.mark.parametrize("series", SERIES)
def test_what_the_story_does_shows_in_the_series(told: tuple[list[Sample], list[Sample]], series: str) -> None:
    before, after = map(totals, told)
    assert after[series] > before[series]


@pytest.mark.parametrize("series", SERIES)
def test_its_labels_are_those_of_the_page(told: tuple[list[Sample], list[Sample]], series: str) -> None:
    suffix = "_count" if SERIES[series][0] == "histogram" else ""
    found = [set(sample.labels) for sample in told[1] if sample.name == f"{series}{suffix}"]
    assert found
    assert all(labels == set(SERIES[series][1]) for labels in found)


@pytest.mark.parametrize("series", [name for name in SERIES if name.endswith("_seconds")])
def test_durations_have_buckets_from_half_a_millisecond_to_a_minute(
    told: tuple[list[Sample], list[Sample]], series: str
) -> None:
    bounds = {sample.labels["le"] for sample in told[1] if sample.name == f"{series}_bucket"}
    assert bounds == {*map(str, SECONDS_BUCKETS), "+Inf"}


def test_nothing_else_is_measured_and_no_label_tells_a_key(
    told: tuple[list[Sample], list[Sample]], metrics: WorkerMetrics
) -> None:
    ours = {name for name in totals(told[1]) if name.startswith("memory_")}
    assert {name for name in ours if not name.endswith(BOOKKEEPING)} == set(SERIES)
    assert KEY not in metrics.text().decode()
    resources = {sample.labels["resource"] for sample in told[1] if "resource" in sample.labels}
    assert resources >= {declared["id"] for declared in DECLARATIONS}
    assert {sample.labels["action"] for sample in told[1] if "action" in sample.labels} == set(ACTIONS)


@pytest.mark.parametrize(
    ("series", "labels"),
    [
        ("memory_evictions_total", {"reason": "overflow", "policy": "fifo"}),
        ("memory_evictions_total", {"reason": "dropped", "policy": "fifo"}),
        ("memory_flush_total", {"strategy": "hybrid_summary", "outcome": "committed"}),
        ("memory_flush_total", {"strategy": "hybrid_summary", "outcome": "stale"}),
        ("memory_flush_total", {"strategy": "hybrid_summary", "outcome": "busy"}),
        ("memory_lease_wait_seconds_count", {"outcome": "taken"}),
        ("memory_lease_wait_seconds_count", {"outcome": "busy"}),
        ("memory_conflicts_total", {"type": "MemoryConflict"}),
        ("memory_operations_total", {"operation": "write", "outcome": "MemoryConflict"}),
        ("memory_janitor_actions_total", {"action": "woken"}),
    ],
)
def test_what_happened_is_told_apart(
    told: tuple[list[Sample], list[Sample]], series: str, labels: dict[str, str]
) -> None:
    before, after = (
        sum(sample.value for sample in taken if sample.name == series and labels.items() <= sample.labels.items())
        for taken in told
    )
    assert after > before


def test_a_view_never_exceeds_its_budget(told: tuple[list[Sample], list[Sample]]) -> None:
    ratios = [sample for sample in told[1] if sample.name.startswith("memory_budget_ratio_bucket")]
    recorded, within = (
        {s.labels["resource"]: s.value for s in ratios if s.labels["le"] == le} for le in ("+Inf", "1.0")
    )
    assert recorded == within
