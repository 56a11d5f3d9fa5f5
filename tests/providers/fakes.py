"""Servers that misbehave on demand, each on a thread of its own and a real socket."""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
from collections.abc import Awaitable, Callable
from datetime import timedelta
from email import message_from_bytes
from threading import Thread
from typing import TypeVar

import orjson
from aiosmtpd.smtp import SMTP, Envelope
from aiosmtpd.smtp import Session as SmtpSession

from providers.conformance import Act
from providers.sandbox_server.wire import Connection, Handler, ServerAnswer, ServerRequest

T = TypeVar("T")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Listener:
    """An asyncio server on a thread; `stop` cuts what is connected, `start` takes the same port."""

    def __init__(
        self, protocol: Callable[[], asyncio.Protocol], *, tls: ssl.SSLContext | None = None
    ) -> None:
        self._protocol = protocol
        self._tls = tls
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._server: asyncio.Server | None = None
        self._open: list[asyncio.BaseTransport] = []
        self.port = free_port()
        self.start()

    def start(self) -> None:
        self.run(self._start())

    def stop(self) -> None:
        self.run(self._stop())

    def close(self) -> None:
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    def run(self, work: Awaitable[T]) -> T:
        async def wrapped() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(wrapped(), self._loop).result(10)

    async def _start(self) -> None:
        def connected() -> asyncio.Protocol:
            protocol = self._protocol()
            made = protocol.connection_made

            def remember(transport: asyncio.BaseTransport) -> None:
                self._open.append(transport)
                made(transport)

            setattr(protocol, "connection_made", remember)  # noqa: B010 - mypy knows it as a method
            return protocol

        self._server = await self._loop.create_server(
            connected, "127.0.0.1", self.port, ssl=self._tls
        )

    async def _stop(self) -> None:
        while any("_accept_connection" in repr(task) for task in asyncio.all_tasks()):  # noqa: ASYNC110 - asyncio offers no event for it
            await asyncio.sleep(0)  # Server.close() would lose a socket that is being accepted
        if self._server is not None:
            self._server.close()
        for transport in self._open:
            if isinstance(transport, asyncio.Transport):
                _abort(transport)
        self._open.clear()
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0)  # the turn in which aborted sockets close


def _abort(transport: asyncio.Transport) -> None:
    try:
        transport.abort()
    except AttributeError:
        return  # Python 3.11.2: a TLS transport that was closed twice has dropped its connection


def never() -> asyncio.Future[None]:
    """Give what never comes. A coroutine would complain when it is stopped before it began."""
    return asyncio.get_running_loop().create_future()


async def cut() -> None:
    return None


class HttpFake:
    """Any HTTP endpoint; keeps every request that it read."""

    retry_after: timedelta | None = timedelta(seconds=7)

    def __init__(self, *, key_header: str) -> None:
        self._key_header = key_header
        self._act = Act.ACCEPT
        self.requests: list[ServerRequest] = []
        self.status = 200
        """What ACCEPT answers."""
        self._listener = Listener(lambda: Connection(self.handler))
        self.url = f"http://127.0.0.1:{self._listener.port}/hook"

    @property
    def handler(self) -> Handler:
        return self._handle

    @property
    def keys(self) -> list[str]:
        return [request.headers[self._key_header] for request in self.requests]

    def act(self, act: Act) -> None:
        self._act = act

    def stop(self) -> None:
        self._listener.stop()

    def start(self) -> None:
        self._listener.start()

    def close(self) -> None:
        self._listener.close()

    def _handle(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        self.requests.append(request)
        match self._act:
            case Act.HANG:
                return never()
            case Act.CUT:
                return cut()
            case Act.THROTTLE:
                return ServerAnswer(status=429, headers=(("Retry-After", "7"),))
            case Act.ACCEPT:
                return ServerAnswer(status=self.status, body=b'{"message_id": "m-1"}')
            case act:
                status = {Act.REJECT: 400, Act.UNAVAILABLE: 503, Act.BAD_CREDENTIALS: 401}[act]
                echo = orjson.dumps({"error": "refused", "to": self.url})
                return ServerAnswer(status=status, body=echo)


# It logs whole messages; a fake's log must not be taken for ours.
logging.getLogger("mail.log").propagate = False


class SmtpFake:
    """A real SMTP server; the act decides at MAIL, RCPT or DATA."""

    retry_after: timedelta | None = None

    def __init__(self, *, tls: ssl.SSLContext | None = None, **options: object) -> None:
        """`tls` encrypts from the first byte; `options` are aiosmtpd's."""
        self._act = Act.ACCEPT
        self._options = options
        self.contents: list[bytes] = []
        self.senders: list[str] = []
        self.connections = 0
        self._listener = Listener(self._protocol, tls=tls)
        self.port = self._listener.port

    @property
    def keys(self) -> list[str]:
        return [str(message_from_bytes(content)["Message-ID"]) for content in self.contents]

    def act(self, act: Act) -> None:
        self._act = act

    def stop(self) -> None:
        self._listener.stop()

    def start(self) -> None:
        self._listener.start()

    def close(self) -> None:
        self._listener.close()

    def _protocol(self) -> asyncio.Protocol:
        self.connections += 1
        return SMTP(self, loop=asyncio.get_running_loop(), hostname="fake", **self._options)  # type: ignore[arg-type] # any

    # aiosmtpd's hooks

    async def handle_MAIL(  # noqa: N802 - aiosmtpd's name
        self,
        server: SMTP,
        session: SmtpSession,
        envelope: Envelope,
        sender: str,
        options: list[str],
    ) -> str:
        del server, session, options
        if self._act is Act.BAD_CREDENTIALS:
            return "530 5.7.0 Authentication required"
        envelope.mail_from = sender
        self.senders.append(sender)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: SmtpSession, envelope: Envelope, to: str, options: list[str]
    ) -> str:
        del server, session, options
        match self._act:
            case Act.REJECT:
                return f"550 5.7.1 {to} refused by policy"
            case Act.THROTTLE:
                return "454 Throttling failure: Maximum sending rate exceeded"
            case Act.UNAVAILABLE:
                return "451 4.7.1 Greylisted, come back later"
            case _:
                envelope.rcpt_tos.append(to)
                return "250 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd's name
        self, server: SMTP, session: SmtpSession, envelope: Envelope
    ) -> str:
        del session
        assert isinstance(envelope.original_content, bytes)
        self.contents.append(envelope.original_content)
        if self._act is Act.HANG:
            await never()
        if self._act is Act.CUT:
            assert isinstance(server.transport, asyncio.Transport)
            server.transport.abort()
        return "250 Queued"
