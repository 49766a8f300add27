"""Redaction reaches every text of a message, and leaves what holds the message together."""

from __future__ import annotations

import json
from typing import Any

import pytest

from durable_memory.memory.privacy.messages import redact_message, without_kinds
from durable_memory.memory.privacy.text_redactor import TextRedactor
from durable_memory.memory.privacy.walk import Walk
from durable_memory.memory.types import Message, ToolCall

EMAIL = "ada@example.com"
REDACTOR = TextRedactor([r"MRN-\d+"], ["email", "phone", "credit_card", "us_ssn", "api_key"], "[redacted]")


def redacted(message: Message) -> Message:
    return redact_message(message, Walk(REDACTOR))


def arguments(text: str) -> str:
    call = ToolCall("call-1", "send", text)
    return redacted(Message.assistant(tool_calls=[call])).tool_calls[0].arguments


def test_every_text_of_a_message_is_redacted() -> None:
    message = Message(
        "assistant",
        (
            {"type": "text", "text": f"to {EMAIL}"},
            {"type": "note", EMAIL: [EMAIL, {"deep": [EMAIL]}], "url": {"url": f"mailto:{EMAIL}"}},
            {"type": EMAIL},
        ),
        name=EMAIL,
        agent=EMAIL,
        tool_calls=(ToolCall("call-1", EMAIL, json.dumps({EMAIL: EMAIL, "n": [EMAIL]})),),
        metadata={"note": EMAIL, EMAIL: 1, "deep": {"deeper": [EMAIL, {EMAIL: EMAIL}]}},
    )
    clean = redacted(message)
    assert EMAIL not in json.dumps(clean.to_dict())
    assert clean.text == "to [redacted]"
    assert json.loads(clean.tool_calls[0].arguments) == {"[redacted]": "[redacted]", "n": ["[redacted]"]}


def test_role_and_ids_of_calls_stay_as_they_are() -> None:
    call = redacted(Message.assistant(tool_calls=[ToolCall(EMAIL, "send", "{}")]))
    result = redacted(Message.tool("sent", EMAIL))
    assert (call.tool_calls[0].id, result.tool_call_id) == (EMAIL, EMAIL)
    assert (call.role, result.role) == ("assistant", "tool")


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo=", "detail": "low"}}
PAPER = {"type": "document", "source": {"type": "base64", "media_type": "text/plain", "data": "JVBERi0="}}


def test_a_pattern_that_matches_what_apis_call_a_part_leaves_it_a_part() -> None:
    schema = {"type": "object", "type_of": {"type": ["string", "null"]}}
    sent: list[dict[str, Any]] = [{"type": "text", "text": "an image"}, PICTURE, PAPER, schema]
    redactor = TextRedactor(["image", "te?xt", "url", "type", "object", "base64$"], [], "[redacted]")
    assert redact_message(Message.user(sent), Walk(redactor)).content == (
        {"type": "text", "text": "an [redacted]"},
        {"type": "image_url", "image_url": {"url": "data:[redacted]/png;base64,iVBORw0KGgo=", "detail": "low"}},
        {"type": "document", "source": {"type": "base64", "media_type": "[redacted]/plain", "data": "JVBERi0="}},
        {"type": "[redacted]", "[redacted]_of": {"type": ["string", "null"]}},
    )


def test_a_message_without_secrets_is_the_same_message() -> None:
    message = Message.user([{"type": "text", "text": "hello"}], name="ada", metadata={"order": 4711, "list": [1, 2.5]})
    assert redacted(message) is message


def test_arguments_stay_valid_json_as_they_were_written() -> None:
    written = '{ "to" : "ada\\u0040example.com",\n "n":1.50, "big": 123456789012345678901234567890, "ok":true}'
    assert arguments(written) == written.replace("ada\\u0040example.com", "[redacted]")
    assert arguments('{"a":"x","a":"ada@example.com"}') == '{"a":"x","a":"[redacted]"}'


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('{"card": 4111111111111111}', '{"card": "[redacted]"}'),
        ('{"ssn": 536228731, "order": 536228731}', '{"ssn": "[redacted]", "order": 536228731}'),
        ('{"ssns": ["536228731", 536228732]}', '{"ssns": ["[redacted]", "[redacted]"]}'),
        ('{"phones": [{"type": "home", "value": "5550104"}]}', '{"phones": [{"type": "home", "value": "[redacted]"}]}'),
        (
            '{"ssn": {"number": 536228731}, "number": 536228731}',
            '{"ssn": {"number": "[redacted]"}, "number": 536228731}',
        ),
        (
            '{"ssn": {"0": {"raw": "536228731"}, "order": 536228731}}',
            '{"ssn": {"0": {"raw": "[redacted]"}, "order": 536228731}}',
        ),
        ('{"name": "ssn", "value": "536228731"}', '{"name": "ssn", "value": "[redacted]"}'),
        ('[{"value": "536228731", "label": "SSN"}]', '[{"value": "[redacted]", "label": "SSN"}]'),
        ('[{"system": "phone", "value": "5550104"}]', '[{"system": "phone", "value": "[redacted]"}]'),
        ('{"name": "phone_number", "values": ["5550104"]}', '{"name": "phone_number", "values": ["[redacted]"]}'),
        (
            '{"phones": [{"name": "x", "type": "home", "value": "5550104"}]}',
            '{"phones": [{"name": "x", "type": "home", "value": "[redacted]"}]}',
        ),
        (
            '{"name": "x-api-key", "value": "0a1b2c3d4e5f6a7b8c9d"}',
            '{"name": "x-api-key", "value": "[redacted]"}',
        ),
        *(
            (pair, pair)
            for pair in (
                '{"name": "mobile", "value": 5550104}',
                '{"name": "mobile", "values": [5550104, 5550105]}',
                '{"name": "version", "value": "1.2.3.4"}',
                '{"name": "order", "value": "5550104"}',
                '[{"name": "phone"}, {"value": "5550104"}]',
                '{"name": "phone", "order": {"value": "5550104"}}',
            )
        ),
        ('{"api_keys": [["0a1b2c3d4e5f6a7b8c9d"]]}', '{"api_keys": [["[redacted]"]]}'),
        ('{"MRN-1": 1, "MRN-2": 2}', '{"[redacted]": 1, "[redacted]#2": 2}'),
        ('{"body": "{\\"to\\": \\"ada@example.com\\"}"}', '{"body": "{\\"to\\": \\"[redacted]\\"}"}'),
        ('{"to": "ada@example.com"', '{"to": "[redacted]"'),
        ('{"to": "ada@example.com", "text": "hi \\ud83d"}', '{"to": "[redacted]", "text": "hi \\ud83d"}'),
        ('{"\\ud83d": "\\udc97 ada@example.com"}', '{"\\ud83d": "\ufffd [redacted]"}'),
        ("to ada@example.com", "to [redacted]"),
        ("[" * 3000 + '"ada@example.com"' + "]" * 3000, "[" * 3000 + '"[redacted]"' + "]" * 3000),
    ],
)
def test_arguments_of_any_form_are_redacted(written: str, expected: str) -> None:
    assert arguments(written) == expected


def test_a_label_reaches_into_the_values_under_it_in_metadata_too() -> None:
    metadata = {
        "phones": [{"type": "home", "value": "5550104"}],
        "ssns": {"0": [536228731]},
        "order": {"number": 5550104},
        "form": [{"name": "ssn", "value": "536228731"}, {"name": "mobile", "value": 5550104}],
        "mixed": {"name": "mobile", "values": ["5550104", 5550105, ["5550106"]]},
    }
    expected = {
        "phones": [{"type": "home", "value": "[redacted]"}],
        "ssns": {"0": ["[redacted]"]},
        "order": {"number": 5550104},
        "form": [{"name": "ssn", "value": "[redacted]"}, {"name": "mobile", "value": 5550104}],
        "mixed": {"name": "mobile", "values": ["[redacted]", 5550105, ["[redacted]"]]},
    }
    assert redacted(Message.user("hi", metadata=metadata)).metadata == expected
    assert json.loads(arguments(json.dumps(metadata))) == expected, "as JSON text, too"


def test_a_pattern_for_raw_json_takes_the_values_that_it_reaches() -> None:
    walk = Walk(TextRedactor([r'"pin":\s*"?\d{4}'], [], "[redacted]"))
    text = walk.text('{"pin": 4711, "other": 4711}')
    assert json.loads(text) == {"pin": "[redacted]", "other": 4711}


def test_no_value_is_lost_where_keys_become_the_same() -> None:
    metadata: dict[str, Any] = {"a@example.com": 1, "b@example.com": 2, "[redacted]": 3, "c@example.com": 4}
    clean = redacted(Message.user("hi", metadata=metadata)).metadata
    assert sorted(map(str, clean.values())) == ["1", "2", "3", "4"]
    assert redacted(Message.user("hi", metadata=clean)).metadata == clean


def test_secrets_are_counted_by_kind() -> None:
    walk = Walk(REDACTOR)
    redact_message(Message.user(f"{EMAIL} {EMAIL} MRN-1", metadata={"card": "4111 1111 1111 1111"}), walk)
    assert walk.found == {"email": 2, "pattern": 1, "credit_card": 1}


def test_kinds_that_are_not_kept_are_left_out_and_calls_go_with_their_results() -> None:
    call = ToolCall("call-1", "look_up", "{}")
    messages = (
        Message.user("where?"),
        Message.assistant("I look it up.", tool_calls=[call]),
        Message.assistant(tool_calls=[ToolCall("call-2", "look_up", "{}")]),
        Message.tool("Ghent", "call-1"),
        Message.assistant("In Ghent."),
    )
    kept = without_kinds(messages, {"tool"})
    assert [(m.role, m.text, m.tool_calls) for m in kept] == [
        ("user", "where?", ()),
        ("assistant", "I look it up.", ()),
        ("assistant", "In Ghent.", ()),
    ]
    assert [m.role for m in without_kinds(messages, {"user"})] == ["assistant", "assistant", "tool", "assistant"]
