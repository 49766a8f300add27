"""How models decline, ask back or report an error instead of writing a summary, naming what it would be about.

Only what hardly a summary says counts here; "I can't log in" may report what somebody said. `grounding` tells those
apart that retell the conversation, and finds in any language the refusals that name nothing of it.
"""

from __future__ import annotations

import unicodedata
from typing import Final

import regex

from durable_memory.memory.flushing.llm.alternatives import any_of
from durable_memory.memory.flushing.llm.english_excuses import EXCUSES, IMPERSONAL_EXCUSES
from durable_memory.memory.flushing.llm.foreign_excuses import FOREIGN_EXCUSES, FOREIGN_IMPERSONAL_EXCUSES, REPORTS

_LONGEST: Final = 400
"""In characters. A longer text that begins so may report one."""

_EXCUSE: Final = regex.compile(any_of(*EXCUSES))
_IMPERSONAL: Final = regex.compile(any_of(*IMPERSONAL_EXCUSES))
_FOREIGN_EXCUSE: Final = regex.compile(any_of(*FOREIGN_EXCUSES))
_FOREIGN_IMPERSONAL: Final = regex.compile(any_of(*FOREIGN_IMPERSONAL_EXCUSES))
_APOLOGY: Final = regex.compile("sorry|apolog|entschuldig|申し訳|すみません|恐れ入|죄송|미안|抱歉|对不起|對不起")
_REPORTS: Final = regex.compile(any_of(*REPORTS))

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


def is_refusal(text: str, own: str | None = None) -> bool:
    """Tells whether an answer is as short as those that decline, ask back or report an error, and in their manner.

    own: what of it the conversation does not say in the same words; all of it unless given. What is said
    of other things too ("cannot be summarized", "an error occurred") counts only there, unless the answer apologises.
    """
    said = _normal(text)
    if _FAILURE.match(said):
        return True
    if len(said) > _LONGEST:
        return False
    impersonal = said if own is None or _APOLOGY.search(said) else _normal(own)
    return (
        _IN_JSON.match(said) is not None
        or _matches(said, _EXCUSE, _FOREIGN_EXCUSE)
        or _matches(impersonal, _IMPERSONAL, _FOREIGN_IMPERSONAL)
    )


def is_nothing(text: str) -> bool:
    """Tells whether an answer has no word or number, or only words that stand for something that is missing."""
    said = _normal(text)
    if len(said) > _LONGEST:
        return not any(map(str.isalnum, said))
    return _NOTHING.fullmatch(said) is not None


def _matches(said: str, english: regex.Pattern[str], foreign: regex.Pattern[str]) -> bool:
    if english.match(said.lstrip("\"'\u201c*_#>-( ")):
        return True
    return foreign.search(said) is not None and _REPORTS.search(said) is None


def _normal(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold().split())
