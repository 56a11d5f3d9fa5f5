"""The sockets that the loop waits for.

libcurl names a socket at the beginning of each request and releases the socket at the end, and most
requests use the same few sockets. A registration for each request costs two system calls. So a
released socket stays registered until the socket has an event (the server closes the connection),
or until the number belongs to another socket, as the inode shows.

Guarantee: a socket that libcurl wants is registered, also under a number with an old registration.
"""

from __future__ import annotations

import os
import selectors
from collections.abc import Iterator
from typing import Final

import pycurl

_EVENTS: Final = {
    pycurl.POLL_IN: selectors.EVENT_READ,
    pycurl.POLL_OUT: selectors.EVENT_WRITE,
    pycurl.POLL_INOUT: selectors.EVENT_READ | selectors.EVENT_WRITE,
}


class Watching:
    """A selector that removes sockets late. The loop's thread owns the selector."""

    def __init__(self) -> None:
        """Start without sockets."""
        self._selector = selectors.DefaultSelector()
        self._events: dict[int, int] = {}
        """Registered events by descriptor."""
        self._resting: dict[int, int] = {}
        """Inodes of released sockets by descriptor."""

    def listen(self, descriptor: int) -> None:
        """Wait for input on a descriptor, permanently."""
        self._selector.register(descriptor, selectors.EVENT_READ)

    def want(self, descriptor: int, wanted: int) -> None:
        """Wait for the events that libcurl wants (`POLL_IN`, `POLL_OUT`, `POLL_INOUT`)."""
        events = _EVENTS[wanted]
        inode = self._resting.pop(descriptor, None)
        if inode is not None and inode != _inode(descriptor):
            self._forget(descriptor)
        registered = self._events.get(descriptor)
        if registered is None:
            self._selector.register(descriptor, events)
        elif registered != events:
            self._selector.modify(descriptor, events)
        self._events[descriptor] = events

    def put_down(self, descriptor: int) -> None:
        """Note that libcurl wants no event of a socket now."""
        inode = _inode(descriptor)
        if inode:
            self._resting[descriptor] = inode
        else:
            self._forget(descriptor)

    def wait(self, seconds: float | None) -> Iterator[tuple[int, int]]:
        """Wait for ready descriptors, and return an iterator of them with their events."""
        return self._ready(self._selector.select(seconds))

    def _ready(self, found: list[tuple[selectors.SelectorKey, int]]) -> Iterator[tuple[int, int]]:
        for key, events in found:
            if key.fd in self._resting:
                del self._resting[key.fd]
                self._forget(key.fd)
            else:
                yield key.fd, events

    def close(self) -> None:
        """Remove all sockets."""
        self._selector.close()

    def _forget(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        del self._events[descriptor]


def _inode(descriptor: int) -> int:
    """Return a value that differs between sockets of the same number; 0 if no such value exists."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return 0
