"""Which sockets the loop waits for.

libcurl names a socket at the beginning of each request and puts it down at the end, and most
requests use the same few sockets. To register it each time anew costs two system calls. So a socket
that was put down stays registered: until it makes itself heard (its other side closes it), or until
its number is another socket's, which its inode tells.

Promise: a socket that libcurl wants is registered, whatever was registered under its number before.
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
    """A selector that lets go of sockets late. Belongs to the loop's thread."""

    def __init__(self) -> None:
        """Wait for nothing yet."""
        self._selector = selectors.DefaultSelector()
        self._events: dict[int, int] = {}
        """Descriptor -> what it is registered for."""
        self._resting: dict[int, int] = {}
        """Descriptor -> inode of those that libcurl has put down."""

    def listen(self, descriptor: int) -> None:
        """Wait for something to read there, for good."""
        self._selector.register(descriptor, selectors.EVENT_READ)

    def want(self, descriptor: int, wanted: int) -> None:
        """Wait for what libcurl wants of a socket (`POLL_IN`, `POLL_OUT`, `POLL_INOUT`)."""
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
        """Libcurl wants nothing of it now."""
        inode = _inode(descriptor)
        if inode:
            self._resting[descriptor] = inode
        else:
            self._forget(descriptor)

    def wait(self, seconds: float | None) -> Iterator[tuple[int, int]]:
        """Yield each descriptor that is ready, with what it is ready for."""
        for key, events in self._selector.select(seconds):
            if key.fd in self._resting:
                del self._resting[key.fd]
                self._forget(key.fd)
            else:
                yield key.fd, events

    def close(self) -> None:
        """Forget all."""
        self._selector.close()

    def _forget(self, descriptor: int) -> None:
        self._selector.unregister(descriptor)
        del self._events[descriptor]


def _inode(descriptor: int) -> int:
    """What tells a socket from the next one with its number; 0 where nothing does."""
    try:
        return os.fstat(descriptor).st_ino
    except OSError:
        return 0
