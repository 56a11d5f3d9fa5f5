"""Requests over the transports of httpx, with the API key.

The transports are used without httpx's clients: those log URLs, which can hold addresses, keep
cookies, and take credentials from the URL. A connection is never used by two processes: after a
fork each makes its own.
"""

from __future__ import annotations

import asyncio
import os
import ssl
from dataclasses import dataclass, field
from typing import Final, Protocol
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx

from notify_client import _timing
from notify_client._answer import Answer
from notify_client._call import Call
from notify_client._version import __version__

_AGENT: Final = f"notify-client-python/{__version__}"
_LIMITS: Final = httpx.Limits(max_connections=100, max_keepalive_connections=20, keepalive_expiry=5)
"""Idle connections are given up long before the service closes them (20 s)."""


class _HasStatus(Protocol):
    status_code: int
    headers: httpx.Headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """URL, key and TLS verification of the service."""

    url: str
    key: str = field(repr=False)
    verify: ssl.SSLContext | bool = True
    proxy: str | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Check URL and key.

        Raises:
            ValueError: URL or key is invalid; the message does not contain the key.
        """
        parts = urlsplit(self.url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise ValueError("the base URL must be like https://notify.example.com")
        try:
            httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise ValueError(f"the base URL is invalid: {error}") from error
        if parts.username is not None or "?" in self.url or "#" in self.url:
            raise ValueError("the base URL must have no user, password, query or fragment")
        if not self.key or not self.key.isascii() or not self.key.isprintable() or " " in self.key:
            raise ValueError(
                "the key must be ASCII without spaces or line ends: strip what was read from a file"
            )

    def request(self, call: Call, *, seconds: float) -> httpx.Request:
        """The HTTP request of an attempt."""
        return httpx.Request(
            call.method,
            self.url.rstrip("/") + call.target,
            headers={
                "Authorization": f"Bearer {self.key}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",
                "User-Agent": _AGENT,
                **call.headers,
            },
            content=call.body,
            extensions={"timeout": httpx.Timeout(seconds).as_dict()},
        )


class Http:
    """Requests of synchronous programs."""

    def __init__(self, target: Target) -> None:
        """Open no connection."""
        self._target = target
        self._held = (os.getpid(), self._new_transport())

    def ask(self, call: Call, *, seconds: float) -> Answer:
        """Send a request and read the whole answer.

        Connect, write and the answer's head may each take the timeout; the body the rest.

        Raises:
            httpx.HTTPError: the answer is absent or incomplete.
            ReadTimeout: the answer was too slow.
        """
        end = _timing.monotonic() + seconds
        request = self._target.request(call, seconds=seconds)
        response = self.transport.handle_request(request)
        try:
            body = bytearray()
            for chunk in response.iter_raw():
                body += chunk
                if _timing.monotonic() > end:
                    raise httpx.ReadTimeout("the answer came too slowly")
        finally:
            response.close()
        return _answer(response, bytes(body))

    def close(self) -> None:
        """Close idle connections."""
        self.transport.close()

    @property
    def transport(self) -> httpx.HTTPTransport:
        """The connections of the process."""
        process, transport = self._held
        if process != os.getpid():
            transport = self._new_transport()
            self._held = (os.getpid(), transport)
        return transport

    def _new_transport(self) -> httpx.HTTPTransport:
        return httpx.HTTPTransport(
            verify=self._target.verify, proxy=self._target.proxy, limits=_LIMITS
        )


class AsyncHttp:
    """Requests of asyncio programs; each event loop of a process has separate connections."""

    def __init__(self, target: Target) -> None:
        """Open no connection."""
        self._target = target
        self._held: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[int, httpx.AsyncHTTPTransport]
        ] = WeakKeyDictionary()

    async def ask(self, call: Call, *, seconds: float) -> Answer:
        """Send a request and read the whole answer within the timeout.

        Raises:
            httpx.HTTPError: the answer is absent or incomplete.
            ReadTimeout: the answer was too slow.
        """
        request = self._target.request(call, seconds=seconds)
        try:
            async with asyncio.timeout(seconds):
                response = await self.transport.handle_async_request(request)
                try:
                    body = b"".join([chunk async for chunk in response.aiter_raw()])
                finally:
                    await response.aclose()
        except TimeoutError:
            raise httpx.ReadTimeout("the answer came too slowly") from None
        return _answer(response, body)

    async def close(self) -> None:
        """Close the idle connections of the running event loop."""
        await self.transport.aclose()

    @property
    def transport(self) -> httpx.AsyncHTTPTransport:
        """The connections of the running event loop."""
        loop = asyncio.get_running_loop()
        process, transport = self._held.get(loop, (0, None))
        if transport is None or process != os.getpid():
            transport = httpx.AsyncHTTPTransport(
                verify=self._target.verify, proxy=self._target.proxy, limits=_LIMITS
            )
            self._held[loop] = (os.getpid(), transport)
        return transport


def _answer(response: _HasStatus, body: bytes) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, body)
