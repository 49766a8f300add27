"""One parser of durations: what it accepts at load is what counts at run time."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.declarations.durations import LONGEST, format_duration, parse_duration, to_ms


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("150ms", 150), ("20s", 20_000), ("5m", 300_000), ("72h", 259_200_000), ("7d", 604_800_000), ("007s", 7_000)],
)
def test_each_unit_means_what_it_says(text: str, milliseconds: int) -> None:
    assert to_ms(parse_duration(text)) == milliseconds


@pytest.mark.parametrize(
    "text",
    ["", " ", "5", "s", "1 minute", "1.5h", "-1s", "+1s", "5 m", " 5m", "5m ", "5M", "1h30m", "1w", "1y", "٣s", "5m\n"],
)
def test_any_other_spelling_is_refused_with_examples(text: str) -> None:
    with pytest.raises(ValueError, match=r"150ms, 20s, 5m, 72h, 7d"):
        parse_duration(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("72H", "72h"),
        ("1h30m", "90m"),
        ("1.5h", "90m"),
        ("30 sec", "30s"),
        ("1 minute", "1m"),
        ("2 weeks", "14d"),
        ("250 milliseconds", "250ms"),
    ],
)
def test_a_duration_that_is_spelt_as_elsewhere_is_refused_with_what_it_means_here(text: str, meant: str) -> None:
    with pytest.raises(ValueError, match=f"did you mean '{meant}'"):
        parse_duration(text)


@pytest.mark.parametrize("text", ["never", "5", "1y", "0 sec", "999999 weeks 999999 weeks", "1h " * 20])
def test_what_says_no_duration_gets_no_suggestion(text: str) -> None:
    with pytest.raises(ValueError, match=r"7d$"):
        parse_duration(text)


@pytest.mark.parametrize("number", [0, 1, 3600, 1.5, float("nan")])
def test_a_bare_number_is_refused_since_its_unit_is_a_guess(number: float) -> None:
    with pytest.raises(ValueError, match="number without a unit"):
        parse_duration(number)


@pytest.mark.parametrize("other", [None, True, [], {}, b"5m"])
def test_other_types_are_refused(other: object) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        parse_duration(other)


@pytest.mark.parametrize("nothing", ["0s", "0ms", "000d", timedelta(0), timedelta(microseconds=999), timedelta(-1)])
def test_zero_is_refused_since_it_could_mean_never_or_at_once(nothing: object) -> None:
    with pytest.raises(ValueError, match="longer than zero"):
        parse_duration(nothing)


@pytest.mark.parametrize("text", ["36501d", "999999999999999d", "999999999999999h"])
def test_what_no_store_could_keep_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="at most 36500d"):
        parse_duration(text)


@given(st.integers(min_value=1, max_value=to_ms(LONGEST)))
def test_what_is_written_out_is_read_back(milliseconds: int) -> None:
    duration = timedelta(milliseconds=milliseconds)
    assert parse_duration(format_duration(duration)) == duration
