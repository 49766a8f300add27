"""A counter never fails an append and never blocks the event loop, whatever it is given."""

import asyncio
from typing import cast

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from durable_memory.memory.tokens.estimate import estimate_tokens
from durable_memory.memory.tokens.pieces import pieces
from durable_memory.memory.tokens.ranks import load_encoding
from durable_memory.memory.tokens.tiktoken_counter import PIECE_CHARACTERS, TiktokenCounter, encoded_length
from durable_memory.memory.types import Message

_ENCODINGS = {name: load_encoding(name) for name in ("o200k_base", "cl100k_base")}


@pytest.mark.parametrize("name", sorted(_ENCODINGS))
@pytest.mark.parametrize("unit", ["^", "a", " ", "\n", "漢", "é\u0301", "👩‍👩‍👧‍👦", "'", "1", "Aa", "\u200b", " \n"])
async def test_a_million_of_one_thing_counts(name: str, unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    count = await TiktokenCounter(name).count_text(text)
    part = unit * (PIECE_CHARACTERS // len(unit))
    expected = len(_ENCODINGS[name].encode_ordinary(part)) * len(text) / len(part)
    assert expected * 0.98 < count.tokens < expected * 1.02


async def test_a_message_of_a_million_characters_leaves_the_loop_to_others() -> None:
    counter = TiktokenCounter()
    await counter.load()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(others())
    (count,) = await counter.count([Message.user("^" * 1_000_000)])
    ticking.cancel()
    assert count.tokens > 100_000
    assert count.estimated
    assert turns > 1_000_000 / PIECE_CHARACTERS


async def test_a_cancelled_count_stops_between_two_pieces() -> None:
    counter = TiktokenCounter()
    await counter.load()
    counting = asyncio.create_task(counter.count_text("^" * 5_000_000))
    await asyncio.sleep(0)
    counting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await counting


def test_a_panic_of_the_tokenizer_becomes_an_estimate() -> None:
    text = " " * 1_000_000
    # The text is one at which the tokenizer really panics; when it no longer does, this test has to find another.
    with pytest.raises(BaseException, match="StackOverflow") as panic:
        _ENCODINGS["o200k_base"].encode_ordinary(text)
    assert not isinstance(panic.value, Exception)
    count = encoded_length(_ENCODINGS["o200k_base"], text)
    assert count.tokens == estimate_tokens(text)
    assert count.estimated


def test_an_interrupt_while_counting_is_no_panic() -> None:
    class Interrupted:
        def encode_ordinary(self, text: str) -> list[int]:
            raise KeyboardInterrupt(text)

    with pytest.raises(KeyboardInterrupt):
        encoded_length(cast("tiktoken.Encoding", Interrupted()), "x")


_TEXTS = st.text(
    st.sampled_from("ab AB 12 .,;:!?\n\r\t'sS-_/^ \u00a0\u3000漢字日。、！？éñ\u0301ßÄ👍🏽\u200d🇩🇪ʰǅ٣"),  # noqa: RUF001 - other scripts
    max_size=200,
)


@given(_TEXTS, st.integers(min_value=1, max_value=30))
def test_pieces_are_the_text_and_cut_at_seams_they_count_like_the_whole(text: str, size: int) -> None:
    cut = list(pieces(text, size))
    assert "".join(piece for piece, _ in cut) == text
    assert all(len(piece) <= size for piece, _ in cut)
    # Join what was cut without a seam: what is left are exact cuts only.
    exact = [""]
    for piece, at_seam in cut:
        exact[-1] += piece
        exact += [""] if at_seam else []
    for encoding in _ENCODINGS.values():
        assert sum(len(encoding.encode_ordinary(piece)) for piece in exact) == len(encoding.encode_ordinary(text))


async def test_long_prose_is_exact_although_it_is_counted_in_pieces() -> None:
    text = "The move is on 14 June; the keys, they said, come at 10:30.\nDon't forget the cat!  " * 3_000
    for name, encoding in _ENCODINGS.items():
        count = await TiktokenCounter(name).count_text(text)
        assert (count.tokens, count.estimated) == (len(encoding.encode_ordinary(text)), False)


@given(st.text())
def test_an_estimate_is_never_zero_for_a_text_and_grows_with_it(text: str) -> None:
    assert (estimate_tokens(text) == 0) == (text == "")
    assert estimate_tokens(text + "x") >= estimate_tokens(text)
