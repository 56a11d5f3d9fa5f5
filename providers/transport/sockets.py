"""Which connections the other side has closed, asked just before a request is written on one.

A server that restarts, or a load balancer that is replaced, closes connections that we keep for
reuse. libcurl looks for such at most once a second and otherwise finds out by losing the request:
then nobody can say whether it was acted on. Asking the kernel costs a microsecond and keeps that
request provably unsent.
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

    def created(self, descriptor: int) -> None:
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
        self._unplaced.clear()
