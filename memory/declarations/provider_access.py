"""How a declaration names a provider's service: its address, and the variable that holds the key. Never the key."""

from __future__ import annotations

import re
from typing import Annotated, Final, TypeGuard
from urllib.parse import urlsplit

from pydantic import AfterValidator, WithJsonSchema

_VARIABLE_PATTERN: Final = "^[A-Za-z_][A-Za-z0-9_]{0,99}$"
_VARIABLE: Final = re.compile(_VARIABLE_PATTERN.strip("^$"), re.ASCII)


def is_variable(value: object) -> TypeGuard[str]:
    """Tells whether `value` can be the name of an environment variable, and so may be repeated in an error."""
    return isinstance(value, str) and _VARIABLE.fullmatch(value) is not None


def _checked_variable(value: str) -> str:
    if not is_variable(value):
        raise ValueError("must be the name of an environment variable, such as OPENAI_API_KEY, and never a key itself")
    return value


def _checked_endpoint(value: str) -> str:
    try:
        parts = urlsplit(value)
        port_is_right = parts.port is None or parts.port > 0
    except ValueError:
        parts, port_is_right = urlsplit(""), False
    if parts.scheme not in ("http", "https") or not parts.hostname or not port_is_right or " " in value:
        raise ValueError("must be a URL such as https://llm.example.com/v1")
    if parts.username is not None or parts.query or parts.fragment:
        raise ValueError("must hold no user, password or query; name the variable of a key in api_key_env")
    return value


Variable = Annotated[
    str,
    AfterValidator(_checked_variable),
    WithJsonSchema({"type": "string", "title": "name of an environment variable", "pattern": _VARIABLE_PATTERN}),
]
"""A field that names an environment variable."""

Endpoint = Annotated[
    str, AfterValidator(_checked_endpoint), WithJsonSchema({"type": "string", "title": "URL", "format": "uri"})
]
"""A field that holds the base URL of a service."""
