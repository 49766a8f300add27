"""The units of an extractive summary: sentences of messages, calls and results, each with who said it."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

from durable_memory.memory.authors import author_of
from durable_memory.memory.cutting import cut
from durable_memory.memory.tokens.framing import seen_of_document
from durable_memory.memory.types import LONG_TERM, Json, Message
from durable_memory.memory.types.repeated_calls import newest_row

_LONGEST: Final = 280
"""In characters. What has no end of a sentence for longer is cut at a word's end."""

_LARGEST_JSON: Final = 100_000
"""In characters. A larger argument or result is read as plain text; parsing it would take longer than the flush may."""

_ABBREVIATIONS: Final = ("[A-Z]", "[A-Z][a-z]", "Mrs", "Prof", r"e\.g", r"i\.e", "vs", "ca")
"""What has a full stop and ends no sentence: "J. Doe", "Dr. Okafor"."""

# A line end, a full stop of Chinese or Japanese, or a Latin one before a space. Only the first character is looked for
# everywhere, so that the search runs at the speed of a character class.
_END: Final = re.compile(
    r"[.!?\u2026\n\u3002\uff01\uff1f](?:(?<=[\n\u3002\uff01\uff1f])|[\"')\]\u201d\u2019\u00bb]*(?=\s))"
    + "".join(rf"(?<!\b{one}\.)" for one in _ABBREVIATIONS)
)
_LIST_NUMBER: Final = re.compile(r"\s*\d{1,2}\.")
_COUNTED: Final = re.compile(r"\u2026?(?P<least>at least )?(?P<times>\d{1,9}) like this: (?P<text>.+)")
"""What `Unit.counted` writes."""

_Said: TypeAlias = tuple[str, str, bool, int, bool]
"""Speaker, text, by_tool, times and at_least of a unit."""

_LABELLED: Final = re.compile(r"(?P<speaker>[^:\n]{1,60}): (?P<text>.+)")


class Unit(NamedTuple):
    """A sentence that the summary may take over as it is.

    earlier: it comes from a summary of an earlier flush. by_tool: a tool call or a result, not what somebody said.
    line: the same for units of one message, or of one line of an earlier summary. times: how many alike it stands for,
    itself included, more than one in earlier summaries only. at_least: it may be more. A tuple, since there are tens
    of thousands of them in a large flush.
    """

    position: int
    speaker: str
    text: str
    earlier: bool
    by_tool: bool = False
    line: int = 0
    times: int = 1
    at_least: bool = False

    def counted(self, times: int, *, at_least: bool) -> str:
        """Returns the text, and how many alike it stands for, or may stand for at least, if it is more than one."""
        if times == 1:
            return self.text
        return f"{'at least ' if at_least else ''}{times} like this: {self.text}"


class _WaitingCall(NamedTuple):
    """A call without a result so far. position: of its message."""

    position: int
    tool: str


def units_of(messages: Sequence[Message]) -> list[Unit]:
    """Returns the units of all messages, in order. Each message has at least one, whatever it holds."""
    units: list[Unit] = []
    for line, (earlier, said) in enumerate(_lines_of(messages)):
        for speaker, text, by_tool, times, at_least in said:
            units.append(Unit(len(units), speaker, text, earlier, by_tool, line, times, at_least))
    return units


def _lines_of(messages: Sequence[Message]) -> Iterator[tuple[bool, Iterator[_Said]]]:
    waiting: defaultdict[str, list[_WaitingCall]] = defaultdict(list)  # by id, which may come again
    for position, message in enumerate(messages):
        if message.section == LONG_TERM:
            yield from ((True, _of_summary(line)) for line in message.text.splitlines())
            continue
        for call in message.tool_calls:
            waiting[call.id].append(_WaitingCall(position, call.name))
        yield False, _of_message(message, _answered(waiting.get(message.tool_call_id or "")))


def _answered(waiting: list[_WaitingCall] | None) -> str:
    """Takes the call that a result goes to, as stores do, and returns its tool. waiting: those of its id."""
    if not waiting:
        return "tool"
    return waiting.pop(newest_row([call.position for call in waiting])).tool


def _of_summary(line: str) -> Iterator[_Said]:
    labelled = None if _COUNTED.fullmatch(line) else _LABELLED.fullmatch(line)
    speaker, text = labelled.group("speaker", "text") if labelled else ("", line)
    for sentence in _sentences(text):
        counted = _COUNTED.fullmatch(sentence)
        least, times, once = counted.group("least", "times", "text") if counted else (None, "1", sentence)
        yield speaker, once, False, max(1, int(times)), least is not None


def _of_message(message: Message, tool: str) -> Iterator[_Said]:
    """Yields what a message says. tool: the one that it is the result of, if it is a result."""
    speaker = _one_line(author_of(message) or message.role)
    if message.role == "tool":
        speaker = f"{_one_line(message.name or tool)} result"
    said = [sentence for text in _texts(message) for sentence in _sentences(text)]
    called = [
        f"calls {sentence}"
        for call in message.tool_calls
        for sentence in _sentences(f"{call.name} {_readable(call.arguments)}")
    ]
    for sentence in said if said or called else ("(empty)",):
        yield speaker, sentence, message.role == "tool", 1, False
    for sentence in called:
        yield speaker, sentence, True, 1, False


def _texts(message: Message) -> Iterator[str]:
    if isinstance(message.content, str):
        yield _readable(message.content) if message.role == "tool" else message.content
    else:
        for part in message.content or ():
            text = part.get("text")
            if part.get("type") == "document":
                yield from (seen or "[document]" for seen in seen_of_document(part))
            else:
                yield text if isinstance(text, str) else f"[{part.get('type')}]"


def _sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a text, each on one line; several pieces of one that is too long, nothing if blank."""
    start = 0
    for end in [*[match.end() for match in _END.finditer(text)], len(text)]:
        # "1. First the invoice": a number alone says nothing.
        if end < len(text) and text[end - 2].isdigit() and _LIST_NUMBER.fullmatch(text, start, end):
            continue
        sentence, start = text[start:end], end
        if len(sentence) > _LONGEST:
            yield from filter(None, map(_one_line, _pieces(sentence)))
        elif line := _one_line(sentence):
            yield line


def _pieces(sentence: str) -> Iterator[str]:
    start = 0
    while len(sentence) - start > _LONGEST:
        piece = cut(sentence[start : start + _LONGEST + 1], _LONGEST)
        # At the end of a clause, else of a word, if there is one in the second half.
        ends = (piece.rfind(mark, _LONGEST // 2) for mark in ("; ", ", ", " "))
        end = next((end + 1 for end in ends if end >= 0), len(piece))
        yield piece[:end]
        start += end
    yield sentence[start:]


def _one_line(text: str) -> str:
    """Returns the text with single spaces only."""
    if "  " not in text and text.isprintable():
        return text.strip(" ")  # most texts, at a quarter of the cost: a space is the only printable separator
    return " ".join(text.split())


def _readable(text: str) -> str:
    """Returns JSON as lines of `path: value`, which can be cut into units; any other text as it is."""
    if len(text) > _LARGEST_JSON or text[:1] not in ("{", "["):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return "; ".join(_leaves(value)) or text


def _leaves(value: Json) -> Iterator[str]:
    # A stack of its own: the depth of user data must not end in a RecursionError.
    stack: list[tuple[str, Json]] = [("", value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, dict):
            stack.extend((f"{path}.{key}" if path else key, child) for key, child in reversed(item.items()))
        elif isinstance(item, list):
            stack.extend((path, child) for child in reversed(item))
        else:
            shown = item if isinstance(item, str) else json.dumps(item)
            yield f"{path}: {shown}" if path else shown
