"""The thread of libcurl: bounded requests in flight, a deadline per request.

Each origin (scheme, host and port) has two queues, urgent and patient, and a share of the slots, so
a hanging provider fills only the provider's share. A request's deadline begins when libcurl gets
the request; after too long a wait in the queue the reply is "never sent". Replies within a few
milliseconds go back as a list, because waking the caller costs more than a request.

The loop ends overdue requests, after a look at the sockets. libcurl would look at the time first,
and a process after a standstill, such as a virtual machine's, finds passed deadlines and answers
in the sockets: overdue requests get a second more. A request whose connection ended late, or during
a standstill, starts again. A silent server is a failure, however late the process is.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from heapq import heappop, heappush
from itertools import count
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import ClassVar, Final, Literal

import pycurl

from providers.transport.easy import CONNECT_TIMEOUT, Easy
from providers.transport.exchange import Failure, FailureKind
from providers.transport.lines import Batch, Bounds, Lines
from providers.transport.origin import STREAMS, Plan
from providers.transport.sockets import Sockets

STANDSTILL: Final = 1.0
"""Seconds by which a wait is late if the process stood still."""
REPRIEVE: Final = 1.0
"""Seconds for the answers that came during a standstill."""
_LATE_AFTER: Final = CONNECT_TIMEOUT.total_seconds() + 0.25
"""Seconds after which libcurl has ended a connection late: the process stood still, or had no CPU
time, and the connection may have been made."""
_MOST_EVENTS: Final = 8_192
"""Ready sockets of one look: more than a loop has, so that the look misses none."""

_EVENTS: Final = {
    pycurl.POLL_IN: select.EPOLLIN,
    pycurl.POLL_OUT: select.EPOLLOUT,
    pycurl.POLL_INOUT: select.EPOLLIN | select.EPOLLOUT,
}


@dataclass(slots=True, eq=False)
class _Flight:
    easy: Easy
    origin: str
    batch: Batch
    index: int
    began_at: float
    plan: Plan
    number: int
    """Tells the flight from earlier flights of the same handle."""


class Loop:
    """Owner of multi, sockets and thread; only `submit` and `close` run in other threads."""

    def __init__(self, bounds: Bounds) -> None:
        """Start the thread; `bounds` limit the requests in flight."""
        self._inbox: SimpleQueue[Batch] = SimpleQueue()
        self._batches: set[Batch] = set()
        self._lines = Lines(bounds)
        self._flights: dict[pycurl.Curl, _Flight] = {}
        self._numbers = count()
        self._deadlines: list[tuple[float, int, pycurl.Curl]] = []
        """Heap of deadlines, also of requests that have ended: without their bodies."""
        self._seen_at = monotonic()
        self._reprieved_until = 0.0
        self._spare: list[Easy] = []
        self._sockets = Sockets()
        self._closing = False
        self._watching = Watching()
        self._ear, self._mouth = socket.socketpair()
        for end in (self._ear, self._mouth):
            end.settimeout(0)
        self._watching.listen(self._ear.fileno())
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_MAXCONNECTS, bounds.in_total)
        self._multi.setopt(pycurl.M_MAX_CONCURRENT_STREAMS, STREAMS)
        self._thread = Thread(target=self._run, name="http-transport", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """False after `close`, or after a bug ended the thread."""
        return self._thread.is_alive()

    @property
    def in_flight(self) -> int:
        """Number of requests in flight."""
        return len(self._flights)

    @property
    def waiting(self) -> int:
        """Number of requests that wait for a slot or a connection; exact between two rounds."""
        return self._lines.waiting

    def submit(self, batch: Batch) -> None:
        """Submit a batch; the replies arrive on the batch's queue."""
        self._inbox.put(batch)
        self._wake()

    def close(self) -> None:
        """End the thread; requests in flight are cut."""
        self._closing = True
        self._wake()
        self._thread.join()
        for end in (self._ear, self._mouth):  # not by the thread: it may end before it is woken
            end.close()

    def _wake(self) -> None:
        try:
            self._mouth.send(b"\0")
        except BlockingIOError:
            return  # the pipe is full of wake-ups that it has yet to read: one more adds nothing

    def _run(self) -> None:
        while not self._closing:
            self._wait()
            self._take_in()
            self._collect()
            self._end_overdue()
            self._expire()
            self._start()
            self._hand_back()
        self._multi.close()
        self._watching.close()

    def _wait(self) -> None:
        moments = [batch.begin_by for batch in self._batches if not batch.expired]
        moments += [batch.hand_back_at for batch in self._batches if batch.fresh]
        milliseconds = self._multi.timeout()
        timer_at = monotonic() + milliseconds / 1000 if milliseconds >= 0 else math.inf
        moments.append(timer_at)
        if (next_deadline := self._next_deadline()) is not None:
            moments.append(max(next_deadline, self._reprieved_until))
        first = min(moments)
        timeout = None if first == math.inf else max(0.0, first - monotonic())
        self._notice_standstill()
        ready = self._watching.wait(timeout)
        self._notice_standstill(planned=math.inf if timeout is None else timeout)
        for descriptor, events in ready:
            if descriptor == self._ear.fileno():
                self._ear.recv(4096)
            else:
                self._multi.socket_action(descriptor, events)
        if timer_at <= monotonic():
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _notice_standstill(self, *, planned: float = 0.0) -> None:
        """Give overdue requests a second more if the last look at the time is far too long ago."""
        now, before = monotonic(), self._seen_at
        self._seen_at = now
        if now - before > planned + STANDSTILL:
            self._reprieved_until = now + REPRIEVE

    def _next_deadline(self) -> float | None:
        """Return the next deadline of a request in flight."""
        while self._deadlines:
            ends_at, number, curl = self._deadlines[0]
            flight = self._flights.get(curl)
            if flight is not None and flight.number == number:
                return ends_at
            heappop(self._deadlines)
        return None

    def _end_overdue(self) -> None:
        self._notice_standstill()
        now = monotonic()
        while self._reprieved_until <= now:
            ends_at = self._next_deadline()
            if ends_at is None or ends_at > now:
                return
            _, _, curl = heappop(self._deadlines)
            self._land(curl, pycurl.E_OPERATION_TIMEDOUT)

    def _take_in(self) -> None:
        while True:
            try:
                batch = self._inbox.get_nowait()
            except Empty:
                return
            self._batches.add(batch)
            self._lines.add(batch)

    def _collect(self) -> None:
        more = 1
        while more:
            more, done, failed = self._multi.info_read()
            for curl in done:
                self._land(curl, pycurl.E_OK)
            for curl, error, _message in failed:
                self._land(curl, error)

    def _land(self, curl: pycurl.Curl, error: int) -> None:
        flight = self._flights.pop(curl)
        own_delay = flight.easy.own_delay(began_at=flight.began_at)
        self._multi.remove_handle(curl)
        origin = self._lines.record_end(flight.origin)
        origin.end(opened=flight.plan.opens)
        self._spare.append(easy := flight.easy)
        if easy.met_closed:
            origin.met_closed(is_gone=flight.plan.sweeping)
        elif easy.came_early:
            origin.came_early()
        seconds = monotonic() - flight.began_at
        if easy.met_closed or easy.came_early or self._is_late(flight, error, seconds=seconds):
            if flight.batch.expired:  # it may not start again
                unsent = _unsent(FailureKind.NEVER_SENT, "not_started")
                flight.batch.answer(flight.index, unsent)
            else:
                self._lines.put_back(flight.origin, flight.batch, flight.index)
            return
        elapsed = timedelta(seconds=seconds)
        reply = easy.finish(error, elapsed=elapsed, own_delay=own_delay)
        flight.batch.answer(flight.index, reply)
        if easy.has_proved or (flight.plan.opens and easy.was_answered):
            origin.record_answer(multiplexes=easy.multiplexes)

    def _is_late(self, flight: _Flight, error: int, *, seconds: float) -> bool:
        """Return True if the process stood still before the first byte, or ended a connection late.

        An open socket tells if the server has answered, unless the look at the sockets is too old.
        """
        easy = flight.easy
        if easy.is_sent or flight.began_at < self._reprieved_until - REPRIEVE:
            return not easy.is_sent
        if error != pycurl.E_OPERATION_TIMEDOUT or seconds <= _LATE_AFTER:
            return False
        is_old = monotonic() - self._seen_at > STANDSTILL
        has_event = not easy.descriptors.isdisjoint(self._watching.found)
        return is_old or has_event or not easy.descriptors

    def _expire(self) -> None:
        """Answer requests that waited too long; `_end_overdue` ends requests in flight."""
        now = monotonic()
        over = {b for b in self._batches if not b.expired and (b.abandoned or b.begin_by <= now)}
        for batch in over:
            batch.expired = True
        if over:
            for batch, index in self._lines.drop(over):
                batch.answer(index, _unsent(FailureKind.NEVER_SENT, "not_started"))

    def _start(self) -> None:
        for name, origin, batch, index in self._lines.startable():
            easy = self._spare.pop() if self._spare else Easy(self._sockets)
            plan = origin.start()
            now, number = monotonic(), next(self._numbers)
            ends_at = now + batch.deadline_seconds
            on_begin = batch.begins[index] if batch.begins else None
            try:
                easy.begin(batch.requests[index], plan, on_begin, ends_at=ends_at)
            except ValueError:
                self._spare.append(easy)
                self._lines.record_end(name).end(opened=plan.opens)
                batch.answer(index, _unsent(FailureKind.REFUSED, "malformed_request"))
                continue
            self._flights[easy.curl] = _Flight(easy, name, batch, index, now, plan, number)
            heappush(self._deadlines, (ends_at, number, easy.curl))
            self._multi.add_handle(easy.curl)

    def _hand_back(self) -> None:
        now = monotonic()
        for batch in [batch for batch in self._batches if batch.fresh]:
            if batch.hand_back_at <= now:
                batch.replies.put(batch.fresh)
                batch.fresh = []
                if not batch.unanswered:
                    self._batches.discard(batch)

    # Called by libcurl from within socket_action

    def _watch(self, event: int, fd: int, _multi: pycurl.CurlMulti, _data: object) -> Literal[0]:
        if event == pycurl.POLL_REMOVE:
            self._watching.put_down(fd)
        else:
            self._watching.want(fd, event)
        return 0


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
        self.found: frozenset[int] = frozenset()
        """Descriptors with an event in the last `wait`."""

    def listen(self, descriptor: int) -> None:
        """Wait for input on a descriptor, permanently."""
        self._permanent.add(descriptor)
        self._epoll.register(descriptor, select.EPOLLIN)

    def want(self, descriptor: int, wanted: int) -> None:
        """Wait for libcurl's events (`POLL_IN`, `POLL_OUT`, `POLL_INOUT`)."""
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

    def put_down(self, descriptor: int) -> None:
        """Note that libcurl wants no event of a socket now."""
        if descriptor in self._events:
            self._resting.add(descriptor)

    def wait(self, seconds: float | None) -> Iterator[tuple[int, int]]:
        """Wait for ready descriptors; return an iterator of descriptors and events for libcurl."""
        found = self._epoll.poll(seconds, _MOST_EVENTS)
        self.found = frozenset(descriptor for descriptor, _ in found)
        return self._ready(found)

    def _ready(self, found: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for descriptor, events in found:
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


def _unsent(kind: FailureKind, code: str) -> Failure:
    return Failure(kind=kind, code=code, elapsed=timedelta(0))
