"""How models in English decline, ask back or report an error in place of a summary, naming what it would be about.

Regular expressions on text in lower case with single spaces. An answer that names nothing of the conversation needs
none of them: `grounding` finds it. One that does shares words with the conversation, so only its manner tells: it says
I and you, as a summary hardly does unless it says who spoke, or it reports an error or that there is no text. What
people say of each other may be the first sentence of a summary: "unfortunately Anna can't help", "please send the
documents to Bob".
"""

from __future__ import annotations

from typing import Final

from durable_memory.memory.flushing.llm.alternatives import any_of

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
    r"(?<=\b(?:so|but|however|and|that|which|afraid|sorry|unfortunately|regret) )",
    r"(?<=\b(?:reasons|concerns|privacy|policy|policies|guidelines|rules) )",
)

_TEXT: Final = any_of(
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

_I_DO_NOT: Final = (
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

_TASK: Final = any_of(
    r"summari[sz]\w*",
    r"(?:help|assist|comply|proceed|fulfil|repeat|reproduce|reveal|disclose|retell|recount|describe|process|discuss"
    r"|participat)\w*",
    r"(?:share|provide|discuss) (?:personal|private|sensitive|confidential|any|such|this|that|your)",
    r"(?:write|say) (?:one|it|about|where|what|anything)",
    r"(?:write|create|generate|produce|provide|give|offer) (?:[\w-]+ ){0,4}(?:summary|summaries|advice)",
    r"(?:answer|respond to) (?:any |the |your )?(?:questions?|requests?)",
    r"(?:do|complete) (?:that|this|so|it|(?:the|your|this) (?:request|task))\b",
    r"access (?:the|any|external|previous|your)",
    r"have (?:any |the )?(?:access|ability|information|permission|knowledge)",
    r"(?:cover|go into|get into|speak to|engage|feel (?:right|safe|comfortable)|(?:continue )?with (?:this|that))\b",
    r"include (?:the|any|this|that)",
)
_PRIVATE: Final = r"(?:personal|private|sensitive|confidential|identifying) (?:data|information|details?|content)"
_RULES: Final = r"(?:polic(?:y|ies)|guidelines|instructions|rules|principles|training)"

_OF_ITSELF: Final = (
    _I_DO_NOT + _TASK,
    r"(?:i'm |i am )?(?:\w+ )?(?:sorry|apologies|apologi[sz]e),? (?:but )?" + _I_DO_NOT,
    r"(?:as|i'm|i am) (?:just |only )?an? (?:\w+ ){0,2}(?:ai|artificial intelligence|language model|llm)\b",
    r"(?:i|we) (?:refuse|decline|choose not|chose not|prefer not|would (?:rather|prefer)|failed|lack)\b",
    r"(?:i|we) have no (?:access|information)\b",
    r"(?:i|we) (?:was|were|have been) (?:unable|not able)\b",
    r"(?:i|we) (?:wasn't|weren't|haven't been) able\b",
    r"i (?:must|have to|need to|will have to|would have to) (?:\w+ly )?(?:decline|refuse)\b",
    r"i(?:'d be|'ll be| would be| will be|'m| am) (?:happy|glad|ready) to (?:help|assist|summari)",
    r"i(?:'m| am) not an? (?:\w+ )?(?:doctor|physician|lawyer|attorney|professional|expert)\b",
    r"(?:it (?:looks|seems|appears) (?:like|that) )?you (?:haven't|have not|didn't|did not|forgot)\b",
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
    r"let's (?:not|talk about something else|change the)\b",
)
"""At the beginning of a sentence or clause."""

_OF_ITS_LIMITS: Final = (
    r"\b(?:not something|outside (?:of )?what|beyond what) (?:i|we) (?:can|could|am|are)\b",
    rf"\b(?:against|outside|beyond) (?:my|our) (?:{_RULES}|capabilit|abilit|scope)",
    rf"\b(?:this|that|your) (?:{_TEXT}|requests?)\b[^.!?]{{0,40}} (?:violates|goes against)\b",
    r"\b(?:topic|subject|matter|one) (?:that |which )?i (?:can't|cannot|won't|am not)\b",
)
"""Anywhere."""

_OF_ITS_TASK: Final = (
    r"\b(?:in|not )appropriate (?:for me )?to (?:share|summari[sz]|repeat|disclose|discuss|include|provide)",
    r"\bwould (?:violate|breach|compromise|infringe|invade)\b[^.!?]{0,40}\bprivacy\b",
    r"\b(?:(?:was|were|is|are|be|been|can|could) not(?: be)?|(?:can't|cannot|couldn't) be) summari[sz]ed\b",
    r"\bsummari[sz]ing\b[^.!?]{0,80}\b(?:isn't|is not|wouldn't be|would not be) (?:allowed|possible|appropriate)\b",
    r"\bno summary (?:can|could|will)\b",
    r"\bsummary (?:is |was )?(?:not (?:written|possible)|(?:could not|cannot|can't) be)\b",
    rf"\b{_TEXT} (?:contains?|includes?|involves?|has|have|appears? to contain) [^.!?]{{0,40}}\b{_PRIVATE}",
)
"""Anywhere."""

_LABELS: Final = (
    (
        r"(?:your |the )?(?:requests?|responses?|answers?|contents?|summary|prompt) (?:was |were |is |has been )?"
        r"(?:denied|refused|declined|blocked|rejected|filtered|unavailable|not available)\b"
    ),
    r"summary\b[^.!?]{0,60}: (?:not available|unavailable|none|n/a)",
    r"(?:refusal|refused|blocked|declined|denied)\b ?[:(]",
    r"(?:\w+: )?(?:i'm |i am )?(?:unable to|not able to|cannot|can't) (?:summari[sz]|comply|help with this)",
)
"""At the very beginning."""

_LEADS: Final = (
    r"(?:(?:(?:i'm|i am) (?:\w+ )?)?(?:sorry|afraid)(?: that)?|unfortunately|regrettably|hello|hi|hey|sure|certainly"
    r"|of course|ok|okay|thank you|thanks|no|but|however|(?:my )?apologies|i apologi[sz]e)\W+"
)
"""What may stand before the following, several of them too."""

_FAILURES: Final = (
    r"<(?:!doctype )?html\b",
    r"<\?xml\b",
    r"traceback \(most recent call last\)",
    r"upstream (?:connect|request)\b",
    r"(?:\w+: )?(?:an? |the )?(?:\w+ ){0,2}error (?:has |have |was )?(?:occurred|encountered)\b",
    r"(?:oops\W+)?(?:something|it) (?:has |seems to have )?(?:went|gone) wrong\b",
    r"[^.!?]{0,80}[.!?,:;-] (?:please (?:try again|retry)|(?:try again|retry)(?: later| in | after|\W*\Z))",
)
"""What services and programs say in place of an answer: how it begins."""

_SOME_WORDS: Final = r"(?:[\w-]+ ){0,4}"
_I_NEED: Final = r"i(?:'d|'ll| would| will)? need"
_IS: Final = r"(?:is|are|was|were)"
_OF_IT: Final = r"(?:\W*\Z|[.!;,]| to summari| in your| here| about| regarding| concerning)"

_FOUND_NOTHING: Final = (
    (
        r"(?:it )?(?:appears|seems|looks)(?: that| like)? "
        rf"(?:there(?:'s| {_IS}) (?:no|not|nothing)\b {_SOME_WORDS}(?:{_TEXT}|to summari)|no {_TEXT}\b"
        rf"|(?:the|your) {_TEXT} (?:[\w-]+ ){{0,3}}(?:empty|missing|blank|incomplete|cut))"
    ),
    (
        rf"(?:there {_IS} )?(?:no|not any|not enough|insufficient) (?:\w+ )?(?:{_TEXT}|context)"
        rf" (?:(?:was|were|has been|have been) )?(?:provided|given|supplied|attached|included){_OF_IT}"
    ),
    rf"there {_IS} (?:no|not any|not enough|insufficient) (?:\w+ )?(?:{_TEXT}|context) [^.!?]{{0,60}}\bto summari",
    (
        rf"(?:the|your|this) (?:provided |given )?{_TEXT} [^.!?]{{0,40}}"
        r"\b(?:is|are|was|were|appears? to be|seems? to be) (?:empty|blank|missing)\b"
    ),
    (
        r"(?:i|we) (?:can't|cannot|can not|couldn't|could not|don't|do not|didn't|did not) (?:actually |currently )?"
        rf"(?:see|view|find|have|detect|open|read) {_SOME_WORDS}"
        rf"(?:{_TEXT}|(?:enough|any|sufficient) (?:[\w-]+ )?(?:information|context|details?))\b"
    ),
    rf"{_I_NEED} (?:the|more|a|to see|to read|some|additional|further) {_SOME_WORDS}(?:{_TEXT}|context|information)\b",
    (
        rf"(?:kindly|please) (?:paste|provide|share|send|upload|supply|give|include) (?:me |us )?(?:with )?"
        rf"(?:the|your|a|some|more) (?:[\w-]+ )?(?:{_TEXT}|context)\b"
    ),
)
"""That there is no text, or that one is needed: how an answer begins."""

_TO_THE_READER: Final = (
    r"(?:in order )?to (?:summari[sz]e|help|assist|write)\b[^.!?]{0,80}\bi(?:'d| would|'ll| will)? need\b",
    rf"(?=.*\b(?:you|your|(?:can|could|may|should|shall) i)\b)(?:(?!{_REPORTS})[^\"\u201c])*\?\W*\Z",
    (
        rf"{_ANY}please (?:paste|provide|share|send|upload) (?:the|your|a) (?:[\w-]+ )?{_TEXT}"
        r"(?:\W*\Z| (?:that )?you\b| to (?:be )?summar)"
    ),
    rf"{_ANY}\b(?:no|not enough|insufficient|more) (?:\w+ )?(?:{_TEXT}|context) (?:to (?:be )?|to \w+ a )?summar",
    (
        rf"{_ANY}(?:\A|(?<=[.!?;:,] ))"
        r"please (?:share|provide|send|give|tell|contact|reach out|clarify|confirm|specify)\b"
        r"[^.!?]{0,80}\b(?:so (?:that )?i can|what you|i can't|i cannot|your?)\b"
    ),
)

EXCUSES: Final = (
    _ANY + _CLAUSE_BEGINS + any_of(*_OF_ITSELF) + rf"(?!.*{_REPORTS})",
    _ANY + any_of(*_OF_ITS_LIMITS),
    *_TO_THE_READER,
)
"""How an answer begins, or goes on, that is no summary."""

IMPERSONAL_EXCUSES: Final = (
    _ANY + any_of(*_OF_ITS_TASK),
    *_LABELS,
    f"(?:{_LEADS})*" + any_of(*_FAILURES, *_FOUND_NOTHING),
)
"""What people, services and programs say of other things too. Where the conversation says just this, a summary may."""
