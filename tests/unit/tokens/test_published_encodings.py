"""Encodings that are put together here give the tokens of the published ones."""

import pytest
import tiktoken
from hypothesis import given, settings
from hypothesis import strategies as st
from tiktoken_ext import openai_public

from durable_memory.memory.tokens.ranks import load_encoding


def _published(name: str) -> tiktoken.Encoding:
    """tiktoken's own definition, with our ranks instead of its download."""
    ours = load_encoding(name)
    ranks = {token: ours.encode_single_token(token) for token in ours.token_byte_values()}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(openai_public, "load_tiktoken_bpe", lambda *_, **__: ranks)
        return tiktoken.Encoding(**getattr(openai_public, name)())


_OURS = {name: load_encoding(name) for name in ("o200k_base", "cl100k_base")}
_PUBLISHED = {name: _published(name) for name in _OURS}

# What the patterns tell apart, once or in a row: cases, marks, digits, endings of words, spaces and line ends.
_TOLD_APART = st.sampled_from([*"aBßǅʰ漢7٣'./_👍\u0301 \t\n\r\u00a0\u3000\x0b\x1c", "'s", "'LL"])
_RUNS = st.builds(lambda part, times: part * times, _TOLD_APART, st.integers(1, 4))
_TEXTS = st.one_of(st.text(max_size=200), st.lists(_RUNS, max_size=60).map("".join))


@pytest.mark.parametrize("name", sorted(_OURS))
@given(_TEXTS)
@settings(max_examples=300)
def test_a_text_has_the_tokens_of_the_published_encoding(name: str, text: str) -> None:
    assert _OURS[name].encode_ordinary(text) == _PUBLISHED[name].encode_ordinary(text)
