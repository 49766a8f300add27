"""Counts tokens with tiktoken: exact, offline, and never in the way of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import tiktoken

from durable_memory.memory.tokens.counter import Count
from durable_memory.memory.tokens.encodings import SHARED, Encodings
from durable_memory.memory.tokens.estimate import estimate_tokens
from durable_memory.memory.tokens.framing import visible
from durable_memory.memory.tokens.pieces import pieces
from durable_memory.memory.tokens.ranks import SPECS
from durable_memory.memory.types import Message

INLINE_CHARACTERS = 16_000
"""What one call counts on the event loop: below a millisecond for prose; a thread would cost more than it saves."""

PIECE_CHARACTERS = 32_000
"""What is encoded at once in a thread: a few milliseconds in the worst case, and far from the sizes (a million spaces)
at which the regular expressions of the tokenizer overflow their stack."""

LOAD_WAIT_SECONDS = 2.0
"""From a package a load takes half a second; a download that hangs must leave a call the time for its estimate."""


class TiktokenCounter:
    """A TokenCounter for one encoding: `o200k_base` (GPT-4o and later) or `cl100k_base` (GPT-4, GPT-3.5)."""

    def __init__(
        self,
        encoding: str = "o200k_base",
        *,
        encodings: Encodings = SHARED,
        load_wait_seconds: float = LOAD_WAIT_SECONDS,
    ) -> None:
        if encoding not in SPECS:
            raise ValueError(f"unknown encoding {encoding!r}; one of {', '.join(SPECS)}")
        self._name = encoding
        self._encodings = encodings
        self._load_wait_seconds = load_wait_seconds
        self._loaded: tiktoken.Encoding | None = None

    def begin_to_load(self) -> None:
        """Begins to load the encoding in the background, so that a later count need not wait."""
        self._encodings.begin(self._name)

    async def load(self) -> bool:
        """Waits for the encoding, but no longer than a count may; False if texts are estimated meanwhile."""
        if self._loaded is None:
            self._loaded = await self._encodings.get(self._name, self._load_wait_seconds)
        return self._loaded is not None

    async def count(self, messages: Sequence[Message]) -> list[Count]:
        """See TokenCounter; the rule per message is that of `durable_memory.memory.tokens.framing`."""
        seen = [visible(message) for message in messages]
        encoding = self._loaded
        if encoding is not None and sum([len(text) for one in seen for text in one.texts]) <= INLINE_CHARACTERS:
            return [
                _sum([encoded_length(encoding, text) for text in one.texts], one.fixed, estimated=one.estimated)
                for one in seen
            ]
        counts = iter(await self.count_texts([text for message in seen for text in message.texts]))
        return [
            _sum(islice(counts, len(message.texts)), message.fixed, estimated=message.estimated) for message in seen
        ]

    async def count_text(self, text: str) -> Count:
        """See TokenCounter."""
        return (await self.count_texts([text]))[0]

    async def count_texts(self, texts: Sequence[str]) -> list[Count]:
        """See TokenCounter."""
        encoding = self._loaded
        if encoding is None:
            await self.load()
            encoding = self._loaded
        if encoding is None:
            return [Count(estimate_tokens(text), estimated=True) for text in texts]
        if sum(map(len, texts)) <= INLINE_CHARACTERS:
            return [encoded_length(encoding, text) for text in texts]
        counts: list[list[Count]] = [[] for _ in texts]
        for slice_ in _slices(texts):
            # One hop a slice: a cancelled caller leaves the thread at most one slice of work.
            for index, count in await asyncio.to_thread(_count_slice, encoding, slice_):
                counts[index].append(count)
        return [_sum(of_text) for of_text in counts]


def encoded_length(encoding: tiktoken.Encoding, text: str) -> Count:
    """Returns the tokens of `text`; literals of special tokens are ordinary text.

    If the tokenizer panics (its Rust core raises a PanicException, a BaseException, on texts that overflow the stack
    of its regular expressions), the text is estimated.
    """
    try:
        return Count(len(encoding.encode_ordinary(text)))
    except BaseException as error:
        # The class cannot be imported: pyo3 makes it inside each extension module.
        if (type(error).__module__, type(error).__name__) != ("pyo3_runtime", "PanicException"):
            raise
        return Count(estimate_tokens(text), estimated=True)


def _slices(texts: Sequence[str]) -> Iterator[list[tuple[int, str, bool]]]:
    slice_: list[tuple[int, str, bool]] = []
    size = 0
    for index, text in enumerate(texts):
        for piece, exact in pieces(text, PIECE_CHARACTERS):
            if size + len(piece) > PIECE_CHARACTERS and slice_:
                yield slice_
                slice_, size = [], 0
            slice_.append((index, piece, exact))
            size += len(piece)
    if slice_:
        yield slice_


def _count_slice(encoding: tiktoken.Encoding, slice_: Sequence[tuple[int, str, bool]]) -> list[tuple[int, Count]]:
    counted: list[tuple[int, Count]] = []
    for index, piece, exact in slice_:
        count = encoded_length(encoding, piece)
        counted.append((index, Count(count.tokens, estimated=count.estimated or not exact)))
    return counted


def _sum(counts: Iterable[Count], fixed: int = 0, *, estimated: bool = False) -> Count:
    for count in counts:
        fixed, estimated = fixed + count.tokens, estimated or count.estimated
    return Count(fixed, estimated=estimated)
