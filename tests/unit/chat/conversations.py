"""Conversations as views show them: what models are asked with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from durable_memory import Message, ToolCall, View

PICTURE: dict[str, Any] = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
LINKED: dict[str, Any] = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
PAPER: dict[str, Any] = {
    "type": "file",
    "file": {"file_data": "data:application/pdf;base64,JVBERi0=", "filename": "bill.pdf"},
}


def view_of(*messages: Message) -> View:
    return View(messages=messages, tokens=0, version="absent")


def summary(text: str) -> Message:
    return Message.system(text, section="long_term")


_TEXT = st.text(min_size=1)
_PART: st.SearchStrategy[dict[str, Any]] = st.builds(lambda text: {"type": "text", "text": text}, _TEXT)
_RICH = st.lists(_PART | st.sampled_from([PICTURE, LINKED, PAPER]), min_size=1, max_size=3)
_ARGUMENTS = st.sampled_from(
    ["{}", "", '{"order": "A-17"}', "not json", "[1]", '{"price": NaN}', "[" * 100_000, "null"]
)
_CALL = st.builds(ToolCall, st.sampled_from(["call_1", "call_2", "functions.track:0", "ä"]), _TEXT, _ARGUMENTS)


def searched(search: str) -> list[dict[str, Any]]:
    """A search that Anthropic's service made, and what it found."""
    call = {"type": "server_tool_use", "id": search, "name": "web_search", "input": {"query": "Lyon"}}
    error = {"type": "web_search_tool_result_error", "error_code": "unavailable"}
    return [call, {"type": "web_search_tool_result", "tool_use_id": search, "content": error}]


_CITED: dict[str, Any] = {
    "type": "page_location",
    "cited_text": "a",
    "document_index": 0,
    "document_title": None,
    "start_page_number": 1,
    "end_page_number": 2,
    "file_id": None,
}
_ANSWERED: st.SearchStrategy[list[dict[str, Any]]] = st.one_of(
    _PART.map(lambda part: [part]),
    _TEXT.map(lambda text: [{"type": "text", "text": text, "citations": [dict(_CITED)]}]),
    st.builds(
        lambda search, part: searched(search)[part],
        st.sampled_from(["srvtoolu_1", "srvtoolu_2"]),
        st.sampled_from([slice(2), slice(1), slice(1, 2)]),
    ),
    st.sampled_from(
        [
            [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}],
            [{"type": "redacted_thinking", "data": "EmwK"}],
            [{"type": "output_text", "text": "Hello.", "annotations": []}],
            [PICTURE],
        ]
    ),
)
"""What a model answered, whole or cut off: an eviction or the end of its tokens may have left half of it."""
_ANSWER = st.lists(_ANSWERED, min_size=1, max_size=3).map(lambda blocks: [part for block in blocks for part in block])


@st.composite
def _group(draw: st.DrawFn) -> Sequence[Message]:
    """An assistant's tool calls with all their results, in any order; the ids may repeat."""
    calls = draw(st.lists(_CALL, min_size=1, max_size=3))
    opening = Message.assistant(draw(st.none() | _TEXT | _ANSWER), tool_calls=calls)
    content = st.text() | st.lists(_PART, min_size=1, max_size=2)
    return [opening, *(Message.tool(draw(content), call.id) for call in draw(st.permutations(calls)))]


_ONE = (
    st.builds(Message.user, _TEXT | _RICH, name=st.none() | _TEXT)
    | st.builds(Message.assistant, _TEXT | _ANSWER, name=st.none() | _TEXT)
    | st.builds(lambda text: Message.assistant([{"type": "refusal", "refusal": text}]), _TEXT)
)
VIEWS: st.SearchStrategy[View] = st.builds(
    lambda system, groups: view_of(*system, *(message for group in groups for message in group)),
    st.lists(st.builds(Message.system, _TEXT) | st.builds(summary, _TEXT), max_size=3),
    st.lists(_group() | _ONE.map(lambda message: [message]), max_size=6),
)
"""Views as a memory shows them: system and summaries first, groups whole."""

PNG = {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}
"""A source of a picture, of Anthropic."""


def text(words: str) -> dict[str, Any]:
    """A text block."""
    return {"type": "text", "text": words}
