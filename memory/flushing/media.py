"""What parts hold as data that no reader can read: pictures, sound and files, in whatever shape they were given.

More liberal than the rule of redaction, which may leave nothing unread that could be text: here a miss costs requests
for hundreds of thousands of characters, and a hit only what nobody reads.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from durable_memory.memory.privacy.opaque import is_opaque
from durable_memory.memory.types import MEDIA_PARTS
from durable_memory.memory.types.clean import Json

_MEDIA: Final = MEDIA_PARTS | {"base64", "media", "redacted_thinking"}
"""Types of parts, and of their sources, whose long texts are data."""

_LONG: Final = 256
"""In characters. The name of a file is shorter."""

_DATA_URL: Final = re.compile(r"\s*data:(?:[\w.+*-]+/[\w.+*-]+(?:;[^,]{0,200})?|[^,]{0,200};base64),", re.IGNORECASE)
_LINK: Final = re.compile(r"\s*[a-z][a-z0-9+.-]{1,15}://", re.IGNORECASE)


def without_media(value: Json, *, in_media: bool = False) -> Json:
    """Returns a part without what it holds as data. in_media: whether it stands in a part of such a type."""
    if isinstance(value, Mapping):
        kind = value.get("type")
        inside = in_media or (isinstance(kind, str) and kind in _MEDIA)
        return {
            name: without_media(item, in_media=inside)
            for name, item in value.items()
            if not (_is_data(item, in_media=inside) or is_opaque(value, name, item))
        }
    if isinstance(value, (list, tuple)):
        return [without_media(item, in_media=in_media) for item in value if not _is_data(item, in_media=in_media)]
    return value


def _is_data(value: Json, *, in_media: bool) -> bool:
    """Tells whether a text is a data URL, or in a medium as long and without spaces as only data is.

    Other scripts than Latin write no spaces, and no data: Base64 is ASCII, in one line or in many.
    """
    if not isinstance(value, str):
        return False
    if _DATA_URL.match(value):
        return True
    long_run = len(value) >= _LONG and value.isascii() and " " not in value and "\t" not in value
    return in_media and long_run and not _LINK.match(value)
