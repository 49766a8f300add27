"""What one logger says: workers that tests of a process share may warn of something else at any time."""

from __future__ import annotations

import logging

import pytest


def said_by(caplog: pytest.LogCaptureFixture, logger: str) -> list[logging.LogRecord]:
    """Returns the records of one logger."""
    return [record for record in caplog.records if record.name == logger]
