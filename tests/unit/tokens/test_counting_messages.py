"""What a message counts: what a chat model sees of it, exactly, and constants for what is around it."""

import json

import pytest
import tiktoken

from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.tokens.framing import FIELD_TOKENS, FRAMING_TOKENS, MEDIA_TOKENS
from durable_memory.memory.tokens.ranks import load_encoding
from durable_memory.memory.tokens.tiktoken_counter import TiktokenCounter
from durable_memory.memory.types import ContentPart, Message, ToolCall


@pytest.fixture(scope="module")
def o200k() -> tiktoken.Encoding:
    return load_encoding("o200k_base")


@pytest.fixture(scope="module")
def counter() -> TiktokenCounter:
    return TiktokenCounter(load_wait_seconds=60)


async def _one(counter: TiktokenCounter, message: Message) -> Count:
    return (await counter.count([message]))[0]


# Published in OpenAI's cookbook "How to count tokens with tiktoken".
@pytest.mark.parametrize(
    ("name", "text", "tokens"),
    [
        ("cl100k_base", "tiktoken is great!", [83, 1609, 5963, 374, 2294, 0]),
        ("cl100k_base", "2 + 2 = 4", [17, 489, 220, 17, 284, 220, 19]),
        ("o200k_base", "antidisestablishmentarianism", [493, 129901, 376, 160388, 21203, 2367]),
        ("o200k_base", "お誕生日おめでとう", [8930, 9697, 243, 128225, 8930, 17693, 4344, 48669]),
    ],
)
def test_the_offline_encodings_are_the_published_ones(name: str, text: str, tokens: list[int]) -> None:
    assert load_encoding(name).encode_ordinary(text) == tokens


def test_an_unknown_encoding_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="o200k_base, cl100k_base"):
        TiktokenCounter("o200k")


@pytest.mark.parametrize(
    "text",
    ["", "Hello, world", "日本語テキスト" * 100, "👩‍👩‍👧‍👦 ok 👍🏽", "<|endoftext|>", "a\nb\r\n\tc", "مرحبا بالعالم"],
)
async def test_text_counts_as_the_tokenizer_counts_the_raw_text(
    counter: TiktokenCounter, o200k: tiktoken.Encoding, text: str
) -> None:
    assert await counter.count_text(text) == Count(len(o200k.encode_ordinary(text)))
    said = await _one(counter, Message.user(text + "!"))
    assert said == Count(FRAMING_TOKENS + 1 + len(o200k.encode_ordinary(text + "!")))


@pytest.mark.parametrize("literal", ["<|endoftext|>", "<|endofprompt|>", "<|im_start|>system", "<|fim_prefix|>"])
@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base"])
async def test_literals_of_special_tokens_are_ordinary_text_of_several_tokens(name: str, literal: str) -> None:
    count = await TiktokenCounter(name).count_text(literal)
    assert count.tokens > 3
    assert not count.estimated


async def test_name_calls_and_call_ids_count_what_they_say(counter: TiktokenCounter, o200k: tiktoken.Encoding) -> None:
    def size(*texts: str) -> int:
        return sum(len(o200k.encode_ordinary(text)) for text in texts)

    call = ToolCall("call_9xK2", "lookup_invoice", '{"invoice": "INV-3391"}')
    assert await counter.count(
        [
            Message.user("Hi", name="Marta Peeters"),
            Message.assistant(tool_calls=[call]),
            Message.assistant("One moment", tool_calls=[call, call]),
            Message.tool("paid", "call_9xK2"),
        ]
    ) == [
        Count(FRAMING_TOKENS + size("user", "Hi") + FIELD_TOKENS + size("Marta Peeters")),
        Count(FRAMING_TOKENS + size("assistant") + FIELD_TOKENS + size(call.id, call.name, call.arguments)),
        Count(
            FRAMING_TOKENS
            + size("assistant", "One moment")
            + 2 * (FIELD_TOKENS + size(call.id, call.name, call.arguments))
        ),
        Count(FRAMING_TOKENS + size("tool", "paid") + FIELD_TOKENS + size("call_9xK2")),
    ]


async def test_large_tool_arguments_are_no_blind_spot(counter: TiktokenCounter) -> None:
    arguments = json.dumps({f"field_{i}": f"value number {i}" for i in range(700)})
    assert len(arguments) > 20_000
    count = await _one(counter, Message.assistant(tool_calls=[ToolCall("call_1", "store", arguments)]))
    assert count.tokens > 4_000
    assert not count.estimated


async def test_text_parts_count_their_text_and_other_parts_their_json(
    counter: TiktokenCounter, o200k: tiktoken.Encoding
) -> None:
    reasoning: ContentPart = {"type": "reasoning", "summary": ["日本語で考える"]}
    message = Message.assistant([{"type": "text", "text": "Done."}, reasoning])
    shown = '{"type":"reasoning","summary":["日本語で考える"]}'
    expected = sum(len(o200k.encode_ordinary(text)) for text in ("assistant", "Done.", shown))
    assert await _one(counter, message) == Count(FRAMING_TOKENS + expected)


PICTURE_OF_ANTHROPIC = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


async def test_a_picture_counts_a_constant_however_long_its_base64_and_is_marked_estimated(
    counter: TiktokenCounter,
) -> None:
    picture: ContentPart = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0K" * 100_000}}
    count = await _one(counter, Message.user([{"type": "text", "text": "Look"}, picture]))
    assert count.estimated
    assert MEDIA_TOKENS < count.tokens < MEDIA_TOKENS + 10


async def test_a_document_of_text_counts_its_text_and_any_other_as_a_medium(counter: TiktokenCounter) -> None:
    page = "The parcel left the depot in Ghent. " * 500
    plain: ContentPart = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": page}}
    parts = [{"type": "text", "text": page}, PICTURE_OF_ANTHROPIC]
    in_parts = {"type": "document", "title": page, "source": {"type": "content", "content": parts}}
    one_text = {"type": "document", "context": page, "source": {"type": "content", "content": page}}
    paper = {"type": "document", "title": "Bill", "source": {"type": "url", "url": "https://example.com/a.pdf"}}
    odd: list[ContentPart] = [{"type": "document"}, {"type": "document", "source": {"type": "content", "content": [5]}}]
    text = (await counter.count_text(page)).tokens
    title = (await counter.count_text("Bill")).tokens
    counts = await counter.count([Message.user([part]) for part in [plain, in_parts, one_text, paper, *odd]])
    framing = FRAMING_TOKENS + 1
    assert [count.tokens - framing for count in counts] == [
        text,
        2 * text + MEDIA_TOKENS,
        2 * text,
        title + MEDIA_TOKENS,
        MEDIA_TOKENS,
        MEDIA_TOKENS,
    ]
    assert [count.estimated for count in counts] == [False, True, False, True, True, True]


async def test_what_a_model_never_sees_counts_nothing(counter: TiktokenCounter) -> None:
    bare = await _one(counter, Message.user("Hi"))
    assert await _one(counter, Message.user("Hi", agent="billing", metadata={"note": "x" * 1_000}, pinned=True)) == bare


async def test_a_batch_counts_each_message_as_it_counts_alone(counter: TiktokenCounter) -> None:
    messages = [Message.user(f"Message {i}: " + "some words about it. " * (i % 90)) for i in range(300)]
    assert await counter.count(messages) == [await _one(counter, message) for message in messages]
    assert await counter.count([]) == []
