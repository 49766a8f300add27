"""What an API wants back unchanged is either unchanged or left out: signed thoughts, ciphertext, pictures."""

from __future__ import annotations

import json
from typing import Any

import pytest

from durable_memory import Message, ToolCall, View, messages_from_anthropic
from durable_memory.memory.privacy.messages import redact_message
from durable_memory.memory.privacy.text_redactor import TextRedactor
from durable_memory.memory.privacy.walk import Walk
from tests.unit.chat.sdk_types import check_anthropic

EMAIL = "ada@example.com"
REDACTOR = TextRedactor([r"MRN\d+", r"sign\w+|encrypted_\\w+|reasoning"], ["email", "api_key", "credit_card"], "[gone]")
DATA = "EqQBCgIYAhIM" + "MRN4711" + "kJ7u" * 10 + "="
"""As a provider would write it, with what looks like a secret in the middle."""
FERNET = "gAAAAABo-MRN12_" + "x" * 49


def redacted(message: Message) -> Message:
    return redact_message(message, Walk(REDACTOR))


def parts_of(*parts: dict[str, Any]) -> list[dict[str, Any]]:
    content = redacted(Message.assistant([*parts, {"type": "text", "text": "Done."}])).content
    assert isinstance(content, tuple)
    return [dict(part) for part in content[:-1]]


def test_the_data_of_these_tests_would_be_changed_if_it_were_text() -> None:
    assert redacted(Message.user(DATA)).content != DATA
    assert redacted(Message.user(FERNET)).content != FERNET


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": "Hm.", "signature": DATA},
        {"type": "redacted_thinking", "data": DATA},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": FERNET},
        {"type": "web_search_tool_result", "content": [{"type": "web_search_result", "encrypted_content": DATA}]},
        {"type": "text", "text": "x", "citations": [{"type": "web_search_result_location", "encrypted_index": DATA}]},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}},
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{DATA}"}},
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}},
    ],
    ids=lambda part: str(part["type"]),
)
def test_signatures_ciphertext_and_media_stay_as_they_are(part: dict[str, Any]) -> None:
    assert parts_of(part) == [part]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "thinking", "thinking": f"I write to {EMAIL}.", "signature": DATA},
        {"type": "thinking", "thinking": "Hm.", "signature": EMAIL},
        {"type": "thinking", "thinking": "Hm.", "signature": DATA, EMAIL: 1},
        {"type": "redacted_thinking", "data": f"no base64: {EMAIL}"},
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": EMAIL}], "encrypted_content": FERNET},
    ],
)
def test_a_signed_part_is_left_out_where_something_of_it_would_be_taken_out(part: dict[str, Any]) -> None:
    kept = {"type": "thinking", "thinking": "Hm.", "signature": DATA}
    assert parts_of(kept, part) == [kept]


@pytest.mark.parametrize("signature", [{}, {"signature": None}, {"signature": ""}])
def test_a_thought_that_nobody_signed_is_redacted_as_any_text(signature: dict[str, Any]) -> None:
    assert parts_of({"type": "thinking", "thinking": f"I write to {EMAIL}.", **signature}) == [
        {"type": "thinking", "thinking": "I write to [gone].", **signature}
    ]


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "4111111111111111"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": f"A letter to {EMAIL}"}},
        {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": DATA}},
        {"type": "image_url", "image_url": {"url": f"https://example.org/?to={EMAIL}"}},
        {"type": "image_url", "image_url": {"url": f"data:image/png;name={EMAIL};base64,{DATA}"}},
        {"type": "input_audio", "input_audio": {"data": DATA, "format": "wav", "note": "x"}},
        {"type": "note", "signature": DATA, "data": DATA},
        {"type": "web_search_result", "encrypted_content": f"sk-proj-{'aB3' * 40}MRN123"},
    ],
)
def test_what_only_stands_in_such_a_field_is_text(part: dict[str, Any]) -> None:
    [shown] = parts_of(part)
    assert "[gone]" in json.dumps(shown)
    assert EMAIL not in json.dumps(shown)


def test_of_a_message_that_was_nothing_but_signed_thoughts_a_valid_one_is_left() -> None:
    thought = {"type": "thinking", "thinking": EMAIL, "signature": DATA}
    assert redacted(Message.assistant([thought])) == Message.assistant("[gone]")
    call = ToolCall("c1", "send", "{}")
    left = redacted(Message.assistant([thought], tool_calls=[call]))
    assert left == Message.assistant(tool_calls=[call])
    for message in (Message.assistant("[gone]"), left):
        assert redacted(message) is message


def test_what_is_left_of_an_answer_is_a_request_that_the_api_takes() -> None:
    thought = {"type": "thinking", "thinking": f"I write to {EMAIL}.", "signature": DATA}
    other = {"type": "thinking", "thinking": "I send it.", "signature": DATA}
    sent = {"type": "tool_use", "id": "toolu_1", "name": "mail", "input": {"to": EMAIL}}
    said = messages_from_anthropic(
        {"role": "assistant", "content": [thought, {"type": "text", "text": "I do."}, other, sent]}
    )
    turn = [redacted(message) for message in (Message.user("Hi"), *said, Message.tool("sent", "toolu_1"))]
    request = View(tuple(turn), 0, "v").to_anthropic()
    check_anthropic(request)
    assert request["messages"][1]["content"] == [
        {"type": "text", "text": "I do."},
        other,
        {**sent, "input": {"to": "[gone]"}},
    ]
