"""How the command line says moments."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from durable_memory.cli.wording import clock_time


def test_a_time_of_this_machine_names_its_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("TZ", "CET-1")
        time.tzset()
        shown = clock_time(datetime(2026, 3, 2, 10, 0, tzinfo=UTC))
    time.tzset()
    assert shown == "2026-03-02 11:00:00 CET"
