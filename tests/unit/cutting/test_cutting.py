"""A cut keeps whole what a reader sees as one character."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.cutting import cut


@pytest.mark.parametrize(
    ("text", "characters"),
    [
        ("plain", ["p", "l", "a", "i", "n"]),
        ("e\u0301a\u0308\u0323o", ["e\u0301", "a\u0308\u0323", "o"]),
        ("👩‍👩‍👧‍👦👍🏽x", ["👩‍👩‍👧‍👦", "👍🏽", "x"]),
        ("🇩🇪🇧🇪🇳", ["🇩🇪", "🇧🇪", "🇳"]),
        ("❤️a", ["❤️", "a"]),
        ("a\r\nb", ["a", "\r\n", "b"]),
        ("किंतु", ["किं", "तु"]),
        ("日本", ["日", "本"]),
        ("\u1112\u1161\u11ab\u1100\u1173\u11af", ["\u1112\u1161\u11ab", "\u1100\u1173\u11af"]),  # 한글, in letters
    ],
)
def test_a_cut_ends_between_characters(text: str, characters: list[str]) -> None:
    assert "".join(characters) == text
    starts = {"".join(characters[:count]) for count in range(len(characters) + 1)}
    assert {cut(text, length) for length in range(len(text) + 1)} == starts


@given(st.text(), st.integers(min_value=0, max_value=50))
def test_a_cut_is_a_start_of_the_text_within_its_length(text: str, length: int) -> None:
    assert text.startswith(cut(text, length))
    assert len(cut(text, length)) <= length


def test_endless_marks_do_not_make_a_cut_empty() -> None:
    assert len(cut("a" + "\u0301" * 1_000, 500)) == 500


@pytest.mark.parametrize("length", [997, 998, 999, 1_000])
def test_flags_are_counted_from_the_first_of_a_long_row(length: int) -> None:
    assert cut("🇩🇪" * 1_000, length) == "🇩🇪" * (length // 2)
    assert cut("x" + "🇩🇪" * 1_000, length) == "x" + "🇩🇪" * ((length - 1) // 2)
