"""A server between client and service that hands requests on and then does what a plan says."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final, Self
from urllib.parse import urlsplit

_HOP: Final = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length"})


@dataclass(frozen=True, slots=True)
class Seen:
    """A request that came."""

    method: str
    target: str
    headers: dict[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def key(self) -> str:
        """Its idempotency key."""
        return self.headers.get("idempotency-key", "")


@dataclass(frozen=True, slots=True)
class Reply:
    """What the service answered, or what a plan puts in its place."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes


Act = Callable[["Handler", Seen], None]


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    relay: Relay

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Write nothing."""

    def handle_any(self) -> None:
        length = int(self.headers.get("Content-Length", "0"))
        names = {name.lower(): value for name, value in self.headers.items()}
        seen = Seen(self.command, self.path, names, self.rfile.read(length))
        self.relay.next_act(seen)(self, seen)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - http.server's names

    def asked(self, seen: Seen) -> Reply:
        """Hand a request on to the service and wait for the answer."""
        connection = http.client.HTTPConnection(self.relay.upstream, timeout=30)
        try:
            headers = {name: value for name, value in seen.headers.items() if name not in _HOP}
            connection.request(seen.method, seen.target, seen.body or None, headers)
            answer = connection.getresponse()
            kept = [each for each in answer.getheaders() if each[0].lower() not in _HOP]
            return Reply(answer.status, kept, answer.read())
        finally:
            connection.close()

    def answer(self, reply: Reply) -> None:
        """Answer in full."""
        self.send_response_only(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)

    def cut(self) -> None:
        """End the connection at once."""
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)


def pass_on(handler: Handler, seen: Seen) -> None:
    """Relay the request and its answer."""
    handler.answer(handler.asked(seen))


def lose(handler: Handler, seen: Seen) -> None:
    """The service carries the request out, and the connection ends before its answer."""
    handler.asked(seen)
    handler.cut()


def refuse_connection(handler: Handler, _seen: Seen) -> None:
    """The connection ends, and the service never saw the request."""
    handler.cut()


def halve(handler: Handler, seen: Seen) -> None:
    """The service carries the request out, and half of its answer arrives."""
    reply = handler.asked(seen)
    handler.send_response_only(reply.status)
    handler.send_header("Content-Length", str(len(reply.body)))
    handler.end_headers()
    handler.wfile.write(reply.body[: len(reply.body) // 2])
    handler.cut()


def hang(handler: Handler, seen: Seen) -> None:
    """The service carries the request out, and no answer arrives until the relay closes."""
    handler.asked(seen)
    handler.relay.closing.wait(30)
    handler.cut()


def hang_before(handler: Handler, _seen: Seen) -> None:
    """Neither the service nor the client hears anything until the relay closes."""
    handler.relay.closing.wait(30)
    handler.cut()


def drip(handler: Handler, _seen: Seen) -> None:
    """An answer that never ends, a byte at a time."""
    handler.send_response_only(200)
    handler.send_header("Content-Length", "1000000")
    handler.end_headers()
    try:
        while not handler.relay.closing.wait(0.05):
            handler.wfile.write(b" ")
    except OSError:
        handler.close_connection = True


def instead(status: int, said: bytes = b"", /, **headers: str) -> Act:
    """Another answer; the service never saw the request."""
    named = [(name.replace("_", "-"), value) for name, value in headers.items()]
    return lambda handler, _seen: handler.answer(Reply(status, named, said))


def after(status: int) -> Act:
    """The service carries the request out, and another answer arrives."""

    def act(handler: Handler, seen: Seen) -> None:
        handler.asked(seen)
        instead(status)(handler, seen)

    return act


class Relay:
    """Plays a plan, an act for each request, then passes everything on."""

    def __init__(self, upstream: str) -> None:
        self.upstream = urlsplit(upstream).netloc
        self.seen: list[Seen] = []
        self.closing = threading.Event()
        self._plan: list[Act] = []
        self._lock = threading.Lock()
        handler = type("Bound", (Handler,), {"relay": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    def plan(self, *acts: Act) -> None:
        """What to do with the next requests."""
        self._plan = list(acts)

    def next_act(self, seen: Seen) -> Act:
        """Note a request; returns what to do with it."""
        with self._lock:
            self.seen.append(seen)
            return self._plan.pop(0) if self._plan else pass_on

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
