"""The state of a connection, asked just before a request is written.

**Closed connections.** A server that restarts, or a load balancer that is replaced, closes kept
connections. libcurl looks for closed connections at most once a second and otherwise notices the
closing by the loss of a request: the effect of the request is unknown then. A question to the
kernel costs a microsecond and keeps the request provably unsent.

**Connections for several requests.** On a new HTTP/2 connection libcurl starts up to a hundred
requests before the server has stated a limit; the server refuses the requests over the limit, and
refused requests look like lost requests. Apple takes one request until Apple has seen a valid token
(https://developer.apple.com/documentation/usernotifications/establishing-a-connection-to-apns). So
the first request goes alone, and the other requests follow the answer.
"""

from __future__ import annotations

import logging
import select
import socket
import struct
from enum import Enum, auto
from time import monotonic
from typing import Final

_log = logging.getLogger(__name__)

_CLOSED: Final = select.POLLRDHUP | select.POLLHUP | select.POLLERR
_REPORT_EVERY_SECONDS: Final = 10.0
_TCP_INFO: Final = struct.Struct("=52xI")
"""Of Linux's `tcp_info`: `tcpi_last_data_recv`, milliseconds since the last bytes came."""
_INTERNET: Final = {socket.AF_INET, socket.AF_INET6}


class Turn(Enum):
    """The place of a request on its connection."""

    FIRST = auto()
    """The connection has carried no request."""
    LATER = auto()
    """The connection has answered."""
    EARLY = auto()
    """The connection carries its first request: the request must wait."""
    CLOSED = auto()
    """The server has closed the connection."""


class Sockets:
    """libcurl's sockets by local port, the key of connections in libcurl's callbacks.

    A wrong answer is harmless: a missed dead connection costs an answer, as before; a live
    connection taken for dead costs a new connection.
    """

    def __init__(self) -> None:
        """Start without sockets."""
        self._unplaced: list[int] = []
        self._polls: dict[int, select.poll] = {}
        """By port; each asks about one descriptor."""
        self._ports: dict[int, int] = {}
        self._tried: set[int] = set()
        """Ports of connections that carry their first request."""
        self._proven: set[int] = set()
        """Ports of connections that have answered."""
        self._reported_at = -_REPORT_EVERY_SECONDS

    def report_shortage(self, error: OSError) -> None:
        """Log that no socket can be made, at most every ten seconds."""
        if monotonic() - self._reported_at >= _REPORT_EVERY_SECONDS:
            self._reported_at = monotonic()
            _log.error("HTTP: no socket can be opened: %s", error)

    def record_socket(self, descriptor: int) -> None:
        """Note a socket with no local port yet."""
        self._unplaced.append(descriptor)

    def take_turn(self, local_port: int) -> Turn:
        """Return the turn of a request that is about to be written from the local port."""
        if self._unplaced:
            self._place()
        poll = self._polls.get(local_port)
        if poll is not None and (found := poll.poll(0)) and found[0][1] & _CLOSED:
            return Turn.CLOSED
        if local_port in self._proven:
            return Turn.LATER
        if local_port in self._tried:
            return Turn.EARLY
        self._tried.add(local_port)
        return Turn.FIRST

    def record_first(self, local_port: int, *, answered: bool) -> None:
        """Note the answer to the first request of a connection, or the end without an answer."""
        self._tried.discard(local_port)
        if answered:
            self._proven.add(local_port)

    def _place(self) -> None:
        for descriptor in self._unplaced:
            self._polls.pop(self._ports.pop(descriptor, -1), None)  # the number is used again
            port = _get_local_port(descriptor)
            if port is None:
                continue
            self._ports[descriptor], self._polls[port] = port, select.poll()
            self._polls[port].register(descriptor, _CLOSED)
            self._tried.discard(port)
            self._proven.discard(port)
        self._unplaced.clear()


def seconds_since_input(descriptor: int) -> float:
    """Return the time since the last bytes came to a socket; 0 if the kernel does not know."""
    try:
        borrowed = socket.socket(socket.AF_INET, socket.SOCK_STREAM, 0, fileno=descriptor)
    except (OSError, ValueError):
        return 0.0  # the connection is closed
    try:
        info = borrowed.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _TCP_INFO.size)
        milliseconds: int = _TCP_INFO.unpack(info)[0]
    except (OSError, struct.error):
        return 0.0
    else:
        return milliseconds / 1000
    finally:
        borrowed.detach()


def _get_local_port(descriptor: int) -> int | None:
    """Return the local port of an internet socket; None for any other descriptor.

    libcurl closes the slower address of a race to connect, and another thread may have the number
    by now, for a file or a Unix socket. So every descriptor is detached, because a collected Python
    socket closes the descriptor.
    """
    try:
        borrowed = socket.socket(fileno=descriptor)
    except OSError:
        return None
    try:
        port: int | None = borrowed.getsockname()[1] if borrowed.family in _INTERNET else None
    except OSError:
        return None
    finally:
        borrowed.detach()
    return port
