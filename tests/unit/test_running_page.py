"""docs/running.md and the README name the settings that there are with the defaults that hold, and what is counted."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest

from durable_memory.memory.declarations.durations import format_duration
from durable_memory.memory.settings import Settings
from tests.histories.record import FOLDER, RELEASE

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "running.md").read_text()
README = (CHECKOUT / "README.md").read_text()


def test_the_page_names_all_settings_and_no_others() -> None:
    named = set(re.findall(r"DURABLE_MEMORY_[A-Z_]+", PAGE))
    known = {f"DURABLE_MEMORY_{name.upper()}" for name in Settings.model_fields}
    assert named == known - {"DURABLE_MEMORY_REDIS_URL"}


@pytest.mark.parametrize("text", [PAGE, README], ids=["page", "readme"])
def test_the_defaults_that_are_given_hold(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    for name in list(os.environ):
        if name.startswith(("DURABLE_MEMORY_", "REDIS_URL")):
            monkeypatch.delenv(name)
    rows = re.findall(r"^\| `(?:DURABLE_MEMORY_)?([A-Z_]+)`[^|]* \|(?: `([^`]*)`)? \|", text, re.MULTILINE)
    stated = {name.lower(): default for name, default in rows if name.lower() in Settings.model_fields}
    held = {name: _written(value) for name, value in Settings().model_dump().items()}
    assert stated == {name: held[name] for name in stated}
    assert len(stated) > 1


def test_what_it_costs_in_temporal_is_what_histories_have() -> None:
    stated = {what: int(count) for what, count in re.findall(r"^\| ([^|]+) \| (\d+) \|", PAGE, re.MULTILINE)}
    assert stated == {
        "a call on a memory in a workflow, or a turn by reference": _activities("turns-by-reference")["model_turn"] / 2,
        "the end of a workflow that used a memory": _activities("ending-return")["memory.cleanup"],
        "a background flush": _activities("flusher-flushed").total(),
        "a sweep of the janitor": _activities("janitor-swept").total(),
    }


def _activities(name: str) -> Counter[str]:
    """The activities of a stored history."""
    [path] = FOLDER.glob(f"{name}.{RELEASE}.json")
    events = json.loads(path.read_text(encoding="utf-8"))["events"]
    scheduled = (event.get("activityTaskScheduledEventAttributes") for event in events)
    return Counter(attributes["activityType"]["name"] for attributes in scheduled if attributes)


def _written(value: object) -> str:
    if isinstance(value, timedelta):
        return format_duration(value)
    return os.pathsep.join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
