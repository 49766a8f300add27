"""Redacts whatever JSON can hold: every text, every number, every key, and JSON that stands as text inside it."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from durable_memory.memory.privacy.json_text import change_json, is_json, replace_within
from durable_memory.memory.privacy.labels import Labels, labels_of, names_among
from durable_memory.memory.privacy.redactor import Redactor, TooSlow
from durable_memory.memory.types.clean import Json

_NESTED_JSON: Final = 4
"""JSON text in JSON text: as many levels are read as such, deeper ones are plain text."""

_ROUNDS: Final = 8
"""How often patterns that reach over values may find more in what they left; then nothing of the text is kept."""

_NUMBER: Final = re.compile(r"#[0-9]{1,6}\Z", re.ASCII)
"""Tells keys apart that are the same once redacted."""


MAX_SECONDS: Final = 5.0
"""What all texts of one call may take together, in seconds of work."""

IsOpaque: TypeAlias = Callable[[Mapping[str, Json], str, Json], bool]
"""Tells of an object, a key of it and its value whether that is data, and no text."""


def _nothing_opaque(owner: Mapping[str, Json], key: str, value: Json) -> bool:  # noqa: ARG001 - the form of IsOpaque
    return False


@dataclass(frozen=True, slots=True)
class Kept:
    """What stays as it is, on all levels of an object.

    words: as a key and as the value of `type`. is_opaque: names the values.
    """

    words: Collection[str] = ()
    is_opaque: IsOpaque = _nothing_opaque


_NOTHING_KEPT: Final = Kept()


class Walk:
    """Redacts the parts of one call and counts what was found, by kind. Used by one thread at a time."""

    def __init__(self, redactor: Redactor, *, max_seconds: float = MAX_SECONDS) -> None:
        self._redactor = redactor
        self._seconds_left = max_seconds
        self.found: Counter[str] = Counter()

    @property
    def marker(self) -> str:
        """What stands where something was taken out; never empty."""
        return self._redactor.marker

    def text(self, text: str, labels: Labels = (), nested: int = _NESTED_JSON) -> str:
        """Returns a text redacted. JSON text stays valid: its values and keys are redacted one by one.

        labels: what says what it is.
        """
        if not nested or not is_json(text):
            return self._plain(text, labels)
        for _ in range(_ROUNDS):
            # A pattern that was written for raw text reaches over quotes and colons.
            redacted = change_json(text, lambda value, names: self.text(value, names or labels, nested - 1), self._key)
            redacted = replace_within(redacted, self._redactor.crossing(redacted), self._redactor.marker)
            if redacted == text:
                return text
            text = redacted
        return "{}"

    def value(self, value: Json, labels: Labels = (), kept: Kept = _NOTHING_KEPT) -> Json:
        """Returns JSON data redacted. A number that is a secret becomes text."""
        if isinstance(value, str):
            return self.text(value, labels)
        if isinstance(value, Mapping):
            return self.object(value, kept, labels)
        if isinstance(value, Sequence):
            return [self.value(item, labels, kept) for item in value]
        if value is None or isinstance(value, bool):
            return value
        redacted = self._plain(str(value), labels)
        return value if redacted == str(value) else redacted

    def object(self, value: Mapping[str, Json], kept: Kept = _NOTHING_KEPT, labels: Labels = ()) -> dict[str, Json]:
        """Returns a JSON object redacted, its keys too. labels: what labels the object itself."""
        names = names_among(value.items())
        redacted: dict[str, Json] = {}
        for key, item in value.items():
            name = key if key in kept.words else self._key(key, redacted)
            is_kind = key == "type" and isinstance(item, str) and item in kept.words
            stays = is_kind or kept.is_opaque(value, key, item)
            redacted[name] = item if stays else self._field(key, item, labels, names, kept)
        return redacted

    def _field(self, key: str, item: Json, labels: Labels, names: Labels, kept: Kept) -> Json:
        """Returns what stands under a key redacted. names: what the object says of its value, if that is no number."""
        if isinstance(item, Sequence) and not isinstance(item, str):
            return [self._field(key, one, labels, names, kept) for one in item]
        said = () if isinstance(item, (int, float)) else names
        return self.value(item, labels_of(key, labels, said), kept)

    def _key(self, key: str, taken: Collection[str]) -> str:
        """Returns a key redacted; one that its object has already gets a number, so that no value is lost."""
        head, marker = key, self._redactor.marker
        if (number := _NUMBER.search(key)) and key[: number.start()].endswith(marker):
            head = key[: number.start()]
        redacted = self._plain(head)
        name = key if redacted == head else redacted
        count = len(taken)
        while name in taken:
            count += 1
            name = f"{redacted}#{count}"
        return name

    def _plain(self, text: str, labels: Labels = ()) -> str:
        before = time.thread_time()
        for label in labels or ("",):
            redacted = self._redactor.redact(text, label)
            text = redacted.text
            if redacted.found:
                self.found.update(redacted.found)
        self._seconds_left -= time.thread_time() - before
        if self._seconds_left < 0:
            raise TooSlow("all texts together take the patterns too long")
        return text
