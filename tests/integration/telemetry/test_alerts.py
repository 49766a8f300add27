"""Each alert of deploy/ fires when what it watches happens, and stays silent when that is over."""

from __future__ import annotations

import asyncio
import json
import re
from asyncio.subprocess import PIPE, STDOUT
from collections.abc import Iterable
from pathlib import Path

import pytest
import yaml

from tests.integration.telemetry.page import rows
from tests.integration.telemetry.prometheus import program

RULES = Path(__file__).parents[3] / "deploy" / "prometheus" / "alerts.yaml"
ALERTS = {rule["alert"]: rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]}

_OPERATIONS = 'memory_operations_total{{resource="chat", outcome="{}"}}'

LASTING = {
    "MemoryAppendsHeldBack": _OPERATIONS.format("MemoryBackpressure"),
    "MemoryRedisAway": _OPERATIONS.format("MemoryUnavailable"),
    "MemoryRedisUnsteady": 'memory_redis_retries_total{error="timeout"}',
}
"""Alerts about what goes on without a break, with a series that they watch."""

REPEATED = {
    "MemorySummariesByTheRules": 'memory_summaries_total{resource="chat", summarizer="llm", outcome="fallback"}',
    "MemoryFlushersNotWoken": 'memory_failed_wakes_total{resource="chat"}',
}
"""Alerts about what happens again and again, perhaps only a few times an hour."""

ONCE = {
    "MemoryFlushesFail": 'memory_flush_total{resource="chat", strategy="hybrid_summary", outcome="failed"}',
    "MemoryDamaged": _OPERATIONS.format("MemoryDamaged"),
    "MemoryAuditNotKept": 'memory_audit_failures_total{operation="clear"}',
    "MemoryDeclarationsNotReloaded": 'memory_reloads_total{outcome="failed"}',
}
"""Alerts about one event."""

STANDING = {"MemoryFlushesOverdue": 'memory_flushes_overdue{resource="chat"}'}
"""Alerts about a number that is not zero."""

WATCHED = LASTING | REPEATED | ONCE | STANDING
EVERY_QUARTER = " ".join(f"{number}x14" for number in range(1, 20))


async def check(folder: Path, alert: str, values: str, minutes: Iterable[int], *, fires: bool) -> None:
    """Plays what an alert watches, a value a minute, and asks in these minutes whether it fires."""
    firing = f'count(ALERTS{{alertname="{alert}", alertstate="firing"}}) or vector(0)'
    asked = [
        {"expr": firing, "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": int(fires)}]}
        for minute in minutes
    ]
    series = [{"series": WATCHED[alert], "values": values}]
    test = {"interval": "1m", "input_series": series, "promql_expr_test": asked}
    file = folder / "test.yaml"
    file.write_text(json.dumps({"rule_files": [str(RULES)], "tests": [test]}))
    command = [program("promtool"), "test", "rules", str(file)]
    run = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=STDOUT)
    said, _ = await run.communicate()
    assert run.returncode == 0, said.decode()


@pytest.mark.parametrize("alert", WATCHED)
async def test_an_alert_fires_while_its_cause_goes_on(tmp_path: Path, alert: str) -> None:
    await check(tmp_path, alert, "1+1x40", range(25, 40), fires=True)


@pytest.mark.parametrize("alert", STANDING)
async def test_an_alert_fires_for_what_stands_for_minutes_and_no_longer(tmp_path: Path, alert: str) -> None:
    await check(tmp_path, alert, "0x9 1x20 0x20", range(16, 29), fires=True)
    await check(tmp_path, alert, "0x9 1x20 0x20", [*range(14), *range(31, 49)], fires=False)
    await check(tmp_path, alert, "0x9 1x3 0x20", range(32), fires=False)


@pytest.mark.parametrize("alert", [*LASTING, *REPEATED, *ONCE])
async def test_an_alert_is_silent_some_time_after_its_cause_is_over(tmp_path: Path, alert: str) -> None:
    await check(tmp_path, alert, "1+1x5 6x240", range(190, 240), fires=False)


@pytest.mark.parametrize("alert", ONCE)
async def test_an_alert_fires_at_the_first_event_of_all(tmp_path: Path, alert: str) -> None:
    await check(tmp_path, alert, "_x20 1x20", range(22, 34), fires=True)


@pytest.mark.parametrize("alert", [*LASTING, *REPEATED])
async def test_an_alert_never_fires_for_one_event(tmp_path: Path, alert: str) -> None:
    await check(tmp_path, alert, "1x20 2x100", range(120), fires=False)


@pytest.mark.parametrize("alert", [*REPEATED, *ONCE])
async def test_an_alert_fires_for_an_event_every_quarter_of_an_hour(tmp_path: Path, alert: str) -> None:
    await check(tmp_path, alert, EVERY_QUARTER, range(90, 240), fires=True)


def test_each_alert_is_tried_stands_on_the_page_and_watches_a_series_of_it() -> None:
    assert set(ALERTS) == set(WATCHED)
    assert {name: rule["labels"]["severity"] for name, rule in ALERTS.items()} == {
        row[0]: row[1] for row in rows("alert")
    }
    assert {series.partition("{")[0] for series in WATCHED.values()} <= {row[0] for row in rows("series")}


@pytest.mark.parametrize("alert", ALERTS)
def test_its_words_name_labels_that_it_has(alert: str) -> None:
    rule = ALERTS[alert]
    [by] = re.findall(r"sum by \((\w+)\)", rule["expr"])
    assert re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"]) in ([by], [])
    assert rule["annotations"]["description"]
