"""A summariser with an input limit never sees more than that, and everything reaches it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from durable_memory.memory.errors import MemorySummaryRejected
from durable_memory.memory.flushing.json_lines import line_of
from durable_memory.memory.flushing.map_reduce import summarize_in_parts
from durable_memory.memory.flushing.rule_based.summarizer import RuleBasedSummarizer
from durable_memory.memory.flushing.summarizer import SummaryRequest
from durable_memory.memory.flushing.summary import covered, earlier_summary
from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.tokens.estimating import ByteCounter
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import Message, ToolCall

_COUNTER = TiktokenCounter()
_WINDOW = 2_000


class Model:
    """Stands in for a model with a small context window: it refuses a larger request, as a provider does."""

    def __init__(self, write: Callable[[SummaryRequest], Awaitable[str]] | None = None) -> None:
        self._write = write or RuleBasedSummarizer().summarize
        self.max_input_tokens = _WINDOW
        self.seen: list[SummaryRequest] = []

    async def summarize(self, request: SummaryRequest) -> str:
        self.seen.append(request)
        if sum(count.tokens for count in await _COUNTER.count(request.messages)) > self.max_input_tokens:
            raise ValueError("context_length_exceeded")
        return await self._write(request)


def _request(*messages: Message, tokens: int = 150) -> SummaryRequest:
    return SummaryRequest(messages, tokens, _COUNTER)


async def test_what_fits_is_summarised_at_once() -> None:
    model = Model()
    request = _request(*(Message.user(f"Item {i}") for i in range(50)))
    await summarize_in_parts(model, request)
    assert model.seen == [request]


async def test_many_times_the_window_is_summarised_in_parts_and_then_their_summaries() -> None:
    model = Model()
    messages = tuple(
        Message.user(f"Order {i} went to depot {i * 37}. " + "Nothing else happened. " * 20) for i in range(600)
    )
    total = sum(count.tokens for count in await _COUNTER.count(messages))
    assert total > 20 * _WINDOW
    text = await summarize_in_parts(model, _request(*messages))
    assert (await _COUNTER.count_text(text)).tokens <= 150
    first_round = [request.messages for request in model.seen if request.messages[0].section != "long_term"]
    assert tuple(message for part in first_round for message in part) == messages
    assert covered(model.seen[-1].messages) == 600
    assert model.seen[-1].max_tokens == 150


async def test_one_message_larger_than_the_window_is_read_in_pieces() -> None:
    model = Model()
    words = " ".join(f"word{i}" for i in range(5_000))
    await summarize_in_parts(model, _request(Message.user(words, name="Ana"), Message.user("Bye")))
    pieces = [message for request in model.seen for message in request.messages if message.name == "Ana"]
    assert len(pieces) > 2
    assert "".join(piece.text for piece in pieces) == words


async def test_a_call_with_arguments_larger_than_the_window_is_read_in_pieces() -> None:
    model = Model()
    arguments = '{"rows": "' + "a1 " * 20_000 + 'END"}'
    message = Message.assistant("Storing the rows.", tool_calls=[ToolCall("c1", "store_rows", arguments)])
    await summarize_in_parts(model, _request(message))
    read = "".join(m.text for request in model.seen for m in request.messages if m.section != "long_term")
    assert "Storing the rows." in read
    assert "store_rows" in read
    assert arguments in read


_PICTURE = "iVBORw0KGgo" + "A" * 400_001
_PICTURES = (
    {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{_PICTURE}"}},
    {"type": "image", "title": "map", "source": {"type": "base64", "media_type": "image/png", "data": _PICTURE}},
    {"type": "file", "file": {"filename": "bill.pdf", "file_data": f"data:application/pdf;base64,{_PICTURE}"}},
    {"type": "web_fetch_tool_result", "content": [{"type": "image", "source": {"type": "base64", "data": _PICTURE}}]},
    {"type": "input_image", "image_url": f"data:image/png;base64,{_PICTURE}"},
    {"type": "image_url", "image_url": f"data:image/png;base64,{_PICTURE}"},
    {"type": "image_url", "image_url": {"url": f"data:image/PNG;base64,{_PICTURE}"}},
    {"type": "image_url", "image_url": {"url": f"data:image/png;name=depot.png;base64,{_PICTURE}"}},
    {"type": "a_part_of_tomorrow", "shown": f"data:image/svg+xml;utf8,{_PICTURE}"},
    {"type": "file", "file": {"filename": "bill.pdf", "file_data": _PICTURE}},
    {"type": "input_file", "filename": "bill.pdf", "file_data": _PICTURE},
    {"type": "audio", "audio": {"id": "audio_1", "data": _PICTURE}},
    {"type": "input_audio", "input_audio": {"data": _PICTURE, "format": "wav", "rate": 8000}},
    {"type": "video", "frames": [_PICTURE, _PICTURE]},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _PICTURE.replace("A", "_-")}},
    {
        "type": "image",
        "source": {"type": "base64", "data": "\r\n".join(_PICTURE[at : at + 76] for at in range(0, 400_000, 76))},
    },
)


@pytest.mark.parametrize("picture", _PICTURES, ids=lambda part: str(part["type"]))
async def test_a_large_picture_is_one_thing_to_tell_of_and_no_text_to_read_in_pieces(picture: dict[str, Any]) -> None:
    message = Message.user([{"type": "text", "text": "Is this the depot in Ghent?"}, picture])
    parts: list[SummaryRequest] = []

    async def write(request: SummaryRequest) -> str:
        parts.append(request)
        return "They ask for the depot in Ghent."

    model = Model(write)
    model.max_input_tokens = 100_000  # of which a picture in Base64 would be many
    await summarize_in_parts(model, _request(message))
    assert [request.messages for request in parts] == [(message,)]
    line = line_of(message)
    assert len(line) < 300
    assert picture["type"] in line
    assert "Ghent" in line


async def test_what_a_part_says_in_other_fields_is_told() -> None:
    note = {"type": "document", "source": {"type": "text", "data": "The gate code of the depot is 4711."}}
    thought = {"type": "thinking", "thinking": "They want the gate.", "signature": "QUFB" * 200}
    line = line_of(Message.assistant([note, thought]))
    assert "4711" in line
    assert "They want the gate." in line
    assert "QUFB" not in line


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ({"type": "file", "file": {"file_data": "A" * 400, "filename": "a" * 250 + ".pdf"}}, "a" * 250 + ".pdf"),
        (
            {"type": "image_url", "image_url": {"url": f"https://example.com/{'a' * 400}"}},
            f"https://example.com/{'a' * 400}",
        ),
        ({"type": "audio", "audio": {"transcript": "The gate code is 4711. " * 20}}, "The gate code is 4711. " * 20),
        ({"type": "audio", "audio": {"transcript": "門の番号は四七一一" * 40}}, "門の番号は四七一一" * 40),
        ({"type": "document", "source": {"type": "text", "data": "gate,4711;" * 40}}, "gate,4711;" * 40),
        ({"type": "note", "held": {"type": ["file"], "words": "gate,4711;" * 40}}, "gate,4711;" * 40),
        ({"type": "search_result", "note": "data: the gate, and its code"}, "data: the gate, and its code"),
    ],
)
async def test_of_media_is_told_what_can_be_read(part: dict[str, Any], told: str) -> None:
    line = line_of(Message.user([part]))
    assert told in line
    assert "AAAA" not in line


async def test_a_summariser_that_does_not_shorten_is_rejected_at_the_first_part() -> None:
    async def echo(request: SummaryRequest) -> str:
        return "\n".join(message.text for message in request.messages)

    model = Model(echo)
    with pytest.raises(MemorySummaryRejected, match="at most 1000 are allowed"):
        await summarize_in_parts(model, _request(*(Message.user("words and more words " * 60) for _ in range(40))))
    assert len(model.seen) == 1


async def test_parts_whose_summaries_grow_as_lines_of_json_come_to_an_end() -> None:
    asked = 0

    async def quoting(request: SummaryRequest) -> str:
        nonlocal asked
        asked += 1
        assert asked < 300
        return '\\"' * (request.max_tokens * 3 // 2)  # three bytes a token

    model = Model(quoting)
    model.max_input_tokens = 256
    messages = tuple(Message.user(f"Parcel {number} left for Ghent.") for number in range(100))
    with pytest.raises(MemorySummaryRejected, match="as a line of JSON, at most 128"):
        await summarize_in_parts(model, SummaryRequest(messages, 100, ByteCounter()))


async def test_summaries_of_parts_may_quote() -> None:
    async def quoting(_: SummaryRequest) -> str:
        return 'Anna wrote "C:\\depot\\list" and left.'

    model = Model(quoting)
    model.max_input_tokens = 256
    messages = tuple(Message.user(f"Parcel {number} left for Ghent.") for number in range(100))
    assert await summarize_in_parts(model, SummaryRequest(messages, 100, ByteCounter())) == await quoting(
        _request(*messages)
    )
    rounds = [len(request.messages) for request in model.seen]
    assert max(rounds[-2:]) > 1


class Growing(TiktokenCounter):
    """Counts the same texts as twice as many tokens each time, as no counter should."""

    times = 1

    async def count_texts(self, texts: Sequence[str]) -> list[Count]:
        """See TokenCounter."""
        if len(texts) > 1:
            self.times *= 2
        return [Count(count.tokens * self.times) for count in await super().count_texts(texts)]


async def test_a_counter_that_changes_its_mind_keeps_no_round_going() -> None:
    async def says(_: SummaryRequest) -> str:
        return "Parcels left for Ghent."

    model = Model(says)
    model.max_input_tokens = 256
    messages = tuple(Message.user(f"Parcel {number} left for Ghent.") for number in range(100))
    with pytest.raises(MemorySummaryRejected, match=r"fill \d+ parts again"):
        await summarize_in_parts(model, SummaryRequest(messages, 100, Growing()))


async def test_a_summariser_that_reads_next_to_nothing_is_rejected() -> None:
    model = Model()
    model.max_input_tokens = 63
    with pytest.raises(MemorySummaryRejected, match="64 at least"):
        await summarize_in_parts(model, _request(Message.user("Hi")))


async def test_the_smallest_window_comes_to_an_end() -> None:
    model = Model()
    model.max_input_tokens = 64
    text = await summarize_in_parts(model, _request(*(Message.user(f"Item {i} costs {i * 7}.") for i in range(300))))
    assert text.strip()


async def test_an_empty_part_is_rejected() -> None:
    async def nothing(_: SummaryRequest) -> str:
        return " "

    with pytest.raises(MemorySummaryRejected, match="empty"):
        await summarize_in_parts(Model(nothing), _request(*(Message.user("words " * 500) for _ in range(10))))


async def test_half_of_a_surrogate_pair_in_a_part_is_repaired() -> None:
    async def broken(_: SummaryRequest) -> str:
        return "They \ud83d talked"

    model = Model(broken)
    text = await summarize_in_parts(model, _request(*(Message.user("words " * 500) for _ in range(10))))
    assert text == "They \ufffd talked"
    assert {message.text for message in model.seen[-1].messages} == {text}


async def test_earlier_summaries_keep_their_count_through_the_parts() -> None:
    model = Model()
    earlier = earlier_summary("old", 90)
    await summarize_in_parts(model, _request(earlier, *(Message.user("words " * 500) for _ in range(10))))
    assert covered(model.seen[-1].messages) == 100
