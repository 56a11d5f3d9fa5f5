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

import math
import socket
from dataclasses import dataclass
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Final

import pycurl

from providers.transport.easy import CONNECT_TIMEOUT, Easy
from providers.transport.exchange import Failure, FailureKind
from providers.transport.lines import Batch, Bounds, Lines
from providers.transport.origin import STREAMS, Plan
from providers.transport.sockets import Sockets
from providers.transport.watching import Watching

STANDSTILL: Final = 1.0
"""Seconds by which a wait is late if the process stood still."""
REPRIEVE: Final = 1.0
"""Seconds for the answers that came during a standstill."""
_LATE_AFTER: Final = CONNECT_TIMEOUT.total_seconds() + 0.25
"""Seconds after which libcurl has ended a connection late: the process stood still, or had no CPU
time, and the connection may have been made."""


@dataclass(slots=True, eq=False)
class _Flight:
    easy: Easy
    origin: str
    batch: Batch
    index: int
    began_at: float
    plan: Plan


class Loop:
    """Owner of multi, sockets and thread; only `submit` and `close` run in other threads."""

    def __init__(self, bounds: Bounds) -> None:
        """Start the thread; `bounds` limit the requests in flight."""
        self._inbox: SimpleQueue[Batch] = SimpleQueue()
        self._batches: set[Batch] = set()
        self._lines = Lines(bounds)
        self._flights: dict[pycurl.Curl, _Flight] = {}
        self._seen_at = monotonic()
        self._looked_at = self._missed_at = self._seen_at
        """Begin of the last look at the sockets, and of the look before that one."""
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
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watching.follow)
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
        if deadlines := [batch.next_deadline() for batch in self._batches if batch.begun]:
            moments.append(max(min(deadlines), self._reprieved_until))
        first = min(moments)
        timeout = None if first == math.inf else max(0.0, first - monotonic())
        self._notice_standstill()
        self._missed_at, self._looked_at = self._looked_at, self._seen_at
        ready = self._watching.wait(timeout)
        self._notice_standstill(planned=math.inf if timeout is None else timeout)
        ear = self._ear.fileno()
        for descriptor, events in ready:
            if descriptor == ear:
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

    def _end_overdue(self) -> None:
        self._notice_standstill()
        now = monotonic()
        if self._reprieved_until > now:
            return
        for batch in self._batches:
            while batch.begun and batch.next_deadline() <= now:
                self._land(next(iter(batch.begun)), pycurl.E_OPERATION_TIMEDOUT)

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
        del flight.batch.begun[curl]
        easy = flight.easy
        own_delay = easy.own_delay(began_at=flight.began_at, missed_at=self._missed_at)
        self._multi.remove_handle(curl)
        origin = self._lines.record_end(flight.origin)
        origin.end(opened=flight.plan.opens)
        self._spare.append(easy)
        if easy.met_closed:
            origin.met_closed(is_gone=flight.plan.sweeping)
        elif easy.came_early:
            origin.came_early()
        seconds = monotonic() - flight.began_at
        is_early = easy.met_closed or easy.came_early
        if is_early or (error and self._is_late(flight, error, seconds=seconds)):
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
        has_event = not easy.descriptors.isdisjoint(self._watching.found())
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
            now = monotonic()
            ends_at = now + batch.deadline_seconds
            on_begin = batch.begins[index] if batch.begins else None
            try:
                easy.begin(batch.requests[index], plan, on_begin, ends_at=ends_at)
            except ValueError:
                self._spare.append(easy)
                self._lines.record_end(name).end(opened=plan.opens)
                batch.answer(index, _unsent(FailureKind.REFUSED, "malformed_request"))
                continue
            self._flights[easy.curl] = _Flight(easy, name, batch, index, now, plan)
            batch.begun[easy.curl] = ends_at
            self._multi.add_handle(easy.curl)

    def _hand_back(self) -> None:
        now = monotonic()
        for batch in [batch for batch in self._batches if batch.fresh]:
            if batch.hand_back_at <= now:
                batch.replies.put(batch.fresh)
                batch.fresh = []
                if not batch.unanswered:
                    self._batches.discard(batch)


def _unsent(kind: FailureKind, code: str) -> Failure:
    return Failure(kind=kind, code=code, elapsed=timedelta(0))
