"""What models put around what they were asked for: their thinking, a code fence, a line that announces it."""

from __future__ import annotations

from typing import Final

import regex

_TAGS: Final = "think|thinking|thoughts?|reasoning|reflection|analysis|scratchpad"
_THINKING: Final = regex.compile(
    rf"\s*(?:<(?P<tag>{_TAGS})\b[^<>]*>.*?</(?P=tag)\s*>|\[THINK\].*?\[/THINK\])", regex.IGNORECASE | regex.DOTALL
)
_OPENED: Final = regex.compile(rf"\s*(?:<(?:{_TAGS})\b[^<>]*>|\[THINK\])", regex.IGNORECASE)
_CLOSED: Final = regex.compile(rf"(?:</(?:{_TAGS})\s*>|\[/THINK\])", regex.IGNORECASE)
_MENTIONED: Final = regex.compile(rf"(?:<(?:{_TAGS})\b[^<>]*>|\[THINK\])", regex.IGNORECASE)

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


def unwrapped(text: str) -> str | None:
    """Returns what stands inside: empty if nothing does, None if the answer ends before its thinking does.

    Thinking is taken off at the beginning only, since a conversation may be about such tags.
    """
    text = text.strip()
    while thinking := _THINKING.match(text):
        text = text[thinking.end() :].strip()
    if _OPENED.match(text):
        return None
    closed = _CLOSED.search(text)
    if closed is not None and _MENTIONED.search(text, 0, closed.start()) is None:
        # The first tag was part of the prompt that the provider's template makes.
        text = text[closed.end() :].strip()
    return _without_frame(text)


def _without_frame(text: str) -> str:
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
