"""How models decline or ask back in place of a summary: the usual sentences in English and a few large languages.

Each says I, or speaks to whoever asked, of this task: that somebody cannot come may be a summary. An answer with one is
a refusal only if it does not retell the conversation; `grounding` finds in any words those that share nothing with it.
"""

from __future__ import annotations

import unicodedata
from typing import Final

import regex

_LONGEST: Final = 400
"""In characters. A longer text may report a refusal."""

REPORTS: Final = (
    r"\b(?:said|says|told|asked|asks|wrote|answered|refused)\b|[\"\u201c]"
    r"|\b(?:user|assistant|customer)s? (?:\w+ly )?"
    r"(?:stat|explain|repl|report|claim|clarif|noted|warn|declin|refus|apologi[sz])\w*"
)
"""Who spoke: what stands behind it was said in the conversation."""

_QUOTED_AS_A_WHOLE: Final = regex.compile(r"""\A[*_]*["\u201c](?=[^"\u201c\u201d]*+\W*\Z)""")
"""The mark in front of an answer that quotes nobody."""

_I_CANNOT: Final = (
    r"(?:i|we)(?: (?:can't|cannot|can not|couldn't|won't|will not|do not|don't|wasn't able to)(?: be able to)?"
    r"|(?:'m| am|'re| are| was) (?:unable|not (?:able|going|permitted|allowed)) to)(?: \w+ly| be| in good conscience)*"
)
_THIS: Final = (
    r"(?:that|this|it|(?:this|that|your|the|these|any) (?:\w+ )?(?:requests?|conversations?|content|one|topic))\b"
)
_TEXT: Final = r"(?:conversations?|records?|transcripts?|messages|context|content)\b"

_PHRASES: Final = (
    # I can't help with that. I'm not able to summarize. I won't provide legal advice.
    rf"{_I_CANNOT}(?: \w+){{0,4}} summari[sz]",
    rf"{_I_CANNOT} (?:comply|assist|help(?: you)?(?: with| creat|\W*\Z|[,.])|engage)",
    rf"{_I_CANNOT} (?:fulfil\w*|satisfy|process|complete|continue with|discuss|do|write about|cover) {_THIS}",
    rf"{_I_CANNOT} (?:see|find|access|have access to|view) (?:any|the|a|previous|your) (?:\w+ )?{_TEXT}(?! of)",
    (
        rf"{_I_CANNOT} (?:write|produce|share|provide|give|create|generate|discuss|process) (?:(?:an?|any|the|out) )*"
        r"(?:summar|content|guidance|advice|information|(?:personal|private|legal|medical) )"
    ),
    (
        r"(?:i|we)(?:(?: would|'d) rather not| (?:must|have to|need to|refuse|decline|(?:prefer|choose) not))(?: to)?"
        rf"(?: \w+ly)?(?: (?:decline|refuse) to)? (?:summari|write about|(?:decline|refuse)(?: {_THIS}|\W*\Z))"
    ),
    rf"i(?: don't feel| do not feel|'m not| am not) comfortable (?:with {_THIS}|\w+ing {_THIS}|summari)",
    r"inappropriate (?:for me )?to (?:summari|assist|comply|help)",
    # Not the AI engineer, whom a summary may be about.
    (
        r"(?:as|i'm|i am) (?:just |only )?an? (?:[\w-]+ ){0,3}(?:ai|language model|artificial intelligence)"
        r"(?:-based)?(?: language)?(?: model| assistant)?(?=\W*(?:[,.;]|\Z)| (?:i|and|that|without|made|\w+ed by)\b)"
    ),
    r"(?:not something|(?:outside|beyond) (?:of )?what) i (?:can|am)\b|my (?:policies|guidelines|programming)\b",
    r"(?:unable to|cannot|can't be) (?:summari[sz]|comply)|\b(?:help|assist)\b[^.!?]*, but i can't\W*\Z",
    # How can I help? Please share the text. There is no conversation.
    r"(?:how (?:can|may) i (?:help|assist)|what (?:would you like|do you want|should i do))\b[^?]*\?\W*\Z",
    r"(?:(?:could|can) you(?: please)? (?:share|provide|paste|clarify|confirm|give me)|would you like help)\b[^?]*\?",
    r"(?:which|what)\b[^.!?]* (?:i|me to) summari[sz]e\?|i (?:would )?need more \w+ [^.!?]*\bto summari[sz]",
    rf"please (?:share|provide|paste|send|clarify)\b[^.!?]*\b(?:{_TEXT}(?! of)|text you|so (?:that )?i can|what you)",
    (
        rf"(?:there(?: is| are|'s) no|i (?:would )?need (?:the|more)) {_TEXT}"
        r"(?: to summari| here| provided| about|\W*\Z|[.,])"
    ),
    rf"(?:the|your) {_TEXT} [^.]*\b(?:is|be) empty",
    # German, French, Spanish, Portuguese, Italian, Russian
    r"(?:ich (?:kann|darf)|(?:kann|darf) ich)(?: \w+){0,5} nicht zusammenfass",
    (
        r"(?:ich (?:kann|darf)|(?:kann|darf) ich)(?: (?:ihnen|dir|leider|dabei|damit|bei|die\w+|das|es|den|gespräch"
        r"|text|inhalt|unterhaltung|anfrage|bitte))* nicht (?:weiter)?(?:helfen|behilflich sein|nachkommen)"
    ),
    r"als (?:eine? )?(?:ki|sprachmodell)\b|(?:wie|was) kann ich (?:ihnen|dir|für sie)\b[^.?]*\?\W*\Z",
    r"je ne (?:peux|suis) pas (?:en mesure de )?(?:vous |t')?(?:aider (?:avec|à)|résumer|répondre à cette|traiter ce)",
    r"en tant qu(?:'ia|e modèle)|com[eo] (?:um )?model+o (?:de l|linguistico)|как языковая модель\b",
    r"no puedo (?:ayudar\w*(?: con es[ot]|\W*\Z)|cumplir con est|resumir)",
    r"não (?:posso|consigo) (?:ajudar\w*(?: com (?:isso|ess)|\W*\Z)|atender a ess|resumir)",
    r"non (?:posso|sono in grado di) (?:aiutar\w*(?: con quest|\W*\Z)|riassumere)",
    r"я не могу (?:вам )?(?:с этим )?(?:помочь(?: с этим|\W*\Z)|выполнить этот запрос|обобщить)",
)
_WITHOUT_SPACES: Final = (
    r"(?:无法|無法|不能)(?:为您|进行)?(?:帮助|協助|协助|处理您|回答|总结)|作[为為]一?[个個]?(?:ai|人工智能|[语語]言模型)",
    r"(?:要約|お応え|お手伝い)(?:する)?(?:こと)?[はが]?でき(?:ません|かね)|(?:ai|言語モデル)として",
    r"\A申し訳(?:ありません|ございません)が[^。]*できません\W*\Z",
)
_REFUSAL: Final = regex.compile(
    rf"(?:(?!{REPORTS}).)*?(?:\b(?:{'|'.join(_PHRASES)})|{'|'.join(_WITHOUT_SPACES)})"
    r"""|[\[{] ?["'](?:error|refus\w+|detail)["'] ?:|<(?:!doctype )?html"""
)


def is_refusal(text: str) -> bool:
    """Tells whether an answer is as short as those that decline, ask back or report an error, and has such a phrase."""
    said = said_shortly(text)
    return said is not None and _REFUSAL.match(_QUOTED_AS_A_WHOLE.sub("", said)) is not None


def said_shortly(text: str) -> str | None:
    """Returns an answer as `plain` does; None if it is longer than those that decline, ask back or report an error."""
    said = plain(text)
    return said if len(said) <= _LONGEST else None


def plain(text: str) -> str:
    """Returns a text in one line, with one form of each letter."""
    return " ".join(unicodedata.normalize("NFKC", text).replace("\u2019", "'").casefold().split())
