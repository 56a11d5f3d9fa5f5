"""Replies that the service tells after the server's thread has returned.

    server's thread --> application, returns []      `reply.is_later` was set before
    any thread      --> `reply.send`                 once, at any time

So a request that waits for the transaction of a group holds no thread: each wait of a thread costs
two changes of threads. The web process puts a reply into the environ (`notifyproj.web`). A request
without a reply is answered when the application returns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Protocol

REPLY: Final = "notifications.reply"
"""Key of the environ for the reply of a request."""
Headers = Sequence[tuple[str, str]]


class ServerProtocol(Protocol):
    """The server's side of a request; only the first response of a request has an effect."""

    def response_bytes(self, status: int, headers: Headers, body: bytes) -> None:
        """Send a whole response."""

    def response_iter(self, status: int, headers: Headers, body: object) -> None:
        """Send a stream."""


class Reply:
    """The response to a request, told when the application returns or later."""

    __slots__ = ("_protocol", "at_end", "is_later")

    at_end: Callable[[], object]
    """Called after a response that comes later."""
    is_later: bool
    """True: what the application returns is ignored, and `send` is called once."""

    def __init__(self, protocol: ServerProtocol) -> None:
        self._protocol = protocol
        self.is_later = False

    def send(self, status: int, headers: Headers, body: bytes) -> None:
        """Send the response of a request that is answered later."""
        try:
            self._protocol.response_bytes(status, headers, body)
        finally:
            self.at_end()

    def response_bytes(self, status: int, headers: Headers, body: bytes) -> None:
        """Send what the application has returned, for the server."""
        if not self.is_later:
            self._protocol.response_bytes(status, headers, body)

    def response_iter(self, status: int, headers: Headers, body: object) -> None:
        """Send the stream that the application has returned, for the server."""
        self._protocol.response_iter(status, headers, body)
