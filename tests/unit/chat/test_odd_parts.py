"""What an append took can always be shown: no part is so odd that a conversation with it can no longer be sent."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from durable_memory import Message, ToolCall
from durable_memory.memory.types import MEDIA_PARTS, TEXT_PARTS
from tests.unit.chat.conversations import text, view_of
from tests.unit.chat.sdk_types import check_anthropic, check_openai, check_responses

_KINDS = sorted({*MEDIA_PARTS, *TEXT_PARTS, "refusal", "thinking", "document", "search_result", "strange", ""})
_FIELDS = sorted(
    {"text", "refusal", "image_url", "url", "file", "file_id", "file_url", "file_data", "filename", "detail", "source"}
    | {"data", "content", "title", "context", "media_type", "image", "audio", "input_audio", "thinking", "type"}
)
_LEAVES = st.sampled_from([None, True, 0, "", "x", "https://example.com/a", "data:application/pdf;base64,JVBERi0="])
_TYPED = st.sampled_from(["base64", "text", "content", "url", "image_url", "file", "document", "input_image"])


def _objects(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(_FIELDS), values | _TYPED, max_size=4)


_VALUES = st.recursive(_LEAVES, lambda inner: st.lists(inner, max_size=2) | _objects(inner), max_leaves=6)
_PARTS = st.builds(lambda kind, fields: {**fields, "type": kind}, st.sampled_from(_KINDS), _objects(_VALUES))
_MESSAGES = st.builds(
    lambda parts: [
        Message.system(parts),
        Message.user(parts),
        Message.assistant(parts, tool_calls=[ToolCall("call_1", "track")]),
        Message.tool(parts, "call_1"),
    ],
    st.lists(_PARTS, min_size=1, max_size=3),
)


@given(_MESSAGES)
def test_every_part_that_an_append_takes_is_shown_in_every_form(messages: list[Message]) -> None:
    view = view_of(*messages)
    for made in (view.to_openai(), view.to_openai_responses(), view.to_anthropic()):
        assert "call_1" in json.dumps(made)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "file", "file_id": "file-1"},
        {"type": "file", "source_type": "base64", "mime_type": "application/pdf", "data": "QUJD"},
        {"type": "file", "file": None},
        {"type": "file", "file": {"filename": "bill.pdf"}},
        {"type": "image_url", "file_id": "file-1"},
        {"type": "image_url", "image_url": None},
        {"type": "image_url", "image_url": {"detail": "low"}},
        {"type": "input_image", "image_url": {"detail": "low"}},
        {"type": "input_file", "filename": "bill.pdf"},
    ],
)
def test_a_picture_or_file_that_is_none_is_sent_as_its_type(part: dict[str, Any]) -> None:
    view = view_of(Message.user([text("See"), part]))
    named = f"[{part['type']}]"
    assert view.to_openai_responses()[0]["content"][1]["text"].startswith(named)
    assert view.to_openai()[0]["content"][1]["text"].startswith(named)
    assert view.to_anthropic()["messages"][0]["content"][1]["text"].startswith(named)
    check_responses(view.to_openai_responses())
    check_openai(view.to_openai())
    check_anthropic(view.to_anthropic())
