"""Secrets are recognised in all their spellings; what only looks like one stays."""

from __future__ import annotations

import pytest

from durable_memory.memory.privacy.entities import ENTITIES, Entity
from durable_memory.memory.privacy.text_redactor import TextRedactor
from tests.unit.privacy.planted import LOOK_ALIKES, SECRETS

ALL = TextRedactor([], ENTITIES, "[redacted]")


def one_by_one() -> list[tuple[Entity, str, str]]:
    return [(kind, text, secret) for kind in ENTITIES for text, secret in SECRETS[kind]]


def test_every_entity_has_planted_secrets() -> None:
    assert set(SECRETS) == set(ENTITIES)
    assert len(one_by_one()) >= 40
    assert all(secret in text for _, text, secret in one_by_one())


@pytest.mark.parametrize(("kind", "text", "secret"), one_by_one())
def test_a_planted_secret_is_taken_out_by_its_own_recogniser(kind: Entity, text: str, secret: str) -> None:
    redacted = TextRedactor([], [kind], "[redacted]").redact(text)
    assert secret not in redacted.text
    assert set(redacted.found) == {kind}
    assert secret not in ALL.redact(text).text


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    assert ALL.redact(text).text == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Card 4111 1111 1111 1111, thanks", "Card [redacted], thanks"),
        ("a \uff14111\u200b1111 1111\u00a01111\u200b! b", "a [redacted]\u200b! b"),
        ("\u8bf7\u53d1\u5230 ada@example.com\u3002", "\u8bf7\u53d1\u5230 [redacted]\u3002"),
        ("x ada@example.com,grace@example.com y", "x [redacted],[redacted] y"),
        ('To: "joe smith"@example.com, "Ada" <ada@example.com>', 'To: [redacted], "Ada" <[redacted]>'),
        ("phone: 555 0104 and bye", "phone: [redacted] and bye"),
        ("https://ada:pw@example.com/x", "https://[redacted]/x"),
        ("ext: +1-415-555-2671x123, ok", "ext: [redacted], ok"),
        ("+44 20 7946 0958\n+44 20 7946 0959\n2. Anna", "[redacted]\n[redacted]\n2. Anna"),
        ("1. +442079460958\n2. +442079460959", "1. [redacted]\n2. [redacted]"),
        ("host:2001:db8::1, a::b", "host:[redacted], a::b"),
        ("card_4111111111111111_2.pdf", "card_[redacted]_2.pdf"),
        ("phones: 5550104, 5550105; open 10:30", "phones: [redacted], [redacted]; open 10:30"),
        ("from DE89370400440532013000 to GB82WEST12345698765432", "from [redacted] to [redacted]"),
    ],
)
def test_only_the_secret_is_cut_out_of_the_text_as_it_was(text: str, expected: str) -> None:
    assert ALL.redact(text).text == expected


@pytest.mark.parametrize(
    ("label", "text"),
    [
        ("ssn", "536228731"),
        ("user_phone", "5550104"),
        ("phoneNumber", "5550104"),
        ("apiKey", "0a1b2c3d4e5f6a7b8c9d"),
        ("client_secret", "aB3dE5fG7hI9jK1l"),
        ("socialSecurityNumber", "536228731"),
        ("ssns", "536228731"),
        ("phones", "5550104"),
        ("phoneNumbers", "5550104"),
        ("phone_2", "5550104"),
        ("phones[0]", "5550104"),
        ("homePhone", "5550104"),
        ("api_keys", "0a1b2c3d4e5f6a7b8c9d"),
        ("refreshTokens", "0a1b2c3d4e5f6a7b8c9d"),
        ("clientSecrets", "aB3dE5fG7hI9jK1l"),
    ],
)
def test_the_name_of_a_field_tells_what_its_value_is(label: str, text: str) -> None:
    assert ALL.redact(text, label).text == "[redacted]"
    assert ALL.redact(text, "order_number").text == text


@pytest.mark.parametrize("label", ["version", "appVersion", "firmware_version", "versions", "release"])
def test_a_field_that_is_named_a_version_holds_no_address(label: str) -> None:
    assert ALL.redact("1.2.3.4", label).text == "1.2.3.4"
    assert ALL.redact("1.2.3.4 on 10.0.0.1", label).text == "1.2.3.4 on [redacted]"
    assert ALL.redact("1.2.3.4", "host").text == "[redacted]"


def test_the_cells_of_a_sheet_hold_no_telephone_numbers() -> None:
    assert ALL.redact("123456", "cells").text == "123456"
    assert ALL.redact("123456", "cell_phones").text == "[redacted]"
