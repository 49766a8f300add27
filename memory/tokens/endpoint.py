"""Asks a provider's own counting endpoint how many tokens a text has. Only for calibration: see there."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse
from typing import IO, Any, Final, Literal, TypeAlias, get_args
from urllib.parse import quote

_MAX_ANSWER: Final = 64_000
_MOST_TOKENS_A_CHARACTER: Final = 8

CountingProvider: TypeAlias = Literal["anthropic", "google"]
COUNTING_PROVIDERS: Final[tuple[CountingProvider, ...]] = get_args(CountingProvider)
"""Providers whose APIs tell how many tokens a text has, and whose tokenizers are not published."""


class EndpointFailed(Exception):
    """The endpoint gave no number. `outcome` says why in a word; nothing of the answer, the text or the key is kept."""

    def __init__(self, outcome: str) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A counting endpoint.

    base_url: the provider's own where None. key_variable: names the variable of the key; None asks without one.
    timeout_seconds: what a request may take.
    """

    provider: CountingProvider
    model: str
    base_url: str | None = None
    key_variable: str | None = None
    timeout_seconds: float = 10.0

    async def tokens(self, text: str) -> int:
        """Returns the tokens of a message of the user with this text. One request.

        Raises EndpointFailed: `no_key`, `timeout`, `refused` (an HTTP status of 400 or more, or a redirect),
        `unreachable`, or `wrong_answer`.
        """
        key = None if self.key_variable is None else os.environ.get(self.key_variable)
        if self.key_variable is not None and not key:
            raise EndpointFailed("no_key")
        line = _Line()
        try:
            async with asyncio.timeout(self.timeout_seconds):
                answer = await _in_a_thread(partial(_post, self._request(text, key), self.timeout_seconds, line))
        except TimeoutError:
            raise EndpointFailed("timeout") from None
        finally:
            line.cut()
        count = _READ[self.provider](answer) if isinstance(answer, dict) else None
        # A number that no tokenizer gives would bend every count that follows.
        if isinstance(count, bool) or not isinstance(count, int):
            raise EndpointFailed("wrong_answer")
        if not 0 < count <= _MOST_TOKENS_A_CHARACTER * (len(text) + 10):
            raise EndpointFailed("wrong_answer")
        return count

    def _request(self, text: str, key: str | None) -> urllib.request.Request:
        base = (self.base_url or _BASES[self.provider]).rstrip("/")
        headers = {"content-type": "application/json"}
        if self.provider == "anthropic":
            url = f"{base}/v1/messages/count_tokens"
            body: dict[str, Any] = {"model": self.model, "messages": [{"role": "user", "content": text}]}
            headers |= {"anthropic-version": "2023-06-01"} | ({"x-api-key": key} if key else {})
        else:
            url = f"{base}/v1beta/models/{quote(self.model, safe='')}:countTokens"
            body = {"contents": [{"role": "user", "parts": [{"text": text}]}]}
            headers |= {"x-goog-api-key": key} if key else {}
        return urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")  # noqa: S310 - checked when declared


_BASES: Final[Mapping[CountingProvider, str]] = {
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}
_READ: Final[Mapping[CountingProvider, Callable[[dict[str, Any]], object]]] = {
    "anthropic": lambda answer: answer.get("input_tokens"),
    "google": lambda answer: answer.get("totalTokens"),
}


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The library would carry the key along to wherever it is sent."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """Follows none: the answer is then an error like any other."""


class _Line:
    """What a request is sent over, to be cut off: the limit of a socket is of one read, however little that brings."""

    def __init__(self) -> None:
        self._sockets: list[socket.socket] = []
        self._is_cut = False

    def note(self, opened: socket.socket) -> None:
        """Takes a socket that was opened, maybe too late."""
        self._sockets.append(opened)
        if self._is_cut:
            self.cut()

    def cut(self) -> None:
        """Ends what the thread reads or writes; nothing where it has ended by itself."""
        self._is_cut = True
        for opened in self._sockets:
            with suppress(OSError):
                opened.shutdown(socket.SHUT_RDWR)


class _Noting(urllib.request.AbstractHTTPHandler):
    """Opens connections as the library does, and notes their sockets, which it keeps to itself."""

    def __init__(self, line: _Line) -> None:
        super().__init__()
        self._line = line

    def do_open(self, http_class: Any, req: urllib.request.Request, **how: Any) -> HTTPResponse:
        """See the library."""

        def opens(host: str, **more: Any) -> HTTPConnection:
            connection: HTTPConnection = http_class(host, **more)
            connect = connection.connect

            def connect_noted() -> None:
                connect()
                self._line.note(connection.sock)

            connection.connect = connect_noted  # type: ignore[method-assign] # the library makes and drops it in one call
            return connection

        return super().do_open(opens, req, **how)


class _HTTP(_Noting, urllib.request.HTTPHandler):
    """For endpoints in the own network."""


class _HTTPS(_Noting, urllib.request.HTTPSHandler):
    """For those of the providers."""


async def _in_a_thread(call: Callable[[], object]) -> object:
    """Runs a blocking call in a daemon thread, which costs little for one request in minutes.

    A thread of a pool would hold up the end of the process.
    """
    done: Future[object] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:  # noqa: BLE001 - whatever it is, whoever waits gets it, or would wait in vain
            done.set_exception(error)

    threading.Thread(target=run, name="count-tokens", daemon=True).start()
    return await asyncio.wrap_future(done)


def _post(request: urllib.request.Request, timeout_seconds: float, line: _Line) -> object:
    opener = urllib.request.build_opener(_NoRedirects, _HTTP(line), _HTTPS(line))
    try:
        response: IO[bytes]
        with opener.open(request, timeout=timeout_seconds) as response:
            raw = response.read(_MAX_ANSWER)
    except urllib.error.HTTPError as error:
        error.close()
        raise EndpointFailed("refused") from None
    except TimeoutError:
        raise EndpointFailed("timeout") from None
    except (OSError, HTTPException, ValueError) as error:
        timed_out = isinstance(getattr(error, "reason", None), TimeoutError)
        raise EndpointFailed("timeout" if timed_out else "unreachable") from None
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        raise EndpointFailed("wrong_answer") from None
