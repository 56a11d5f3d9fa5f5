"""The part of HTTP/1.1 that the sandbox needs, on asyncio's streams of bytes.

A library's server is not used, because the sandbox must be able to close a connection without an
answer, or to give no answer, and must cost so little CPU that a benchmark measures the service.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, cast
from urllib.parse import parse_qsl, urlsplit

HEAD_LIMIT_BYTES: Final = 32 * 1024
BODY_LIMIT_BYTES: Final = 8 * 1024 * 1024
"""Above any message with its HTML."""


@dataclass(frozen=True, slots=True)
class ServerRequest:
    """A complete request."""

    method: str
    target: str
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def path(self) -> str:
        """The target without the query."""
        return self.target.partition("?")[0]

    @property
    def query(self) -> dict[str, str]:
        """The last value of each parameter."""
        return dict(parse_qsl(urlsplit(self.target).query))


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAnswer:
    """One answer."""

    status: int
    body: bytes = b""
    content_type: str = "application/json"
    headers: tuple[tuple[str, str], ...] = ()

    def encode(self) -> bytes:
        """Return the bytes for the wire."""
        lines = [
            f"HTTP/1.1 {self.status} {HTTPStatus(self.status).phrase}",
            f"Content-Type: {self.content_type}",
            f"Content-Length: {len(self.body)}",
            *(f"{name}: {value}" for name, value in self.headers),
        ]
        return "\r\n".join(lines).encode() + b"\r\n\r\n" + self.body


Handler = Callable[[ServerRequest], ServerAnswer | Awaitable[ServerAnswer | None]]
"""A handler answers at once or later; None closes the connection without an answer."""


class _Malformed(Exception):
    """The bytes are no supported request; carries the status of the answer."""

    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


class Connection(asyncio.Protocol):
    """A client connection with answers in the order of requests."""

    def __init__(self, handler: Handler) -> None:
        """`handler` is called with complete requests."""
        self._handler = handler
        self._buffer = bytearray()
        self._pending: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Store the transport for answers."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, _error: Exception | None) -> None:
        """Cancel the unfinished answer."""
        self._transport = None
        if self._pending is not None:
            self._pending.cancel()

    def data_received(self, data: bytes) -> None:
        """Collect bytes until a request is complete."""
        self._buffer += data
        if self._pending is None:
            self._serve()

    def _serve(self) -> None:
        while self._pending is None and self._transport is not None:
            try:
                request = _take_request(self._buffer)
            except _Malformed as error:
                self._write(ServerAnswer(status=error.status, headers=(("Connection", "close"),)))
                self._close()
                return
            if request is None:
                return
            answer = self._handler(request)
            if isinstance(answer, ServerAnswer):
                self._write(answer)
            else:
                self._pending = asyncio.ensure_future(self._answer_later(answer))

    async def _answer_later(self, answer: Awaitable[ServerAnswer | None]) -> None:
        ready = await answer
        self._pending = None
        if ready is None:
            self._close()
        else:
            self._write(ready)
            self._serve()

    def _write(self, answer: ServerAnswer) -> None:
        if self._transport is not None:
            self._transport.write(answer.encode())

    def _close(self) -> None:
        if self._transport is not None:
            self._transport.close()
            self._transport = None


def _take_request(buffer: bytearray) -> ServerRequest | None:
    """Take a request off the buffer; None while incomplete.

    Raises:
        _Malformed: the bytes can never become a request.
    """
    end = buffer.find(b"\r\n\r\n")
    if end < 0 or end > HEAD_LIMIT_BYTES:
        if len(buffer) > HEAD_LIMIT_BYTES:
            raise _Malformed(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        return None
    first, *lines = buffer[:end].decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    size = _body_size(headers)
    if len(buffer) < end + 4 + size:
        return None
    words = first.split(" ")
    if [word[:7] for word in words[2:]] != ["HTTP/1."]:
        raise _Malformed(HTTPStatus.BAD_REQUEST)
    body = bytes(buffer[end + 4 : end + 4 + size])
    del buffer[: end + 4 + size]
    return ServerRequest(words[0], words[1], headers, body)


def _body_size(headers: dict[str, str]) -> int:
    """Read Content-Length.

    Raises:
        _Malformed: chunked, no number, or above the limit.
    """
    if "transfer-encoding" in headers:
        raise _Malformed(HTTPStatus.LENGTH_REQUIRED)
    size = headers.get("content-length", "0")
    if not (size.isascii() and size.isdigit()):
        raise _Malformed(HTTPStatus.BAD_REQUEST)
    if int(size) > BODY_LIMIT_BYTES:
        raise _Malformed(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    return int(size)
