"""The estimate that stands in where no tokenizer can be had."""

from __future__ import annotations

BYTES_PER_TOKEN = 3
"""English prose has about 4.5 bytes of UTF-8 a token, code about 3.5, Chinese and Japanese 3 to 4, emoji 2 to 3.

Too high is the safe side: a budget that is filled by estimates then still fits the model.
"""


def estimate_tokens(text: str) -> int:
    """Returns a third of the bytes of UTF-8, rounded up: zero only for an empty text."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)
