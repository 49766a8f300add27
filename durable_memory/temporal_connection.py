"""Connects our programs to Temporal, as TEMPORAL_* and its configuration file say."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, Plugin
from temporalio.converter import DataConverter
from temporalio.envconfig import ClientConfigProfile
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from durable_memory.encryption_codec import EncryptionCodec
from durable_memory.memory.errors import MemoryInvalid, MemoryUnavailable

_log = logging.getLogger(__name__)
_CONNECT_SECONDS = 5


def load_profile(address: str | None = None) -> ClientConfigProfile:
    """Returns what is configured; its address is None if nothing is.

    address: wins over the configured one. Raises MemoryInvalid if the configuration cannot be read, or names a URL.
    """
    try:
        profile = ClientConfigProfile.load()
    except Exception as error:  # noqa: BLE001 - its class lives in a private module of temporalio
        # The first line says what and where; those that follow quote the file, which may hold an API key.
        problem = str(error).partition("\n")[0]
        raise MemoryInvalid(f"TEMPORAL_CONFIG_FILE, TEMPORAL_PROFILE: {problem}") from None
    if "://" in (profile.address or ""):
        raise MemoryInvalid("TEMPORAL_ADDRESS: must be host:port, without a scheme; TEMPORAL_TLS=true is for TLS")
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
        reason, settings = _reason(error)
        raise MemoryUnavailable(
            f"Temporal at {profile.address} cannot be reached ({reason}): check {settings}"
        ) from None


async def check_namespace(client: Client) -> None:
    """Raises MemoryInvalid for a namespace that this Temporal does not have, which a connection does not tell."""
    request = DescribeNamespaceRequest(namespace=client.namespace)
    try:
        await client.workflow_service.describe_namespace(request, timeout=timedelta(seconds=_CONNECT_SECONDS))
    except RPCError as error:
        if error.status is RPCStatusCode.NOT_FOUND:
            raise MemoryInvalid(f"TEMPORAL_NAMESPACE: this Temporal has no namespace {client.namespace!r}") from None
        _log.warning("the namespace could not be checked", extra={"namespace": client.namespace}, exc_info=error)


_SERVER = "TEMPORAL_ADDRESS and whether the server runs"
_TLS = "TEMPORAL_TLS and TEMPORAL_TLS_*; an API key turns TLS on"
_RIGHTS = "TEMPORAL_API_KEY, TEMPORAL_TLS_CLIENT_* and TEMPORAL_NAMESPACE"

_REASONS = {
    "ConnectionRefused": ("connection refused", _SERVER),
    "dns error": ("unknown host", _SERVER),
    "Unauthenticated": ("credentials refused", _RIGHTS),
    "PermissionDenied": ("permission denied", _RIGHTS),
    "InvalidContentType": ("what answers speaks no TLS", _TLS),
    "PrivateKeyParseError": ("the client's private key is none", _TLS),
    "client cert and private key": ("a client's certificate and its private key are needed together", _TLS),
    "ertificate": ("TLS failed", _TLS),
    "tls": ("TLS failed", _TLS),
}
"""What failed, and which settings have to do with it, by a word that the error has."""


def _reason(error: Exception) -> tuple[str, str]:
    """Names the kind of failure; the library's text may repeat what was sent."""
    text = str(error)
    for sign, reason in _REASONS.items():
        if sign in text:
            return reason
    if isinstance(error, TimeoutError):
        return f"no answer within {_CONNECT_SECONDS} s", _SERVER
    return "not a usable address" if isinstance(error, ValueError) else "no Temporal answers there", _SERVER
