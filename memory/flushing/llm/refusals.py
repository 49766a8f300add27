"""How models decline, ask back or report an error instead of writing a summary: what such an answer begins with.

Only what hardly a summary begins with counts here; "I can't log in" may report what somebody said. `grounding` tells
those apart that retell the conversation, and finds other refusals, which share nothing with it.
"""

from __future__ import annotations

import unicodedata
from typing import Final

import regex

from durable_memory.memory.flushing.llm.alternatives import any_of
from durable_memory.memory.flushing.llm.english_excuses import EXCUSES
from durable_memory.memory.flushing.llm.english_refusals import BEGINNINGS, LEADS
from durable_memory.memory.flushing.llm.foreign_excuses import FOREIGN_EXCUSES, REPORTS
from durable_memory.memory.flushing.llm.foreign_refusals import WAYS

_LONGEST: Final = 400
"""In characters. A longer text that begins so may report one."""

_IN_ENGLISH: Final = regex.compile(rf"[^\w{{]*(?:{any_of(*LEADS)}\b\W*)*{any_of(*BEGINNINGS)}")

_EXCUSE: Final = regex.compile(any_of(*EXCUSES))
_FOREIGN_EXCUSE: Final = regex.compile(any_of(*FOREIGN_EXCUSES))
_REPORTS: Final = regex.compile(any_of(*REPORTS))

_REST_OF_SENTENCE: Final = r"[^.!?;。؟।]{0,100}"

_IN_OTHERS: Final = regex.compile(
    r"\W*"
    + any_of(
        *(any_of(*way.regrets) + _REST_OF_SENTENCE + any_of(*way.tasks) for way in WAYS),
        *(opening for way in WAYS for opening in way.openings),
    )
)

_NOTHING: Final = regex.compile(
    r"(?:\W*(?:n ?/ ?a|none|null|nil|nothing|undefined|unknown|empty|nan|tbd|todo|error"
    r"|not (?:available|applicable)|no (?:summary|content|data)(?: available)?)(?!\w))*\W*"
)

_FAILURE: Final = regex.compile(r"""[\[{] ?["']?(?:error|errors|exception|failure|refusal)["']? ?:""")

_NO: Final = any_of("null", "false", "none", r"\[ ?\]", r"\{ ?\}", r'""', "''")

_IN_JSON: Final = regex.compile(
    r"""[\[{].*["']"""
    + any_of(
        r"""(?:errors?|exception|failure|refusal|refused|blocked|filtered|declined)["'] ?:""",
        rf"""(?:summary|ok|success|text|answer|content)["'] ?: ?{_NO}""",
        r"""(?:status|type|result|outcome|finish_reason)["'] ?: ?["']"""
        r"(?:error|fail|refus|block|declin|reject|denied|filter|content)",
        r"""(?:code|status|status_code)["'] ?: ?["']?(?:content|[45]\d\d\b)""",
    )
    + r"""|\{ ?["'](?:detail|message|reason)["'] ?:"""
)
"""What services answer in place of a text, and models that were asked to write JSON."""


def is_refusal(text: str) -> bool:
    """Tells whether an answer is as short as those that decline, ask back or report an error, and begins so."""
    said = _normal(text)
    if _FAILURE.match(said):
        return True
    if len(said) > _LONGEST:
        return False
    return any(way.match(said) for way in (_IN_ENGLISH, _IN_OTHERS, _IN_JSON)) or _excuses(said)


def is_nothing(text: str) -> bool:
    """Tells whether an answer has no word or number, or only words that stand for something that is missing."""
    said = _normal(text)
    if len(said) > _LONGEST:
        return not any(map(str.isalnum, said))
    return _NOTHING.fullmatch(said) is not None


def _excuses(said: str) -> bool:
    if _EXCUSE.match(said.lstrip("\"'\u201c*_#>-( ")):
        return True
    return _FOREIGN_EXCUSE.search(said) is not None and _REPORTS.search(said) is None


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold().split())
