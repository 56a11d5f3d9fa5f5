"""The sockets on which the loop waits."""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Iterator
from typing import ClassVar, Final

import pycurl

_MOST_EVENTS: Final = 8_192
"""Ready sockets of one look: more than a loop has, so that the look misses none."""

_EVENTS: Final = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}


class Watching:
    """An epoll that removes sockets late. The loop's thread owns the object.

    libcurl names a socket at the beginning of each request and releases the socket at the end, and
    most requests use the same few sockets. So a released socket stays registered until the socket
    has an event (the server closes the connection). The kernel forgets a closed socket: if the
    number of a released socket is unknown to epoll, it belongs to another socket now. A socket that
    is closed here and open in a forked process is not forgotten, and no number removes the socket:
    after an event of such a socket the epoll is replaced, and in a process that has forked as soon
    as another socket has the number.

    Guarantee: a socket that libcurl wants is registered, also under a number with an old
    registration.
    """

    has_forked: ClassVar = False
    """True in a process with a forked process, which may have the sockets open."""

    def __init__(self) -> None:
        """Start without sockets."""
        self._epoll = select.epoll()
        self._permanent: set[int] = set()
        self._events: dict[int, int] = {}
        """Registered events by descriptor, without the permanent descriptors."""
        self._resting: set[int] = set()
        """Released sockets."""
        self._found: list[tuple[int, int]] = []
        """Descriptors with their events, of the last `wait`."""

    def listen(self, descriptor: int) -> None:
        """Wait for input on a descriptor, permanently."""
        self._permanent.add(descriptor)
        self._epoll.register(descriptor, select.EPOLLIN)

    def follow(self, wanted: int, descriptor: int, _multi: object, _data: object) -> None:
        """Wait for libcurl's events from now on, or for none (`pycurl.M_SOCKETFUNCTION`).

        `wanted` is `POLL_IN`, `POLL_OUT`, `POLL_INOUT` or `POLL_REMOVE`.
        """
        if wanted == pycurl.POLL_REMOVE:
            if descriptor in self._events:
                self._resting.add(descriptor)
            return
        events, registered = _EVENTS[wanted], self._events.get(descriptor)
        if registered is None:
            self._epoll.register(descriptor, events)
        elif descriptor in self._resting:
            self._resting.remove(descriptor)
            try:
                self._epoll.modify(descriptor, events)
            except FileNotFoundError:
                if Watching.has_forked:
                    del self._events[descriptor]
                    self._replace()
                self._epoll.register(descriptor, events)
        elif registered != events:
            self._epoll.modify(descriptor, events)
        self._events[descriptor] = events

    def found(self) -> set[int]:
        """Return the descriptors with an event in the last `wait`."""
        return {descriptor for descriptor, _ in self._found}

    def wait(self, seconds: float | None) -> Iterator[tuple[int, int]]:
        """Wait for ready descriptors; return an iterator of descriptors and events for libcurl."""
        self._found = self._epoll.poll(seconds, _MOST_EVENTS)
        return self._ready()

    def _ready(self) -> Iterator[tuple[int, int]]:
        for descriptor, events in self._found:
            if descriptor in self._resting:
                self._forget(descriptor)
            elif descriptor not in self._events and descriptor not in self._permanent:
                self._replace()
                return  # the new epoll tells of the other descriptors again
            else:  # an error or the end of a connection counts as both
                readable = pycurl.CSELECT_IN if events & ~select.EPOLLOUT else 0
                writable = pycurl.CSELECT_OUT if events & ~select.EPOLLIN else 0
                yield descriptor, readable | writable

    def close(self) -> None:
        """Remove all sockets."""
        self._epoll.close()

    def _replace(self) -> None:
        self._epoll.close()
        self._epoll = select.epoll()
        for descriptor in self._permanent:
            self._epoll.register(descriptor, select.EPOLLIN)
        for descriptor in self._resting:
            del self._events[descriptor]
        self._resting.clear()
        for descriptor, events in self._events.items():
            self._epoll.register(descriptor, events)

    def _forget(self, descriptor: int) -> None:
        self._resting.remove(descriptor)
        del self._events[descriptor]
        with contextlib.suppress(OSError):  # closed meanwhile
            self._epoll.unregister(descriptor)


def _note_fork() -> None:
    Watching.has_forked = True


os.register_at_fork(after_in_parent=_note_fork)
