"""The keys under which payloads are encrypted: AES-256-GCM, the first key writes, all of them read.

The packages that encrypt and write base64 are optional, and imported when a keyring is made.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import secrets
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Self

from durable_memory.memory.privacy.sealed_payload import parts_of, sealed_payload

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    from cryptography.hazmat.primitives.hmac import HMAC

_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}", re.ASCII)
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
"""Random, as NIST SP 800-38D allows for 2^32 records under one key; then the key should have been rotated."""
_DIGEST_CHARACTERS: Final = 32
_CHECKED: Final = "durable-memory key check"


class UnknownKey(Exception):
    """A payload was encrypted under a key that this keyring does not hold."""


class NotOpened(Exception):
    """A payload does not open: its key is another one of that name, or it was changed, or bound to something else."""


class Keyring:
    """Encrypts and decrypts. Every payload is bound to what it belongs to, and opens for nothing else."""

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        """keys: of 32 bytes each by their ids, at least one; the first one writes.

        Raises ValueError where a package is missing.
        """
        try:
            import pybase64  # noqa: PLC0415 - of an optional package; base64 itself takes longer than to decrypt
            from cryptography.exceptions import InvalidTag  # noqa: PLC0415 - the same
            from cryptography.hazmat.primitives.ciphers.aead import AESGCM  # noqa: PLC0415 - the same
            from cryptography.hazmat.primitives.hashes import SHA256  # noqa: PLC0415 - the same
            from cryptography.hazmat.primitives.hmac import HMAC  # noqa: PLC0415 - the same
        except ImportError as error:
            raise ValueError(
                f"needs the package {(error.name or '').partition('.')[0]}, which is not installed: "
                "pip install 'durable-memory[privacy]'"
            ) from None
        self._to_base64 = pybase64.b64encode_as_string
        self._from_base64 = pybase64.b64decode
        self._invalid: type[Exception] = InvalidTag
        self._ciphers: Mapping[str, AESGCM] = MappingProxyType({name: AESGCM(key) for name, key in keys.items()})
        self._writes = next(iter(keys))
        of_digests = (hashlib.sha256(b"durable-memory digest\0" + key).digest() for key in keys.values())
        self._digests = [HMAC(key, SHA256()) for key in of_digests]

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self._ciphers)})"

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `id:base64` pairs, separated by commas or white space.

        Raises ValueError that says what is wrong by the position of the pair, never with a part of a key.
        """
        if not isinstance(text, str):
            raise ValueError(f"must be text, not {type(text).__name__}")  # noqa: TRY004 - the callers' one word for it
        keys: dict[str, bytes] = {}
        for position, pair in enumerate(re.split(r"[,\s]+", text.strip(", \t\r\n")), start=1):
            name, _, encoded = pair.partition(":")
            if _ID.fullmatch(name) is None or not encoded:
                raise ValueError(
                    f"key {position} must be <id>:<base64 of 32 bytes>, the id of 1 to 32 letters, digits, '_' and '-'"
                )
            try:
                key = base64.b64decode(encoded, validate=True)
            except binascii.Error:
                raise ValueError(f"key {position} is not base64") from None
            if len(key) != _KEY_BYTES:
                raise ValueError(
                    f"key {position} has {len(key)} bytes; {_KEY_BYTES} are needed: openssl rand -base64 32"
                )
            if name in keys:
                raise ValueError(f"key {position} has the id of another one")
            keys[name] = key
        return cls(keys)

    @property
    def checks(self) -> Mapping[str, str]:
        """By the id of each key, what tells it from another key of this id, and nothing else of it."""
        return {key_id: self._keyed(key, _CHECKED) for key_id, key in zip(self._ciphers, self._digests, strict=True)}

    def seal(self, plain: bytes, bound_to: bytes) -> tuple[str, bytes]:
        """Returns the id of the key that writes, and what it made of `plain`."""
        nonce = secrets.token_bytes(_NONCE_BYTES)
        return self._writes, nonce + self._ciphers[self._writes].encrypt(nonce, plain, bound_to)

    def open(self, key_id: str, sealed: bytes, bound_to: bytes) -> bytes:
        """Returns what was sealed. Raises UnknownKey, NotOpened."""
        cipher = self._ciphers.get(key_id)
        if cipher is None:
            raise UnknownKey(key_id)
        try:
            return cipher.decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], bound_to)
        except (self._invalid, ValueError):
            raise NotOpened(key_id) from None

    def seal_text(self, plain: str, bound_to: bytes) -> str:
        """Returns the payload of an encrypted text, see sealed_payload."""
        key_id, sealed = self.seal(plain.encode(), bound_to)
        return sealed_payload(key_id, self._to_base64(sealed))

    def open_text(self, payload: str, bound_to: bytes) -> str:
        """Returns the text that was sealed. Raises UnknownKey, NotOpened."""
        key_id, encoded = parts_of(payload)
        try:
            sealed = self._from_base64(encoded, validate=True)
        except ValueError:
            raise NotOpened(key_id) from None
        return self.open(key_id, sealed, bound_to).decode()

    def digest(self, digest: str) -> str:
        """Returns a digest that can be compared, and not guessed at without a key; that of the key that writes."""
        return self._keyed(self._digests[0], digest)

    def other_digests(self, digest: str) -> Iterator[str]:
        """Yields what the same digest is where this keyring is not in force yet, or was before: of each other key."""
        for key in self._digests[1:]:
            yield self._keyed(key, digest)

    def _keyed(self, key: HMAC, digest: str) -> str:
        keyed = key.copy()
        keyed.update(digest.encode())
        return keyed.finalize().hex()[:_DIGEST_CHARACTERS]
