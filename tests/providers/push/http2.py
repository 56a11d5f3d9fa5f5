"""An HTTP/2 server over TLS that misbehaves on demand."""

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.settings

from providers.sandbox_server.wire import Handler, ServerAnswer, ServerRequest
from tests.providers.fakes import Listener

# It logs every header; a fake's log must not be taken for ours.
logging.getLogger("hpack").propagate = False

STREAMS = 100
"""At once on one connection, as with most vendors. More are a connection's end, as with Apple."""


@dataclass(frozen=True)
class Reset:
    """Instead of an answer: end the stream with this error."""

    code: h2.errors.ErrorCodes


@dataclass(frozen=True)
class GoAway:
    """Instead of an answer: say that this stream and later ones were not looked at, and close."""


Reply = ServerAnswer | Reset | GoAway | Awaitable[ServerAnswer | None]
Serve = Callable[[ServerRequest], Reply]


@dataclass
class Counts:
    """What the server saw of its connections."""

    connections: int = 0
    most_at_once: int = 0
    """Streams open at the same time on one connection."""
    too_early: int = 0
    """Requests that came to a connection before its first one was answered."""


@dataclass
class _Stream:
    headers: dict[str, str]
    body: bytearray = field(default_factory=bytearray)


class Http2(asyncio.Protocol):
    """One connection; None as an answer cuts it."""

    def __init__(self, serve: Serve | Handler, counts: Counts, *, streams: int) -> None:
        self._serve = serve
        self._counts = counts
        config = h2.config.H2Configuration(client_side=False, header_encoding="utf-8")
        self._h2 = h2.connection.H2Connection(config)
        limit = {h2.settings.SettingCodes.MAX_CONCURRENT_STREAMS: streams}
        self._h2.local_settings = h2.settings.Settings(client=False, initial_values=limit)
        self._streams: dict[int, _Stream] = {}
        self._open: set[int] = set()
        self._has_answered = False
        self._pending: set[asyncio.Task[None]] = set()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._counts.connections += 1
        self._h2.initiate_connection()
        self._flush()

    def connection_lost(self, _error: Exception | None) -> None:
        for task in self._pending:
            task.cancel()

    def data_received(self, data: bytes) -> None:
        for event in self._h2.receive_data(data):
            match event:
                case h2.events.RequestReceived(stream_id=int(number), headers=headers):
                    pairs = cast("list[tuple[str, str]]", headers)
                    self._counts.too_early += bool(self._open) and not self._has_answered
                    self._streams[number] = _Stream(dict(pairs))
                    self._open.add(number)
                    self._counts.most_at_once = max(self._counts.most_at_once, len(self._open))
                case h2.events.DataReceived(stream_id=int(number), data=bytes(chunk)):
                    self._streams[number].body += chunk
                    self._h2.acknowledge_received_data(event.flow_controlled_length or 0, number)
                case h2.events.StreamEnded(stream_id=int(number)):
                    self._answer(number)
                case h2.events.StreamReset(stream_id=int(number)):
                    self._open.discard(number)
                case _:
                    pass
        self._flush()

    def _answer(self, number: int) -> None:
        stream = self._streams.pop(number)
        path, method = stream.headers[":path"], stream.headers[":method"]
        request = ServerRequest(method, path, stream.headers, bytes(stream.body))
        match self._serve(request):
            case ServerAnswer() as answer:
                self._write(number, answer)
            case Reset(code):
                self._open.discard(number)
                self._h2.reset_stream(number, code)
            case GoAway():
                self._h2.close_connection(last_stream_id=number - 2)
                self._flush()
                self._transport.close()
            case later:
                task = asyncio.ensure_future(self._answer_later(number, later))
                self._pending.add(task)
                task.add_done_callback(self._pending.discard)

    async def _answer_later(self, number: int, later: Awaitable[ServerAnswer | None]) -> None:
        answer = await later
        if answer is None:
            self._transport.abort()
        elif number in self._open:
            self._write(number, answer)
            self._flush()

    def _write(self, number: int, answer: ServerAnswer) -> None:
        headers = [(":status", str(answer.status)), ("content-type", answer.content_type)]
        headers += [(name.lower(), value) for name, value in answer.headers]
        self._open.discard(number)
        self._has_answered = True
        self._h2.send_headers(number, headers, end_stream=not answer.body)
        size = self._h2.max_outbound_frame_size
        for start in range(0, len(answer.body), size):
            frame = answer.body[start : start + size]
            self._h2.send_data(number, frame, end_stream=start + size >= len(answer.body))

    def _flush(self) -> None:
        if data := self._h2.data_to_send():
            self._transport.write(data)


class Http2Server:
    """HTTP/2 over TLS on a port of its own, for `https://localhost`."""

    def __init__(
        self, serve: Serve | Handler, *, certificate: Path, streams: int = STREAMS
    ) -> None:
        self.counts = Counts()
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(certificate)
        tls.set_alpn_protocols(["h2"])
        self._listener = Listener(lambda: Http2(serve, self.counts, streams=streams), tls=tls)
        self.url = f"https://localhost:{self._listener.port}"
        self.start, self.stop = self._listener.start, self._listener.stop
        self.close = self._listener.close
