"""A payload codec for Temporal: what workflows and activities pass stands encrypted in histories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from durable_memory.memory.errors import MemoryInvalid, MemoryUndecryptable
from durable_memory.memory.privacy.keyring import Keyring, NotOpened, UnknownKey

_ENCODING: Final = b"binary/encrypted"
_KEY_ID: Final = "encryption-key-id"
_BOUND_TO: Final = b"durable-memory temporal payload\0"
"""A payload of a history opens as nothing else, and no record of a memory opens as one."""


class EncryptionCodec(PayloadCodec):
    """Encrypts every payload with AES-256-GCM. The first key writes, all of them read; plain payloads are still read.

    Put it on the data converter of all clients and workers of a namespace:
    `dataclasses.replace(DataConverter.default, payload_codec=EncryptionCodec(keys))`.
    """

    def __init__(self, keys: str) -> None:
        """keys: `id:base64` pairs of 32 bytes, separated by commas or white space. Raises MemoryInvalid."""
        try:
            self._keyring = Keyring.parse(keys)
        except ValueError as error:
            raise MemoryInvalid(f"keys: {error}") from None

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See PayloadCodec."""
        return [self._encode(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """See PayloadCodec. Raises MemoryUndecryptable."""
        return [self._decode(payload) for payload in payloads]

    def _encode(self, payload: Payload) -> Payload:
        key_id, sealed = self._keyring.seal(payload.SerializeToString(), _BOUND_TO)
        return Payload(metadata={"encoding": _ENCODING, _KEY_ID: key_id.encode()}, data=sealed)

    def _decode(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != _ENCODING:
            return payload
        key_id = payload.metadata.get(_KEY_ID, b"").decode("ascii", "replace")
        try:
            return Payload.FromString(self._keyring.open(key_id, payload.data, _BOUND_TO))
        except UnknownKey:
            raise MemoryUndecryptable(
                f"a payload is encrypted with key {key_id!r}, which this process does not have: add it to its payload "
                "keys (DURABLE_MEMORY_PAYLOAD_KEYS)"
            ) from None
        except NotOpened:
            raise MemoryUndecryptable(
                f"a payload does not open with key {key_id!r}: the key of this name is another one here than where the "
                "payload was written, or it was changed; give all clients and workers the same keys "
                "(DURABLE_MEMORY_PAYLOAD_KEYS)"
            ) from None
