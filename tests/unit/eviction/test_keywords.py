"""A keyword is found as a whole word or phrase, however it is written."""

from __future__ import annotations

import pytest

from durable_memory.memory.eviction.keywords import Keywords


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("refund", "I want a REFUND, now."),
        ("refund", "refund"),
        ("Credit Card", "My credit\ncard was stolen"),
        ("e-mail", "write an e-mail to me"),
        ("STRASSE", "die Straße"),
        ("straße", "DIE STRASSE"),
        ("café", "the cafe\u0301 is closed"),
        ("visa", "\uff56\uff49\uff53\uff41 please"),
        ("passport", "pass\u200bport"),
        ("返金", "昨日の注文を返金してください"),
        ("คืนเงิน", "ขอคืนเงินหน่อย"),
        ("подарунок", "ПОДАРУНОК!"),
        ("404", "error 404!"),
        ("बिल", "यह बिल, कृपया"),
        ("விசா", "என் விசா எங்கே?"),
        ("refund", "\u26a0\ufe0frefund please"),
        ("refund", "\u2764\ufe0frefund"),
        ("refund", "Refund\ufe0f!"),
        ("refund", "1\ufe0f\u20e3refund"),
        ("refund", "\u26a0\u0301refund"),
        ("1\ufe0f\u20e3 refund", "1 refund"),
        ("\u845b\U000e0100", "\u845b"),
    ],
)
def test_a_keyword_is_found_however_it_is_written(keyword: str, text: str) -> None:
    assert Keywords([keyword]).found_in(text)
    assert Keywords(["something else", keyword]).found_in(text)


@pytest.mark.parametrize(
    ("keyword", "text"),
    [
        ("refund", "no refunds, nonrefundable"),
        ("credit card", "credit for a card"),
        ("card", "cardinal"),
        ("visa", "advisable"),
        ("404", "4040"),
        ("返金", "返品と送金"),
        ("बिल", "वह बोल रहा है"),
        ("விசா", "வாசி"),
        ("बल", "बिल"),
        ("வச", "விசா"),
        ("refund", ""),
    ],
)
def test_a_keyword_does_not_match_a_part_of_a_word(keyword: str, text: str) -> None:
    assert not Keywords([keyword]).found_in(text)
