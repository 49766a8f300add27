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


@st.composite
def _group(draw: st.DrawFn) -> Sequence[Message]:
    """An assistant's tool calls with all their results, in any order; the ids may repeat."""
    calls = draw(st.lists(_CALL, min_size=1, max_size=3))
    opening = Message.assistant(draw(st.none() | _TEXT), tool_calls=calls)
    content = st.text() | st.lists(_PART, min_size=1, max_size=2)
    return [opening, *(Message.tool(draw(content), call.id) for call in draw(st.permutations(calls)))]


_ONE = (
    st.builds(Message.user, _TEXT | _RICH, name=st.none() | _TEXT)
    | st.builds(Message.assistant, _TEXT | st.lists(_PART, min_size=1, max_size=2), name=st.none() | _TEXT)
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
