"""Servers for the transport to send to, and what sends to them."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from threading import Thread

from providers.sandbox_server.wire import Connection, ServerAnswer
from providers.sandbox_server.wire import ServerRequest as Seen
from providers.transport import Failure, FailureKind, Reply, Request, Transport
from providers.transport.guard import AddressPolicy
from tests.providers.fakes import Listener

SECOND = timedelta(seconds=1)
Serve = Callable[[socket.socket], None]


def post(url: str, *, body: bytes = b"{}", guard: AddressPolicy | None = None) -> Request:
    return Request(url=url, headers=["Content-Type: application/json"], body=body, guard=guard)


def reply_to(transport: Transport, request: Request, *, deadline: timedelta = 30 * SECOND) -> Reply:
    ((index, reply),) = transport.send([request], deadline=deadline)
    assert index == 0
    return reply


def failed(reply: Reply) -> tuple[FailureKind, str]:
    assert isinstance(reply, Failure)
    return reply.kind, reply.code


@contextmanager
def raw_server(serve: Serve) -> Iterator[str]:
    """Run `serve` on each connection, one after the other, until the test ends."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def accept() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    serve(client)

        thread = Thread(target=accept, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        server.shutdown(socket.SHUT_RDWR)
    thread.join(30)


@contextmanager
def http_server(
    handler: Callable[[Seen], ServerAnswer | Awaitable[ServerAnswer | None]],
) -> Iterator[str]:
    with closing(Listener(lambda: Connection(handler))) as listener:
        yield f"http://127.0.0.1:{listener.port}/"
