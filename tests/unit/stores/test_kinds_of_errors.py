"""What Redis answers is named by its code, with each redis-py that may be installed."""

from __future__ import annotations

import pytest
from redis import exceptions

from durable_memory.memory.stores.redis import attempts
from durable_memory.memory.stores.redis.attempts import Attempts
from durable_memory.memory.stores.redis.outage import kind_of

ANSWERS = [
    (exceptions.ReadOnlyError("You can't write against a read only replica."), "READONLY"),
    (exceptions.BusyLoadingError("Redis is loading the dataset in memory"), "LOADING"),
    (exceptions.ClusterDownError("The cluster is down"), "CLUSTERDOWN"),
    (exceptions.MasterDownError("Link with MASTER is down"), "MASTERDOWN"),
    (exceptions.TryAgainError("Multiple keys request during rehashing of slot"), "TRYAGAIN"),
    (exceptions.ResponseError("MISCONF Redis is configured to save RDB snapshots"), "MISCONF"),
]


@pytest.mark.parametrize(("answer", "code"), ANSWERS, ids=[code for _, code in ANSWERS])
async def test_an_answer_of_an_error_that_has_no_status_code_is_retried_and_named(
    answer: Exception, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As redis-py before 7.4 makes them."""
    monkeypatch.setattr(attempts, "_PAUSES_SECONDS", (0.01,))
    vars(answer).pop("status_code", None)
    left = [answer, None]

    async def attempt() -> str:
        failure = left.pop(0)
        if failure is not None:
            raise failure
        return "answered"

    assert await Attempts(f"redis://{code}").until_answered(attempt) == "answered"
    assert left == []
    assert kind_of(answer) == code
