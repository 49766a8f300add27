"""What models put around what they were asked for: their thinking, a code fence, a line that announces it."""

from __future__ import annotations

from typing import Final, NamedTuple

import regex

_TAGS: Final = "think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad"
_OPENING: Final = rf"(?:[<\u25c1]\|?(?:seed:)?(?P<tag>{_TAGS})\b[^<>\u25c1\u25b7]*[>\u25b7]|\[THINK\])"
_CLOSING: Final = r"(?:[<\u25c1]\|?/(?:seed:)?(?:{tags})\s*\|?[>\u25b7]|\[/THINK\]|<\|channel\|>final<\|message\|>)"
_ENDS_LINE: Final = r"(?=[^\S\n]*(?:\n|\Z))"


class _Tags(NamedTuple):
    """Which tags are of thinking: a whole block at a place, one that has no end, and an end without its beginning."""

    block: regex.Pattern[str]
    opened: regex.Pattern[str]
    closed: regex.Pattern[str]


def _tags(behind_opened: str, behind_end: str, behind_closed: str) -> _Tags:
    """behind: what has to follow the tag that opens alone, that ends a block, that closes alone."""
    end = _CLOSING.format(tags="(?P=tag)")
    return _Tags(
        _compiled(rf"\s*{_OPENING}.*?{end}{behind_end}"),
        _compiled(rf"\s*{_OPENING}{behind_opened}"),
        _compiled(_CLOSING.format(tags=_TAGS) + behind_closed),
    )


def _compiled(pattern: str) -> regex.Pattern[str]:
    return regex.compile(pattern, regex.IGNORECASE | regex.DOTALL)


_USUAL: Final = _tags("", "", r"(?=[^\S\n]*(?:\n|\Z)|[\w*#])")
"""A tag that closes alone and has a sentence go on behind it is one that the summary is about."""

_AMONG_OTHERS: Final = _tags(_ENDS_LINE, _ENDS_LINE, _ENDS_LINE)
"""Where the conversation is about such tags, those within a line are what a summary tells of."""

_MENTIONED: Final = _compiled(_OPENING)
_TOLD_OF: Final = _compiled(rf"{_OPENING}|{_CLOSING.format(tags=_TAGS)}")

_WHOLE: Final = (
    regex.compile(
        r"(?P<fence>```+|~~~+)[^\S\n]*[\w+-]*[^\S\n]*\n(?P<inner>(?:(?!(?P=fence)).)*)\n[^\S\n]*(?P=fence)",
        regex.DOTALL,
    ),
    regex.compile(
        r"<(?P<tag>summary|answer|response|output|final)>(?P<inner>.*)</(?P=tag)>", regex.IGNORECASE | regex.DOTALL
    ),
)
"""What may enclose an answer as a whole."""

_MOST_FRAMES: Final = 4
"""How many of those, and headings, are looked for inside each other."""

_COLON: Final = regex.compile("[:\uff1a]")
_MARKUP: Final = " *_#:\uff1a"
_ANNOUNCES: Final = regex.compile(
    r"""(?:(?:sure|certainly|of\ course|okay|ok|absolutely|gerne|natürlich|bien\ sûr|claro)[\s,.!-]*)*
    (?:(?:based\ on|according\ to|from)\ (?:the\ )?(?:record|conversation|messages|text)(?:\ above|\ provided)?,\ )?
    (?:(?:here(?:'s|\ is)|below\ is|this\ is|hier\ ist|voici|aquí\ (?:está|tienes)|ecco|aqui\ está)\ )?
    (?:(?:a|an|the|your|my|eine|die|un|une|la|le|el|il|o)\ )?
    (?:(?:brief|short|concise|shortened|updated|final|kurze|breve|bref)\ )*
    (?:summary|shortened\ (?:text|version)|zusammenfassung|résumé|resumen|riassunto|resumo|samenvatting|podsumowanie|
       streszczenie|резюме|краткое\ содержание|摘要|总结|總結|要約|まとめ|요약)
    (?:\ (?:of|der|des|du|de\ la|de|del|della|da|van)\ (?:\w+\ )?
       (?:record|conversation|chat|discussion|messages|text|gesprächs|unterhaltung|conversación|conversazione|conversa)
       (?:\ above)?)?
    (?:,?\ in\ (?:at\ most\ )?\d+\ words)?""",
    regex.VERBOSE | regex.IGNORECASE,
)


def unwrapped(text: str, told: str) -> str | None:
    """Returns what stands inside: empty if nothing does, None if the answer ends before its thinking does.

    told: what the model was asked to summarise. Thinking is taken off at the beginning only, since a conversation may
    be about such tags.
    """
    tags = _AMONG_OTHERS if _TOLD_OF.search(told) else _USUAL
    # By places, not by cutting: an answer may have as many blocks as its length allows.
    begins = 0
    while thinking := tags.block.match(text, begins):
        begins = thinking.end()
    if tags.opened.match(text, begins):
        return None
    closed = tags.closed.search(text, begins)
    if closed is not None and _MENTIONED.search(text, begins, closed.start()) is None:
        # The first tag was part of the prompt that the provider's template makes.
        begins = closed.end()
    return without_frame(text[begins:].strip())


def without_frame(text: str) -> str:
    """Returns what stands inside a fence, a tag or behind a heading; the text if nothing encloses it."""
    for _ in range(_MOST_FRAMES):
        for frame in _WHOLE:
            if enclosed := frame.fullmatch(text):
                text = enclosed["inner"].strip()
        text = _without_heading(text)
    return text


def _without_heading(text: str) -> str:
    """Returns what follows a line, or the beginning of one, that only announces a summary; the text if nothing does."""
    line, _, below = text.partition("\n")
    cuts = [(line, below)]
    if colon := _COLON.search(line):
        cuts.append((line[: colon.start()], text[colon.end() :]))
    for heading, following in cuts:
        words = heading.strip(_MARKUP).replace("\u2019", "'")
        bold = "**" if heading.startswith("**") else "__" if heading.startswith("__") else ""
        inside = following.strip().removeprefix(bold).strip()
        if inside and _ANNOUNCES.fullmatch(words):
            return inside
    return text
