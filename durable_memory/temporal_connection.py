"""Connects our programs to Temporal, as TEMPORAL_* and its configuration file say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from temporalio.client import Client, Plugin
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfigProfile
from temporalio.runtime import Runtime

from durable_memory.encryption_codec import EncryptionCodec
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable

_CONNECT_SECONDS = 5


def load_profile(address: str | None = None) -> ClientConfigProfile:
    """Returns what is configured; its address is None if nothing is.

    address: wins over the configured one. Raises MemoryInvalid if the configuration cannot be read.
    """
    try:
        profile = ClientConfigProfile.load()
    except Exception as error:  # noqa: BLE001 - its class lives in a private module of temporalio
        # The first line says what and where; those that follow quote the file, which may hold an API key.
        problem = str(error).partition("\n")[0]
        raise MemoryInvalid(f"TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE: {problem}") from None
    return replace(profile, address=address or profile.address or None)


async def connect_temporal(
    profile: ClientConfigProfile,
    *,
    payload_keys: str | None = None,
    plugins: Sequence[Plugin] = (),
    runtime: Runtime | None = None,
    identity: str | None = None,
) -> Client:
    """Connects within a few seconds.

    payload_keys: put `EncryptionCodec` with these keys on the data converter.

    Raises MemoryUnavailable, in one sentence that names the address and no credentials, and MemoryInvalid for a file of
    the TLS settings that cannot be read.
    """
    try:
        config = profile.to_client_connect_config()
    except OSError as error:
        raise MemoryInvalid(f"TEMPORAL_TLS_*: {error.filename} cannot be read: {error.strerror}") from None
    codec = None if payload_keys is None else EncryptionCodec(payload_keys)
    connecting = Client.connect(
        **config,
        data_converter=replace(DataConverter.default, payload_codec=codec),
        plugins=plugins,
        runtime=runtime,
        identity=identity,
    )
    try:
        # Not wait_for: in Python 3.11 it loses a cancellation that comes with the answer, and a worker its SIGTERM.
        async with asyncio.timeout(_CONNECT_SECONDS):
            return await connecting
    except (RuntimeError, ValueError, TimeoutError) as error:
        raise MemoryUnavailable(
            f"Temporal at {profile.address} cannot be reached ({_reason(error)}): check TEMPORAL_ADDRESS and "
            "whether the server runs"
        ) from None


def _reason(error: Exception) -> str:
    """Names the kind of failure; the library's text may repeat what was sent."""
    text = str(error)
    for sign, reason in _REASONS.items():
        if sign in text:
            return reason
    if isinstance(error, TimeoutError):
        return f"no answer within {_CONNECT_SECONDS} s"
    return "not a usable address" if isinstance(error, ValueError) else "no Temporal answers there"


_REASONS = {
    "ConnectionRefused": "connection refused",
    "dns error": "unknown host",
    "Unauthenticated": "credentials refused",
    "PermissionDenied": "permission denied",
    "certificate": "TLS failed",
    "tls": "TLS failed",
}
