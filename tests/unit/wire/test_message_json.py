"""The JSON form of a message: what cannot be its field is refused by name, and what a newer worker adds is not read."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import pytest

from durable_memory import InvalidValue, Message, Provenance

HELLO: dict[str, Any] = {"role": "user", "content": "Hello."}


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"id": 5}, "messages[0].id: must be text, not int"),
        ({"tokens": "5"}, "messages[0].tokens: must be a whole number, not str"),
        ({"tokens": True}, "messages[0].tokens: must be a whole number, not bool"),
        ({"truncated_from": 1.5}, "messages[0].truncated_from: must be a whole number, not float"),
        ({"tokens_estimated": "yes"}, "messages[0].tokens_estimated: must be true or false"),
        ({"created_at": 5}, "messages[0].created_at: must be a time (ISO 8601 in JSON), not int"),
        ({"created_at": "soon"}, "messages[0].created_at: is not an ISO 8601 time"),
        ({"provenance": "w"}, "messages[0].provenance: must be an object, not str"),
        ({"provenance": {"run_id": 5}}, "messages[0].provenance.run_id: must be text, not int"),
    ],
)
def test_what_the_store_gives_is_refused_by_name_if_no_store_gave_it(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        Message.from_dict({**HELLO, **wrong}, "messages[0]")
    assert str(refused.value) == words


def test_what_the_store_gave_comes_back_as_it_was() -> None:
    stored = {
        **HELLO,
        "id": "1-0",
        "section": "short_term",
        "tokens": 3,
        "tokens_estimated": True,
        "created_at": "2026-01-02T03:04:05+00:00",
        "provenance": {"workflow_id": "w", "run_id": "r"},
        "truncated_from": 9,
    }
    message = Message.from_dict(stored)
    assert message.provenance == Provenance("w", "r")
    assert message.to_dict() == stored
    assert Message.from_dict({**HELLO, "provenance": message.provenance}).provenance == message.provenance


def test_what_a_newer_worker_adds_to_an_answer_is_not_read() -> None:
    newer = {**HELLO, "mood": "good", "provenance": {"workflow_id": "w", "attempt": 2}}
    assert Message.from_answer(newer).to_dict() == {**HELLO, "provenance": {"workflow_id": "w"}}


def test_a_message_says_that_it_has_no_hash() -> None:
    assert not isinstance(Message.user("Hello."), Hashable)
