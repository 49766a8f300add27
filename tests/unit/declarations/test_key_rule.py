"""One rule for keys: 1 to 256 characters after NFC, no control characters, no surrounding space."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.errors import MemoryKeyInvalid
from durable_memory.memory.keys.rule import MAX_KEY_LENGTH, checked_key

ORDINARY = st.characters(exclude_categories=("Cc", "Cs"))


@given(st.text(ORDINARY, min_size=1, max_size=60).filter(lambda text: bool(text.strip())))
def test_any_text_without_control_characters_is_a_key(text: str) -> None:
    key = unicodedata.normalize("NFC", text).strip()
    assert checked_key(key, "desk") == key


@pytest.mark.parametrize(
    "key",
    [
        "user:42",
        "user:42:*",
        "*",
        "a b",
        "{x}",
        "{{7*7}}",
        '"q"',
        "a|b",
        "Austin, TX",
        "my-doc.md#0",
        "漢字",
        "😀",
        "$where",
    ],
)
def test_wildcards_braces_quotes_and_other_scripts_are_data(key: str) -> None:
    assert checked_key(key, "desk") == key


def test_both_spellings_of_a_letter_are_one_key() -> None:
    assert checked_key("zoe\N{COMBINING DIAERESIS}", "desk") == checked_key("zoë", "desk")


def test_the_length_is_counted_after_nfc() -> None:
    decomposed = unicodedata.normalize("NFD", "ǖ" * MAX_KEY_LENGTH)
    assert len(decomposed) == 3 * MAX_KEY_LENGTH
    assert checked_key(decomposed, "desk") == "ǖ" * MAX_KEY_LENGTH
    with pytest.raises(MemoryKeyInvalid, match="257 characters; at most 256"):
        checked_key("x" * (MAX_KEY_LENGTH + 1), "desk")
    # Three characters that NFC makes longer instead of shorter.
    with pytest.raises(MemoryKeyInvalid, match="at most 256"):
        checked_key("\N{HEBREW LETTER SHIN WITH SHIN DOT}" * 200, "desk")


def test_a_huge_key_is_refused_without_being_normalised() -> None:
    with pytest.raises(MemoryKeyInvalid, match="5000000 characters"):
        checked_key("e\N{COMBINING ACUTE ACCENT}" * 2_500_000, "desk")


@pytest.mark.parametrize("key", ["a\nb", "a\x00", "\x7f", "a\x85b", "a\tb", "\x1b[2J"])
def test_control_characters_are_refused(key: str) -> None:
    with pytest.raises(MemoryKeyInvalid, match=r"control character U\+00"):
        checked_key(key, "desk")


@pytest.mark.parametrize("key", [" a", "a ", "\N{NO-BREAK SPACE}a", "a\N{IDEOGRAPHIC SPACE}", " "])
def test_surrounding_space_is_refused(key: str) -> None:
    with pytest.raises(MemoryKeyInvalid, match="begins or ends with space"):
        checked_key(key, "desk")


@pytest.mark.parametrize(("key", "problem"), [("", "is empty"), (None, "NoneType"), (42, "int"), (b"k", "bytes")])
def test_no_key_is_an_error_and_not_a_shared_memory(key: object, problem: str) -> None:
    with pytest.raises(MemoryKeyInvalid, match=problem):
        checked_key(key, "desk")


@given(st.text(max_size=400).map("§".__add__))  # which no word of the error has
def test_the_error_names_the_resource_and_never_the_key(key: str) -> None:
    bad = f"{key}\ud800"
    with pytest.raises(MemoryKeyInvalid, match="memory 'desk'") as caught:
        checked_key(bad, "desk")
    assert key not in str(caught.value)
