"""What parts of a content hold as data, not as text: ciphertext and signatures of providers, pictures, sound, files.

An accidental match in the middle of such data makes it useless, and an API that gets it refuses the whole request.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from durable_memory.memory.types.clean import Json

_SIGNED: Final = {"thinking": "signature", "redacted_thinking": "data", "reasoning": "encrypted_content"}
"""By type: thoughts of a model, and the field by which its provider sees whether they are what the model thought."""

_OPAQUE: Final = {
    **_SIGNED,
    "base64": "data",
    "web_search_result": "encrypted_content",
    "web_search_result_location": "encrypted_index",
    "encrypted_code_execution_result": "encrypted_stdout",
}
"""By the type of an object: its field that holds such data."""

OPAQUE_WORDS: Final = frozenset({*_OPAQUE, *_OPAQUE.values()})

_SOUND: Final = frozenset({"data", "format"})
"""The fields of an `input_audio`, which has no type of its own."""

_SHORTEST: Final = 32
"""Below it a number or a key of letters and digits may pass for base64; no signature or picture is so short."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}|gAAAA[A-Za-z0-9_-]+={0,2}", re.ASCII)
"""Or a token of Fernet, of which OpenAI's ciphertext is one. The letters of URLs alone would be those of API keys."""

_DATA_URL: Final = re.compile(r"data:[a-z]+/[a-z0-9.+-]+;base64,(.*)", re.ASCII | re.DOTALL)


def is_opaque(owner: Mapping[str, Json], key: str, value: Json) -> bool:
    """Tells whether the value of a field is such data. What does not look like it is text, whatever its field."""
    if not isinstance(value, str):
        return False
    if key in {"url", "file_data"}:
        given = _DATA_URL.fullmatch(value)
        return given is not None and _is_base64(given[1])
    kind = owner.get("type")
    named = _OPAQUE.get(kind) == key if isinstance(kind, str) else key == "data" and owner.keys() == _SOUND
    return named and _is_base64(value)


def is_signed(part: Mapping[str, Json]) -> bool:
    """Tells whether a provider refuses this part once any of it was changed."""
    kind = part.get("type")
    return isinstance(kind, str) and kind in _SIGNED and part.get(_SIGNED[kind]) not in (None, "")


def _is_base64(text: str) -> bool:
    return len(text) >= _SHORTEST and len(text) % 4 == 0 and _BASE64.fullmatch(text) is not None
