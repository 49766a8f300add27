"""Recognisers of credentials: API keys in the forms that their issuers give them, tokens, private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from durable_memory.memory.privacy.entities import Recogniser, Span
from durable_memory.memory.privacy.neighbours import BEGINS, NEXT, WHITE, is_alone

_SHAPES: Final = (
    r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}",  # Stripe
    r"whsec_[A-Za-z0-9+/=]{16,}",
    r"gh[oprsu]_[A-Za-z0-9]{30,}",  # GitHub
    r"github_pat_[A-Za-z0-9_]{22,}",
    r"gl(?:pat|dt|rt|ptt|soat|cbt)-[A-Za-z0-9_\-]{20,}",  # GitLab
    r"(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{16}",  # AWS
    r"AIza[A-Za-z0-9_\-]{35}",  # Google
    r"ya29\.[A-Za-z0-9_\-]{20,}",
    r"GOCSPX-[A-Za-z0-9_\-]{20,}",
    r"xox[abeoprs](?:\.xox[abeoprs])?-[A-Za-z0-9\-]{10,}",  # Slack
    r"xapp-[0-9]-[A-Za-z0-9\-]{10,}",
    r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/]{20,}",
    r"eyJ[A-Za-z0-9_\-]{8,}\.[A-Za-z0-9_\-]{8,}(?:\.[A-Za-z0-9_\-]*){0,3}",  # JSON web tokens
    r"SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}",  # SendGrid
    r"npm_[A-Za-z0-9]{30,}",
    r"pypi-[A-Za-z0-9_\-]{40,}",
    r"hf_[A-Za-z0-9]{30,}",  # Hugging Face
    r"SK[0-9a-f]{32}",  # Twilio
    r"[0-9]{8,10}:AA[A-Za-z0-9_\-]{32,}",  # Telegram
    r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}",  # Shopify
    r"do[por]_v1_[a-f0-9]{64}",  # DigitalOcean
    r"gsk_[A-Za-z0-9]{40,}",  # Groq
    r"(?:xai|pplx|nvapi)-[A-Za-z0-9_\-]{30,}",
    r"r8_[A-Za-z0-9]{30,}",  # Replicate
    r"lin_api_[A-Za-z0-9]{30,}",  # Linear
    r"(?:ntn|secret)_[A-Za-z0-9]{40,}",  # Notion
    r"dapi[a-f0-9]{32}",  # Databricks
    r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._\-]{30,}",  # Doppler
    r"key-[a-f0-9]{32}",  # Mailgun
    r"sq0(?:atp|csp)-[A-Za-z0-9_\-]{22,}",  # Square
    r"hv[sbr]\.[A-Za-z0-9_\-]{24,}",  # Vault
    r"tskey-[a-z]+-[A-Za-z0-9\-]{16,}",  # Tailscale
    r"sb[ps]_[A-Za-z0-9_]{32,}",  # Supabase
    r"PMAK-[a-f0-9]{24}-[a-f0-9]{34}",  # Postman
    r"NRAK-[A-Z0-9]{27}",  # New Relic
    r"AGE-SECRET-KEY-1[A-Z0-9]{58}",
    r"pcsk_[A-Za-z0-9_]{40,}",  # Pinecone
    r"lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{8,}",  # LangSmith
    r"tvly-(?:dev-|prod-)?[A-Za-z0-9\-]{20,}",  # Tavily
    r"csk-[a-z0-9]{40,}",  # Cerebras
    r"AT(?:AT|CT|BB)T3[A-Za-z0-9_=\-]{30,}",  # Atlassian
    r"dckr_(?:pat|oat)_[A-Za-z0-9_\-]{20,}",  # Docker
    r"gl(?:sa|c)_[A-Za-z0-9_+/=]{30,}",  # Grafana
    r"fig[dur]_[A-Za-z0-9_\-]{30,}",  # Figma
    r"sntry[su]_[A-Za-z0-9_+/=]{30,}",  # Sentry
    r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_\-.=]{24,}",  # PlanetScale
    r"pat-(?:na|eu)[0-9]-[a-f0-9]{8}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{4}-[a-f0-9]{12}",  # HubSpot
    r"rubygems_[a-f0-9]{40,}",
    r"sq[pua]_[a-f0-9]{40}",  # SonarQube
    r"1//0[A-Za-z0-9_\-]{30,}",  # Google, to refresh with
)

_OF_WHAT: Final = (
    r"(?:api|access|secret|auth|client|private|account|signing|encryption|bearer|refresh|id|session|shared)"
    r"[ _\-]?(?:access[ _\-]?)?"
)
_NAMES: Final = rf"{_OF_WHAT}(?:key|token|secret)|token|secret"
_PLURALS: Final = rf"{_OF_WHAT}(?:key|token|secret)s|tokens|secrets"
_FEWEST_DIGITS: Final = 3
_SHORTEST_NAMED: Final = 12
_SHORTEST_BEARER: Final = 12
_VALUE: Final = rf"[A-Za-z0-9._~+/=\-]{{{_SHORTEST_NAMED},}}"
_VALUE_HERE: Final = re.compile(_VALUE)
_NAME: Final = re.compile(r"[a-z]+(?:_(?:[a-z]+|[0-9]{1,3}[a-z]?))+")
_PART: Final = r"(?:[A-Za-z]+(?:[0-9]{1,3}[A-Za-z]*)?|[0-9]{1,3}[a-z]?)"
_PATH: Final = re.compile(rf"_*{_PART}(?:[._]+{_PART})*\.?")
"""Names of a program in a row, `process.env.OPENAI_KEY_2`. What is drawn at random has digits in more places."""
_GIVES: Final = (
    rf"[\"'`*)]{{0,3}}[{WHITE}]{{0,2}}(?:=>|[:=|>]| is| are)[{WHITE}]{{0,6}}(?:[*\-] )?"
    rf"[\"'`*\[({{]{{0,3}}[{WHITE}]{{0,2}}[\"'`]?"
)
"""From a name to its value. More is asked than of numbers: a word of twelve characters is found soon."""


def _alone(text: str, start: int, end: int) -> Iterator[Span]:
    if is_alone(text, start, end):
        yield start, end


def _shaped(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields what stands alone and has a digit: names in programs have the same shapes, and rarely one."""
    before = text[max(0, start - 1) : start]
    if before.isascii() and before.isalnum():
        return
    if any(character.isdigit() for character in text[start:end]):
        yield start, end


def _random(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields what is no word: letters and digits."""
    value = text[start:end]
    if any(c.isdigit() for c in value) and any(c.isalpha() for c in value):
        yield start, end


def _assigned(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields what is no word, and no expression of a program: what it calls, or looks up in something."""
    looks_up = "." in text[start : end - 1] or text[end : end + 1] in ("(", "[")
    if not (looks_up and _PATH.fullmatch(text, start, end)):
        yield from _random(text, start, end)


def _drawn(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields what is no word, and no name that a program gives."""
    if not _PATH.fullmatch(text, start, end):
        yield from _random(text, start, end)


def _each_random(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields of a list what is no word and no name: `tokens` are also what a model reads, in `tokens: day_1_tokens`."""
    for value in _VALUE_HERE.finditer(text, start, end):
        if not _NAME.fullmatch(value[0]):
            yield from _assigned(text, *value.span())


def _of_a_model(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields what has several digits: classes of style sheets begin with sk- too."""
    if sum(character.isdigit() for character in text[start:end]) >= _FEWEST_DIGITS:
        yield from _shaped(text, start, end)


def _of_a_session(text: str, start: int, end: int) -> Iterator[Span]:
    """Yields the header of cookies if one of them is drawn at random."""
    if any(any(_random(text, *value.span())) for value in _VALUE_HERE.finditer(text, start, end)):
        yield start, end


CREDENTIALS: Final = (
    Recogniser("api_key", r"(?:AKIA|ASIA)[A-Z2-7]{16}", _alone),  # AWS: one in thirty has no digit
    # OpenAI, Anthropic, OpenRouter, and who followed them.
    Recogniser("api_key", r"sk-[A-Za-z0-9_\-]{20,}", _of_a_model),
    Recogniser("api_key", "|".join(_SHAPES), _shaped),
    Recogniser(
        "api_key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[\s\S]*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|(?:\s|\\n|[A-Za-z0-9+/=:,\-])*)",
    ),
    Recogniser(
        "api_key",
        rf"(?i)(?:\b|_)(?:bearer|basic)[ :]+(?P<value>[A-Za-z0-9._~+/=\-]{{{_SHORTEST_BEARER},}})",
        _random,
    ),
    Recogniser(
        "api_key",
        rf"(?i)(?:\b|_)(?:{_NAMES}){_GIVES}(?P<value>{_VALUE})",
        _assigned,
        labelled=True,
    ),
    Recogniser("api_key", rf"(?i){BEGINS}-{{1,2}}(?:{_NAMES}) (?P<value>{_VALUE})", _random),  # an option of a command
    Recogniser(
        "api_key",
        rf"(?i)(?:\b|_)(?:{_PLURALS}){_GIVES}(?P<value>{_VALUE}(?:{NEXT}{_VALUE})*)",
        _each_random,
        labelled=True,
    ),
    Recogniser(
        "api_key",
        r"(?i)(?:\b|_)authorization[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?:bearer|basic|token|digest|apikey)\s{1,2}"
        r"(?P<value>[A-Za-z0-9._~+/=\-]{8,})",
    ),
    Recogniser(
        "api_key",
        r"(?i)(?:\b|_)cookie[\"']?\s{0,2}[:=]\s{0,2}[\"']?(?P<value>[A-Za-z0-9_.\-]{1,60}=[^\s\"';]*(?:;\s?[^\s\"';]+)*)",
        _of_a_session,
        labelled=True,
    ),
    Recogniser("api_key", rf"(?i)(?:\b|_)authorization{_GIVES}(?P<value>{_VALUE})", _drawn, labelled=True),
    # What signs a URL that opens a file to whoever has it: of AWS, Google, Azure.
    Recogniser(
        "api_key",
        r"(?i)(?:\bx-(?:amz|goog)-(?:signature|security-token)|[?&;](?:sig|signature))=(?P<value>[A-Za-z0-9._~+/=\-]{20,})",
        _drawn,
    ),
    # What a URL says before its host: user and password.
    Recogniser("api_key", r"(?i)(?:\b|_)[a-z][a-z0-9+.\-]{1,20}://(?P<value>[^\s/@:\"']*:[^\s/@\"']+)@"),
)
