"""What models put around what they were asked for: their thinking, a code fence, a line that announces it, an offer."""

from __future__ import annotations

from typing import Final

import regex

_NAMES: Final = "think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad"
_OPENS: Final = rf"(?:[<\u25c1]\|?(?:seed:)?(?P<tag>{_NAMES})\b[^<>\u25c1\u25b7]*[>\u25b7]|\[THINK\])"
_CLOSES_ANY, _CLOSES_ITS_OWN = (
    rf"(?:[<\u25c1]\|?/(?:seed:)?(?:{names})\s*\|?[>\u25b7]|\[/THINK\]|<\|channel\|>final<\|message\|>)"
    for names in (_NAMES, "(?P=tag)")
)
"""A block ends with the tag that began it: thinking may have blocks of other names inside."""

_LINE_ENDS: Final = r"(?=[^\S\n]*(?:\n|\Z))"
_LINE_OR_SENTENCE: Final = r"(?=[^\S\n]*(?:\n|\Z)|[\w*#])"
"""What stands behind a tag that only closes; one that a sentence goes on behind is one that the summary is about."""


def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE | regex.DOTALL)


_TAGS, _TAGS_AT_ENDS_OF_LINES = (
    tuple(map(_compiled, (rf"\s*{_OPENS}.*?{_CLOSES_ITS_OWN}{ends}", rf"\s*{_OPENS}{ends}", _CLOSES_ANY + behind)))
    for ends, behind in (("", _LINE_OR_SENTENCE), (_LINE_ENDS, _LINE_ENDS))
)
"""A whole block, one that has no end, an end without its beginning."""

_TAG: Final = _compiled(f"{_OPENS}|{_CLOSES_ANY}")
_OPENING: Final = _compiled(_OPENS)

_TURN_ENDS: Final = regex.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|end|end_of_text|endoftext|end_of_turn|return|eos)\|>|<(?:end_of_turn|/s)>"
    r"|<\uff5cend\u2581of\u2581sentence\uff5c>"
)
"""As the chat templates of open models write it; a server that knows the template takes it off."""

_FRAMES: Final = (
    _compiled(r"(?P<fence>```+|~~~+)[^\S\n]*[\w+-]*[^\S\n]*\n(?P<inner>(?:(?!(?P=fence)).)*)\n[^\S\n]*(?P=fence)"),
    _compiled(r"<(?P<tag>summary|answer|response|output|final)>(?P<inner>.*)</(?P=tag)>"),
    _compiled(
        r"[\s*_#]*+(?:(?:sure|certainly|absolutely|of course|okay|ok)[\s,.!-]*)?"
        r"(?:(?:based on|according to) [\w ]{1,30}, )?"
        r"(?:(?:here(?:['\u2019]s| is)|below is|this is) )?(?:(?:an?|the|my|your) )?"
        r"(?:(?:brief|short|shortened|concise|updated|final) )?"
        r"(?:summary|shortened (?:text|version)|zusammenfassung|résumé|resumen|resumo|riassunto|摘要|总结|要約)"
        r"(?: of (?:the|our|this) (?:record|conversation|chat|discussion|messages|text)(?: above)?)?"
        r"(?:,? in (?:at most )?\d+ words)?[*_]*(?:[:\uff1a]|[^\S\n]*\n)\**\s*(?P<inner>.+)"
    ),
)
"""What may enclose an answer as a whole: a fence, a tag, a heading."""

_MOST_FRAMES: Final = 4
"""How many of those are looked for inside each other."""

_OFFER: Final = _compiled(
    r"""(?<=\A|[\n.!?*]|[.!?]["'\u201d)])\s*\**(?P<begins>(?:please |just )?(?:let me know|feel free to)\b"""
    r"|\(?(?:total )?(?:word|token) count\b|\(?note: i(?:'ve| have)? (?:omitted|left out|removed|kept|shortened)\b"
    r"|i hope (?:this|that)\b|(?:would you like|do you want) me to\b|is there anything else\b"
    r"|if you(?:'d like| need| want| have any)\b[^.!?\n]*(?:let me know|feel free|just ask))[^.!?\n]*[.!?]*\**\s*\Z"
)
"""A last sentence that speaks to whoever asked for the summary."""

_LONGEST_OFFER: Final = 300
"""In characters. Further back no offer begins, so that a long answer is not searched for one."""


def unwrapped(text: str, told: str) -> str | None:
    """Returns what stands inside: empty if nothing does, None if the answer ends before its thinking does.

    told: what the model was asked to summarise. Marks and offers that it holds itself may be what the summary tells of.
    """
    answer = _behind_thinking(text, told)
    if answer is None:
        return None
    if not _TURN_ENDS.search(told) and (end := _TURN_ENDS.search(answer)):
        answer = answer[: end.start()]
    return _unframed(_without_offer(_unframed(answer.strip()), told))


def _behind_thinking(text: str, told: str) -> str | None:
    """Takes thinking off at the beginning: whole blocks, and what a tag closes that the provider's template opened."""
    # Where the conversation is about such tags, one within a line is what a summary tells of.
    block, opened, closed = _TAGS_AT_ENDS_OF_LINES if _TAG.search(told) else _TAGS
    begins = 0
    # By places, not by cutting: an answer may have as many blocks as its length allows.
    while thinking := block.match(text, begins):
        begins = thinking.end()
    if opened.match(text, begins):
        return None
    end = closed.search(text, begins)
    if end and not _OPENING.search(text, begins, end.start()):
        begins = end.end()
    return text[begins:]


def _unframed(text: str) -> str:
    for _ in range(_MOST_FRAMES):
        for frame in _FRAMES:
            if enclosed := frame.fullmatch(text):
                text = enclosed["inner"].strip()
    return text


def _without_offer(text: str, told: str) -> str:
    offer = _OFFER.search(text.replace("\u2019", "'"), max(0, len(text) - _LONGEST_OFFER))
    if offer and offer["begins"].casefold() not in told.replace("\u2019", "'").casefold():
        text = text[: offer.start()].rstrip()
    return text
