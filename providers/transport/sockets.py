"""What is known of a connection, asked just before a request is written on it.

**Has the other side closed it?**

A server that restarts, or a load balancer that is replaced, closes connections that we keep for
reuse. libcurl looks for such at most once a second and otherwise finds out by losing the request:
then nobody can say whether it was acted on. Asking the kernel costs a microsecond and keeps that
request provably unsent.

**May it carry another one already?** On a new HTTP/2 connection libcurl starts up to a hundred
requests before the server has said how many it takes; it refuses the others, and what was refused
cannot be told from what was lost. Apple takes one until it has seen a valid token
(https://developer.apple.com/documentation/usernotifications/establishing-a-connection-to-apns). So
the first request goes alone, and the others when it was answered.
"""

from __future__ import annotations

import select
import socket
from typing import Final

_CLOSED: Final = select.POLLRDHUP | select.POLLHUP | select.POLLERR


class Sockets:
    """libcurl's sockets by their local port, which is what its callbacks name a connection by.

    A wrong answer is harmless: a dead connection that is missed costs an answer, as before; a
    live one that is taken for dead costs a new connection.
    """

    def __init__(self) -> None:
        """Know none."""
        self._unplaced: list[int] = []
        self._descriptors: dict[int, int] = {}
        self._ports: dict[int, int] = {}
        self._tried: set[int] = set()
        """Ports of connections that carry their first request."""
        self._proven: set[int] = set()
        """Ports of connections that have answered."""

    def record_socket(self, descriptor: int) -> None:
        """Note a socket that has no local port yet."""
        self._unplaced.append(descriptor)

    def is_closed(self, local_port: int) -> bool:
        """Tell whether the other side has said goodbye on the connection from this port."""
        if self._unplaced:
            self._place()
        descriptor = self._descriptors.get(local_port)
        if descriptor is None:
            return False
        poll = select.poll()
        poll.register(descriptor, _CLOSED)
        return any(events & _CLOSED for _, events in poll.poll(0))

    def admits(self, local_port: int) -> bool:
        """Tell whether a request may be written now; True makes it the first where none was."""
        if local_port not in self._proven:
            if self.is_tried(local_port):
                return False
            self._tried.add(local_port)
        return True

    def is_tried(self, local_port: int) -> bool:
        """Tell whether a connection carries its first request."""
        return local_port in self._tried

    def record_end(self, local_port: int, *, answered: bool) -> bool:
        """Note what became of an admitted request; True when its connection answers first now."""
        self._tried.discard(local_port)
        if not answered or local_port in self._proven:
            return False
        self._proven.add(local_port)
        return True

    def _place(self) -> None:
        for descriptor in self._unplaced:
            self._descriptors.pop(self._ports.pop(descriptor, -1), None)  # the number is used again
            try:
                borrowed = socket.socket(fileno=descriptor)
            except OSError:
                continue  # closed meanwhile: an address that lost the race to connect
            port = borrowed.getsockname()[1]
            borrowed.detach()
            self._ports[descriptor], self._descriptors[port] = port, descriptor
            self._tried.discard(port)
            self._proven.discard(port)
        self._unplaced.clear()
