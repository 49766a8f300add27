"""What models put behind what they were asked for: the mark that ends their turn, an offer to do more, a word count."""

from __future__ import annotations

from typing import Final

import regex

from durable_memory.memory.flushing.llm.alternatives import any_of

_TURN_ENDS: Final = regex.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|end|end_of_text|endoftext|end_of_turn|return|eos)\|>|<(?:end_of_turn|/s)>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
"""As the chat templates of open models write it; a server that knows the template takes it off."""

_OFFERS: Final = (
    # English
    r"(?:please |just )?(?:let me know|feel free to)\b",
    r"\(?(?:total )?(?:word|token|character) count\b",
    r"\(?note: i(?:'ve| have)? (?:omitted|left out|removed|excluded|kept|shortened|tried)\b",
    r"i (?:hope|trust) (?:this|that|the|my)\b",
    r"(?:would you like|do you want) me to\b",
    r"is there anything else\b",
    r"(?:if (?:you (?:need|want|would like|have any)|there's anything)|if you'd like)\b[^,.!?\n]*,? (?:please )?"
    + any_of(r"let me know\b", r"feel free\b", r"just (?:ask|say)\b", r"i (?:can|could)\b"),
    # German
    r"lass(?:en sie)? mich wissen\b",
    r"sag(?:en sie)? (?:mir )?(?:einfach )?bescheid\b",
    r"ich hoffe, (?:das|diese)\b",
    # French
    r"n'hésitez pas à\b",
    r"j'espère que\b",
    # Spanish, Italian, Portuguese
    r"(?:avísame|avíseme|hazme saber|házmelo saber|no dudes en|espero que (?:esto|este))\b",
    r"(?:fammi sapere|spero che (?:questo|sia))\b",
    r"(?:me avise|espero que isso)\b",
    # Dutch
    r"laat (?:het )?(?:me|mij) weten\b",
)
"""How a sentence begins that speaks to whoever asked for the summary."""

_SENTENCE_BEGINS: Final = r"""(?<=^|[\n.!?\u2026*]|[.!?\u2026]["'\u201d)])\s*\**"""
_TEXT_ENDS: Final = r"[^.!?\n]*[.!?]*\**\s*\Z"

_OFFER: Final = regex.compile(rf"{_SENTENCE_BEGINS}(?P<begins>{any_of(*_OFFERS)}){_TEXT_ENDS}", regex.IGNORECASE)

_LONGEST_OFFER: Final = 300
"""In characters. Further back no offer begins, so that a long answer is not searched for one."""


def without_trailer(text: str, told: str) -> str:
    """Returns what stands before the first mark that ends a turn, without the offer that it closes with.

    told: what the model was asked to summarise. What is said there is what the summary tells of.
    """
    if not _TURN_ENDS.search(told) and (end := _TURN_ENDS.search(text)):
        text = text[: end.start()].rstrip()
    offer = _OFFER.search(text.replace("\u2019", "'"), max(0, len(text) - _LONGEST_OFFER))
    if offer and _words(offer["begins"]) not in _words(told):
        text = text[: offer.start()].rstrip()
    return text


def _words(text: str) -> str:
    return " ".join(text.replace("\u2019", "'").casefold().split())
