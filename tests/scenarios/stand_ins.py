"""Stand-ins for the web and live processes behind a proxy under test."""

from __future__ import annotations

import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

from notifyproj.devstack.ports import LOOPBACK

CLOSED: Final = (
    "/metrics",
    "/readyz",
    "/metrics?format=text",
    "/%6detrics",
    "//readyz",
    "/v1/../metrics",
)
"""Spellings of the paths for operators."""
_MIB: Final = 1024 * 1024


class StandIn(BaseHTTPRequestHandler):
    """Answers 200 with its own name and the path, before the body where the body is long."""

    name = "web"
    read_bytes = 32 * _MIB
    """A longer body is not read."""
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        if length <= self.read_bytes:
            self.rfile.read(length)
        with suppress(BrokenPipeError):  # the proxy has refused a body that is too long
            self._answer()

    def _answer(self) -> None:
        body = f"{self.name} {self.path}".encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_arguments: object) -> None:
        """Write nothing."""


class LiveStandIn(StandIn):
    """The same, as the live process."""

    name = "live"


def serve(handler: type[StandIn]) -> ThreadingHTTPServer:
    """Serve on a port of its own; the caller shuts the server down and closes it."""
    server = ThreadingHTTPServer((LOOPBACK, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
