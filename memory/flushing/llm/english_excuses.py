"""How models in English explain that they write no summary, or answer in place of one, naming what it would be about.

As in `english_refusals`, regular expressions on text in lower case with single spaces. Such an answer shares words with
the conversation, so only its manner tells: it says I and you, as a summary hardly does unless it says who spoke.
"""

from __future__ import annotations

from typing import Final

from durable_memory.memory.flushing.llm.alternatives import any_of
from durable_memory.memory.flushing.llm.english_refusals import I_DO_NOT, TEXT

_REPORTS: Final = (
    r"\b(?:said|says|told|asked|asks|replied|answered"
    r"|(?:users?|assistants?|customers?|clients?|agents?) (?:\w+ed|\w+s|ha[ds]|can't|cannot|won't|will|wrote|write))\b"
)
"""Who spoke: behind it stands what somebody else did not do."""

_ANY: Final = rf"(?:(?!{_REPORTS})[^\"\u201c]){{0,200}}?"
"""What may stand before an excuse: no report, no quotation."""

_CLAUSE_BEGINS: Final = any_of(
    r"\A",
    r"(?<=[,.;:)!?\u2013\u2014-] )",
    r"(?<=\b(?:so|but|and|that|which|afraid|sorry|unfortunately|regret) )",
    r"(?<=\b(?:reasons|concerns|privacy|policy|policies|guidelines|rules) )",
)

_TASK: Final = any_of(
    r"summari[sz]\w*",
    r"(?:help|assist|comply|proceed|fulfil|repeat|reproduce|reveal|disclose|retell|recount|describe|process)\w*",
    r"(?:share|provide|discuss) (?:personal|private|sensitive|confidential|any|such|this|that|your)",
    r"(?:write|say) (?:one|it|about|where|what|anything)",
    r"access (?:the|any|external|previous|your)",
    r"have (?:any |the )?(?:access|ability|information|permission|knowledge)",
    r"(?:cover|go into|get into|speak to|engage|feel (?:right|safe))\b",
    r"include (?:the|any|this|that)",
)
_PRIVATE: Final = r"(?:personal|private|sensitive|confidential|identifying) (?:data|information|details?|content)"
_RULES: Final = r"(?:polic(?:y|ies)|guidelines|instructions|rules|principles|training)"

_OF_ITSELF: Final = (
    I_DO_NOT + _TASK,
    r"(?:i|we) (?:refuse|decline|choose not|chose not|prefer not|would (?:rather|prefer)|failed|lack)\b",
    r"(?:i|we) have no (?:access|information)\b",
    r"(?:i|we) (?:was|were|have been) (?:unable|not able)\b",
    r"(?:i|we) (?:wasn't|weren't|haven't been) able\b",
    r"i must (?:\w+ly )?(?:decline|refuse)\b",
    r"i(?:'d| would) (?:love|like|wish|be happy|be glad) to (?:help|assist)\b[^.!?]*\bbut\b",
    r"i wish i could\b",
    r"i(?:'d| would) (?:recommend|suggest|advise|prefer|rather)\b",
    r"i (?:can only|must point out|have to point out|(?:need|have) to be careful)\b",
    r"i'd be careful\b",
    r"i (?:think|believe) (?:it|you|that it|that you)\b",
    (
        rf"(?:my|our|(?:openai|anthropic|google|meta|microsoft)'s) {_RULES} "
        r"(?:don't|do not|doesn't|does not|prohibits?|prevents?|forbids?)\b"
    ),
    r"let's not\b",
)
"""At the beginning of a sentence or clause."""

_OF_ITS_TASK: Final = (
    r"\b(?:not something|outside (?:of )?what|beyond what) (?:i|we) (?:can|could|am|are)\b",
    rf"\b(?:against|outside|beyond) (?:my|our) (?:{_RULES}|capabilit|abilit|scope)",
    r"\b(?:in|not )appropriate (?:for me )?to (?:share|summari[sz]|repeat|disclose|discuss|include|provide)",
    r"\bwould (?:violate|breach|compromise|infringe|invade)\b[^.!?]{0,40}\bprivacy\b",
    r"\b(?:(?:was|were|is|are|be|been|can|could) not(?: be)?|(?:can't|cannot|couldn't) be) summari[sz]ed\b",
    r"\bsummari[sz]ing\b[^.!?]{0,80}\b(?:isn't|is not|wouldn't be|would not be) (?:allowed|possible|appropriate)\b",
    r"\bno summary (?:can|could|will)\b",
    r"\b(?:topic|subject|matter|one) (?:that |which )?i (?:can't|cannot|won't|am not)\b",
    r"\bsummary (?:is |was )?(?:not (?:written|possible)|(?:could not|cannot|can't) be)\b",
    rf"\b{TEXT} (?:contains?|includes?|involves?|has|have|appears? to contain) [^.!?]{{0,40}}\b{_PRIVATE}",
)
"""Anywhere."""

_LABELS: Final = (
    (
        r"(?:your |the )?(?:requests?|responses?|answers?|contents?|summary|prompt) (?:was |were |is |has been )?"
        r"(?:denied|refused|declined|blocked|rejected|filtered|unavailable|not available)\b"
    ),
    r"summary\b[^.!?]{0,60}: (?:not available|unavailable|none|n/a)",
    r"(?:refusal|refused|blocked|declined|denied)\b ?[:(]",
    r"<(?:!doctype )?html\b",
    r"traceback \(most recent call last\)",
    r"upstream (?:connect|request)\b",
    r"(?:an? |the )?(?:\w+ )?error (?:has )?occurred\b",
    r"[^.!?]{0,60}[.!?,] (?:please )?(?:try again|retry)\b",
)
"""At the very beginning."""

_TO_THE_READER: Final = (
    r"(?:in order )?to (?:summari[sz]e|help|assist|write)\b[^.!?]{0,80}\bi(?:'d| would|'ll| will)? need\b",
    rf"(?=.*\b(?:you|your|(?:can|could|may|should|shall) i)\b)(?:(?!{_REPORTS})[^\"\u201c])*\?\W*\Z",
    (
        rf"{_ANY}(?:\A|(?<=[.!?;:,] ))"
        r"please (?:share|provide|send|give|tell|contact|reach out|clarify|confirm|specify)\b"
        r"[^.!?]{0,80}\b(?:so (?:that )?i can|what you|i can't|i cannot|your?)\b"
    ),
)

EXCUSES: Final = (
    _ANY + _CLAUSE_BEGINS + any_of(*_OF_ITSELF) + rf"(?!.*{_REPORTS})",
    _ANY + any_of(*_OF_ITS_TASK),
    *_LABELS,
    *_TO_THE_READER,
)
"""How an answer begins, or goes on, that is no summary."""
