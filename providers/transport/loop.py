"""The thread that drives libcurl: bounded in flight, one deadline per batch.

Each origin (scheme, host and port) has its own queue and its own share of the slots, so a
provider that hangs fills its own share and slows nobody else. A request whose deadline passes
while it still waits has never been sent, and is answered so. Replies that come within a few
milliseconds go back as one list: waking the caller costs more than a request.
"""

from __future__ import annotations

import socket
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import Final, Literal

import pycurl

from providers.transport.easy import Easy
from providers.transport.exchange import Failure, FailureKind, Reply, Request
from providers.transport.sockets import Sockets
from providers.transport.watching import Watching

_GATHER_SECONDS: Final = 0.005
"""How long a reply waits for others of its batch; the last one of a batch never does."""


@dataclass(slots=True, eq=False)
class Batch:
    """The requests of one `send` and the way back to its caller, who is on another thread."""

    requests: Sequence[Request]
    started_at: float
    """Monotonic seconds, like `expires_at`."""
    expires_at: float
    replies: SimpleQueue[list[tuple[int, Reply]]] = field(default_factory=SimpleQueue)
    abandoned: bool = False
    """Set by a caller that went away: what has not started must never start."""
    expired: bool = False
    """Nothing of it waits any more; only what was in flight is still to come."""
    unanswered: int = 0
    fresh: list[tuple[int, Reply]] = field(default_factory=list)
    """Replies that are not handed back yet."""
    fresh_since: float = 0.0

    def __post_init__(self) -> None:
        """Count what is to be answered."""
        self.unanswered = len(self.requests)

    def answer(self, index: int, reply: Reply) -> None:
        """Note the one reply of a request."""
        if not self.fresh:
            self.fresh_since = monotonic()
        self.fresh.append((index, reply))
        self.unanswered -= 1

    @property
    def hand_back_at(self) -> float:
        """When what is fresh goes back to the caller."""
        return self.fresh_since + _GATHER_SECONDS if self.unanswered else self.fresh_since


@dataclass(slots=True, eq=False)
class _Origin:
    waiting: deque[tuple[Batch, int]] = field(default_factory=deque)
    in_flight: int = 0
    sweeps_next: bool = False
    """A connection was found closed: the next request takes it away from the others."""
    held: bool = False
    """A new connection carries its first request: the others wait until something lands."""


@dataclass(slots=True, eq=False)
class _Flight:
    easy: Easy
    origin: str
    batch: Batch
    index: int


class Loop:
    """Owns the multi, its sockets and its thread; only `submit` and `close` run elsewhere."""

    def __init__(self, *, per_origin: int, in_total: int) -> None:
        """Start the thread; `per_origin` and `in_total` bound the requests in flight."""
        self._per_origin, self._in_total = per_origin, in_total
        self._inbox: SimpleQueue[Batch] = SimpleQueue()
        self._batches: set[Batch] = set()
        self._origins: dict[str, _Origin] = {}
        self._flights: dict[pycurl.Curl, _Flight] = {}
        self._spare: list[Easy] = []
        self._sockets = Sockets()
        self._timer_at: float | None = None
        self._closing = False
        self._watching = Watching()
        self._ear, self._mouth = socket.socketpair()
        for end in (self._ear, self._mouth):
            end.settimeout(0)
        self._watching.listen(self._ear.fileno())
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, in_total)
        self._thread = Thread(target=self._run, name="http-transport", daemon=True)
        self._thread.start()

    @property
    def alive(self) -> bool:
        """False once closed, or after a bug ended the thread."""
        return self._thread.is_alive()

    def submit(self, batch: Batch) -> None:
        """Hand over a batch; its replies arrive on its own queue."""
        self._inbox.put(batch)
        self._wake()

    def close(self) -> None:
        """End the thread; what is in flight is cut."""
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
            self._expire()
            self._start()
            self._hand_back()
        self._multi.close()
        self._watching.close()

    def _wait(self) -> None:
        moments = [batch.expires_at for batch in self._batches if not batch.expired]
        moments += [batch.hand_back_at for batch in self._batches if batch.fresh]
        if self._timer_at is not None:
            moments.append(self._timer_at)
        timeout = max(0.0, min(moments) - monotonic()) if moments else None
        for descriptor, events in self._watching.wait(timeout):
            if descriptor == self._ear.fileno():
                self._ear.recv(4096)
            else:  # EVENT_READ and EVENT_WRITE have the values of CSELECT_IN and CSELECT_OUT
                self._multi.socket_action(descriptor, events)
        if self._timer_at is not None and self._timer_at <= monotonic():
            self._timer_at = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _take_in(self) -> None:
        while True:
            try:
                batch = self._inbox.get_nowait()
            except Empty:
                return
            self._batches.add(batch)
            for index, request in enumerate(batch.requests):
                origin = self._origins.setdefault(_origin_of(request.url), _Origin())
                origin.waiting.append((batch, index))

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
        self._multi.remove_handle(curl)
        origin = self._origins[flight.origin]
        origin.in_flight -= 1
        self._spare.append(flight.easy)
        easy = flight.easy
        if (easy.met_closed or easy.came_early) and not flight.batch.expired:
            origin.sweeps_next |= easy.met_closed
            origin.held |= easy.is_still_early
            origin.waiting.appendleft((flight.batch, flight.index))
            return
        origin.held = False
        elapsed = timedelta(seconds=monotonic() - flight.batch.started_at)
        flight.batch.answer(flight.index, flight.easy.finish(error, elapsed=elapsed))

    def _expire(self) -> None:
        """Answer what waited in vain. What is in flight is ended by libcurl's own timeout."""
        now = monotonic()
        over = {b for b in self._batches if not b.expired and (b.abandoned or b.expires_at <= now)}
        for batch in over:
            batch.expired = True
        if not over:
            return
        for origin in self._origins.values():
            for batch, index in origin.waiting:
                if batch in over:
                    batch.answer(index, _failure(batch, FailureKind.NEVER_SENT, "not_started"))
            origin.waiting = deque(entry for entry in origin.waiting if entry[0] not in over)

    def _start(self) -> None:
        for name, origin in list(self._origins.items()):
            while (
                origin.waiting
                and origin.in_flight < self._per_origin
                and len(self._flights) < self._in_total
                and not (origin.held and origin.in_flight)
            ):
                batch, index = origin.waiting.popleft()
                self._launch(name, batch=batch, index=index)
            if not origin.waiting and not origin.in_flight:
                del self._origins[name]

    def _launch(self, origin: str, *, batch: Batch, index: int) -> None:
        easy = self._spare.pop() if self._spare else Easy(self._sockets)
        try:
            self._take_off(_Flight(easy, origin, batch, index))
        except ValueError:
            self._spare.append(easy)
            batch.answer(index, _failure(batch, FailureKind.REFUSED, "malformed_request"))
            return
        self._origins[origin].in_flight += 1

    def _take_off(self, flight: _Flight) -> None:
        remaining = flight.batch.expires_at - monotonic()
        request = flight.batch.requests[flight.index]
        origin = self._origins[flight.origin]
        flight.easy.begin(request, remaining_seconds=remaining, sweeping=origin.sweeps_next)
        origin.sweeps_next = False
        self._flights[flight.easy.curl] = flight
        self._multi.add_handle(flight.easy.curl)

    def _hand_back(self) -> None:
        now = monotonic()
        for batch in [batch for batch in self._batches if batch.fresh]:
            if batch.hand_back_at <= now:
                batch.replies.put(batch.fresh)
                batch.fresh = []
                if not batch.unanswered:
                    self._batches.discard(batch)

    # Called by libcurl from within socket_action and add_handle

    def _watch(self, event: int, fd: int, _multi: pycurl.CurlMulti, _data: object) -> Literal[0]:
        if event == pycurl.POLL_REMOVE:
            self._watching.put_down(fd)
        else:
            self._watching.want(fd, event)
        return 0

    def _set_timer(self, milliseconds: int) -> Literal[0]:
        self._timer_at = None if milliseconds < 0 else monotonic() + milliseconds / 1000
        return 0


def _origin_of(url: str) -> str:
    """`https://host:port`: what connections are shared by."""
    end = url.find("/", 8)
    return url if end < 0 else url[:end]


def _failure(batch: Batch, kind: FailureKind, code: str) -> Failure:
    return Failure(kind=kind, code=code, elapsed=timedelta(seconds=monotonic() - batch.started_at))
