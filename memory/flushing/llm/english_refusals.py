"""How models decline or ask back in English, as regular expressions on text in lower case with single spaces.

Each says that the model itself does not do what it was asked. What people say of each other in a conversation may be
the first sentence of a summary: "unfortunately Anna can't help", "please send the documents to Bob".
"""

from __future__ import annotations

from typing import Final

from durable_memory.memory.flushing.llm.alternatives import any_of

TEXT: Final = any_of(
    r"conversations?",
    r"records?",
    r"transcripts?",
    r"messages?",
    r"texts?",
    r"contents?",
    r"dialogues?",
    r"chats?",
    r"input",
)
_WORK: Final = any_of(
    TEXT,
    r"summary",
    r"summaries",
    r"requests?",
    r"enough (?:information|context|details?)",
    r"(?:medical|legal|financial|professional) advice",
)
_SOME_WORDS: Final = r"(?:[\w-]+ ){0,4}"

I_DO_NOT: Final = (
    any_of(
        r"(?:i|we) (?:can't|cannot|can not|won't|will not|couldn't|could not|don't|do not|would not)",
        r"(?:i'm|i am|we're|we are) unable to",
        (
            r"(?:i'm|i am|we're|we are) not "
            r"(?:able|allowed|permitted|programmed|designed|willing|equipped|comfortable|going)(?: to)?"
        ),
    )
    + r",? (?:\w+ly,? |in good conscience |be able to |be )*"
)
_I_WILL: Final = r"(?:i'd|i would|i'll|i will)"
_WOULD_YOU: Final = r"(?:could|can|would) you(?: please| kindly)?"
_IS: Final = r"(?:is|are|was|were)"

LEADS: Final = (
    r"(?:sure|certainly|of course|okay|ok|hello|hi|hey|there|no|unfortunately|regrettably|however|but)",
    r"(?:content )?(?:error|warning|notice|note)",
    r"i(?:'m| am) (?:(?:so|very|really|truly|deeply|terribly|extremely) )*(?:sorry|afraid)(?: that| to say)?",
    r"sorry(?: about that)?",
    r"i regret(?: to (?:say|inform you))?(?: that)?",
    r"please accept [^,.]{0,30}",
    r"i (?:do |must |sincerely |deeply )*apologi[sz]e(?: for [^,.]{0,60})?",
    r"(?:my |our )?(?:sincere |sincerest |deepest )?apologies",
    r"thank(?:s| you)\b[^.!]{0,60}",
    r"i (?:understand|appreciate)\b[^.,]{0,80}",
)
"""What may stand before a refusal, several of them too; alone it is none."""

_IS_A_MODEL: Final = (
    (
        r"as an? (?:\w+ )?(?:ai|artificial intelligence|language model|llm)(?: (?:language )?model| assistant| system)?"
        r"(?: (?:made|trained|developed|created) by \w+)?(?:,| (?:i|my|it)\b)"
    ),
    r"i(?:'m| am) (?:just |only )?an? (?:ai|artificial intelligence|(?:large )?language model)\b",
    (
        r"i(?:'m| am) not an? (?:\w+ )?(?:doctor|physician|lawyer|attorney|professional|expert)\b"
        r"[^.!?]{0,40}\bi (?:can't|cannot)"
    ),
)
_DECLINES: Final = (
    I_DO_NOT
    + any_of(
        r"(?:help|assist)(?: you)?\b(?! (?:me|us|him|her|them)\b)",
        r"summari[sz]",
        r"comply",
        r"fulfil",
        r"do (?:that|this|so)\b",
        r"engage (?:in|with)",
        r"feel comfortable",
        r"participate in",
        r"continue with this",
        r"with (?:this|that) request",
    ),
    I_DO_NOT
    + any_of(
        r"(?:write|create|generate|produce|provide|give|offer|process|complete|access|share|discuss)",
        r"(?:see|view|find|have|detect|answer|respond to)",
    )
    + rf" {_SOME_WORDS}{_WORK}\b",
    (
        r"i (?:must|have to|need to|would have to|will have to) (?:\w+ly )?(?:decline|refuse) ?"
        r"(?:[.,;!]|$|to|this|that|your)"
    ),
    r"(?:unable to|not able to|cannot|can't) (?:summari[sz]e|comply|fulfil|assist|help with (?:this|that))",
    rf"(?:this|that|the|your) {_WORK} (?:violates|goes against)",
    r"let's (?:talk about something else|change the (?:topic|subject))",
)
_FOUND_NOTHING: Final = (
    r"(?:it )?(?:appears|seems|looks like)(?: that| like)? "
    + any_of(
        rf"there(?:'s| {_IS}) (?:no|not|nothing)\b {_SOME_WORDS}(?:{TEXT}|to summari)",
        rf"no {TEXT}",
        r"you (?:have not|haven't|did not|didn't|forgot)",
        rf"your {TEXT}",
        rf"the {TEXT} (?:\w+ ){{0,3}}(?:empty|missing|blank|incomplete)",
    ),
    rf"(?:there {_IS} )?(?:no|not any|not enough|insufficient) (?:\w+ )?{TEXT} (?:(?:was|were|has been) )?"
    + any_of(
        r"to (?:be )?summari",
        r"(?:provided|given|supplied|attached|included)(?:\W*$|[.!;]| to summari| in your)",
    ),
    (
        rf"(?:the|your|this) (?:provided |given )?{TEXT} (?:you (?:\w+ )?provided )?"
        r"(?:is|are|was|appears? to be|seems? to be) (?:empty|blank|missing)"
    ),
    r"you (?:haven't|have not|didn't|did not) (?:\w+ )?(?:provide|include|paste|attach)",
)
_ASKS_BACK: Final = (
    (
        rf"(?:please|kindly|{_WOULD_YOU}) (?:paste|provide|share|send|upload|supply|give|include) "
        rf"(?:me |us )?(?:with )?(?:the|your|a|some)? ?(?:[\w-]+ )?{TEXT}"
        r"(?:\W*$|[.!?]| (?:you|that you|to (?:be )?summari|so|and i)\b)"
    ),
    rf"{_WOULD_YOU} (?:give|tell|send|share|provide|let|clarify|confirm)\b[^.!?]*\?\W*$",
    r"how (?:can|may|could) i (?:help|assist|be of)\b",
    r"what (?:can i (?:do for|help)|would you like (?:me )?to)\b",
    rf"{_I_WILL} be (?:happy|glad) to (?:help|assist|summari)",
    r"i(?:'m| am) ready to (?:help|assist|summari)",
    rf"(?:{_I_WILL}|i) need (?:the|more|a|to see)\b {_SOME_WORDS}(?:{TEXT}|context|information)",
    r"i(?:'m| am) (?:glad|happy) to help, but\b",
)

BEGINNINGS: Final = (*_IS_A_MODEL, *_DECLINES, *_FOUND_NOTHING, *_ASKS_BACK)
"""How a refusal begins."""
