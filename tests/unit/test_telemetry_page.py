"""docs/telemetry.md names what is measured, and all of it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

from durable_memory import Memory
from durable_memory.memory import spans, telemetry
from durable_memory.memory.operation_names import OperationName
from tests.integration.telemetry.page import rows


def test_every_series_is_listed() -> None:
    source = Path(telemetry.__file__).read_text()
    created = re.findall(r"create_(counter|histogram|gauge)\(\s*\"(\w+)\",?\s*(unit=\"s\")?", source)
    series = {
        name + ("_total" if kind == "counter" else "_seconds" if unit else ""): kind for kind, name, unit in created
    }
    assert {row[0]: row[1] for row in rows("series")} == series


def test_every_method_has_the_span_that_is_listed() -> None:
    assert dict(rows("method")) == spans.OPERATION_NAMES
    assert set(spans.OPERATION_NAMES) == set(get_args(OperationName))
    methods = {name for name in vars(Memory) if not name.startswith("_")} - {"ref", "id", "writer"}
    assert set(spans.OPERATION_NAMES) == methods | {"purge"}


def test_every_attribute_is_listed() -> None:
    assert {row[0] for row in rows("attribute")} == set(spans.ATTRIBUTES)
