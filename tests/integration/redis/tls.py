"""A certificate authority, and proxies that speak TLS before servers which cannot, as the one program at hand."""

from __future__ import annotations

import asyncio
import datetime as dt
import ipaddress
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Authority:
    """Signs a certificate of 127.0.0.1. file: its own, by which that is known; signed: that one and its key."""

    def __init__(self, folder: Path, name: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        own = (
            _certificate(self._name, self._name, self._key)
            .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
            .add_extension(_usage(signs=True), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        self.file = folder / f"{name}.pem"
        self.file.write_bytes(own.public_bytes(serialization.Encoding.PEM))

        self.signed = folder / f"signed-by-{name}.pem"
        self.signed.write_bytes(self._sign())

    def server_context(self) -> ssl.SSLContext:
        """Returns what a server shows, and that it asks the same of its clients."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.signed)
        context.load_verify_locations(self.file)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    def _sign(self) -> bytes:
        key = ec.generate_private_key(ec.SECP256R1())
        address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
        certificate = (
            _certificate(x509.Name([]), self._name, key)
            .add_extension(x509.SubjectAlternativeName([address]), critical=True)
            .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), critical=False)
            .add_extension(_usage(signs=False), critical=True)
            .sign(self._key, hashes.SHA256())
        )
        form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return key.private_bytes(*form) + certificate.public_bytes(serialization.Encoding.PEM)


def _certificate(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


@dataclass
class TlsProxy:
    """A port that speaks TLS alone. connections: how many clients got through the handshake so far."""

    port: int = 0
    connections: int = 0


@asynccontextmanager
async def open_tls_proxy(
    port: int, context: ssl.SSLContext, ports: Mapping[int, int] | None = None
) -> AsyncIterator[TlsProxy]:
    """Opens a proxy before a server. ports: those in its answers that are told to clients as other ones."""
    proxy = TlsProxy()
    told = {b"\r\n$5\r\n%d\r\n" % own: b"\r\n$5\r\n%d\r\n" % shown for own, shown in (ports or {}).items()}
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        proxy.connections += 1
        try:
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1", port)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(_pass_on(reader, server_writer, {}))
                    group.create_task(_pass_on(server_reader, writer, told))
            finally:
                server_writer.close()
        except (ExceptionGroup, ConnectionError, asyncio.CancelledError):
            pass  # one of both sides has gone
        finally:
            writer.close()
            tasks.discard(task)

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await server.wait_closed()


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, replaced: Mapping[bytes, bytes]) -> None:
    while piece := await reader.read(1 << 20):
        for old, new in replaced.items():
            piece = piece.replace(old, new)
        writer.write(piece)
        await writer.drain()
    raise ConnectionResetError  # so that the other direction ends, too
