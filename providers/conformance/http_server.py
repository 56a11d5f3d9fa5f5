"""HTTP servers on real sockets that misbehave on demand, each on a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable
from datetime import timedelta
from threading import Thread
from typing import TypeVar

import orjson

from providers.conformance.subject import Act
from providers.sandbox_server.wire import Connection, Handler, ServerAnswer, ServerRequest

T = TypeVar("T")


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nothing listens on."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


class Listener:
    """An asyncio server on a thread; `stop` cuts what is connected, `start` takes the same port."""

    def __init__(
        self, protocol: Callable[[], asyncio.Protocol], *, tls: ssl.SSLContext | None = None
    ) -> None:
        """Listen at a free port of 127.0.0.1, `port`."""
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
        """Listen again, at the same port."""
        self.run(self._start())

    def stop(self) -> None:
        """Refuse connections, and abort open connections."""
        self.run(self._stop())

    def close(self) -> None:
        """Stop, and end the thread."""
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    def run(self, work: Awaitable[T]) -> T:
        """Wait up to 10 s for work on the thread's event loop.

        Raises:
            TimeoutError: the work takes longer.
        """

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
    """Return an answer that never comes.

    A coroutine that is stopped before it began would warn.
    """
    return asyncio.get_running_loop().create_future()


async def cut() -> None:
    """Answer nothing: the connection closes."""


class HttpFake:
    """An HTTP vendor that takes a message in each request, and keeps the requests.

    Other answers than the plain ones: a subclass with a method `answer_to`.
    """

    retry_after: timedelta | None = timedelta(seconds=7)

    def __init__(self, *, key_header: str) -> None:
        """`key_header` names the header of the idempotency key, in lower case."""
        self._key_header = key_header
        self._act = Act.ACCEPT
        self.requests: list[ServerRequest] = []
        self.status = 200
        """The status of ACCEPT."""
        self._listener = Listener(lambda: Connection(self.handler))
        self.url = f"http://127.0.0.1:{self._listener.port}/hook"

    @property
    def handler(self) -> Handler:
        """The function from a request to its answer."""
        return self._handle

    @property
    def keys(self) -> list[str]:
        """See `FakeVendor.keys`."""
        return [request.headers[self._key_header] for request in self.requests]

    def act(self, act: Act) -> None:
        """See `FakeVendor.act`."""
        self._act = act

    def stop(self) -> None:
        """See `FakeVendor.stop`."""
        self._listener.stop()

    def start(self) -> None:
        """See `FakeVendor.start`."""
        self._listener.start()

    def close(self) -> None:
        """Stop for good."""
        self._listener.close()

    def answer_to(self, act: Act) -> ServerAnswer:
        """Return the answer for each behaviour but HANG and CUT."""
        match act:
            case Act.ACCEPT:
                return ServerAnswer(status=self.status, body=b'{"message_id": "m-1"}')
            case Act.THROTTLE:
                return ServerAnswer(status=429, headers=(("Retry-After", "7"),))
            case other:
                status = {Act.REJECT: 400, Act.UNAVAILABLE: 503, Act.BAD_CREDENTIALS: 401}[other]
                echo = orjson.dumps({"error": "refused", "to": self.url})
                return ServerAnswer(status=status, body=echo)

    def _handle(self, request: ServerRequest) -> ServerAnswer | Awaitable[ServerAnswer | None]:
        self.requests.append(request)
        match self._act:
            case Act.HANG:
                return never()
            case Act.CUT:
                return cut()
            case act:
                return self.answer_to(act)
