"""Requests that wait for a slot: urgent before patient, first come, first served within both.

An urgent request may go over a bound by an eighth, so that an urgent request does not
wait for the end of a thousand slow calls.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import Final

import pycurl

from providers.transport.exchange import Reply, Request
from providers.transport.origin import Origin

_GATHER_SECONDS: Final = 0.005
"""Longest wait of a reply for other replies of the batch; the last reply never waits."""
_BEGIN_WITHIN: Final = 0.5
"""Share of the deadline in which a request must start."""
_MOST_STARTS: Final = 64
"""Requests of a queue that start between two looks at the sockets: the answers that came meanwhile
free their connections, and libcurl searches all used connections of a server at each request."""
_REMEMBERED: Final = 1_000
"""Number of origins above which idle origins are dropped."""


@dataclass(slots=True, eq=False)
class Batch:
    """The requests of a `send` and the way back to the calling thread."""

    requests: Sequence[Request]
    deadline_seconds: float
    """Time from the start of each request."""
    begin_by: float
    """Monotonic seconds; a request that has not begun by then never begins."""
    begins: Sequence[Callable[[], None] | None] = ()
    """A function for each request, called before its first byte leaves; empty: none."""
    replies: SimpleQueue[list[tuple[int, Reply]]] = field(default_factory=SimpleQueue)
    abandoned: bool = False
    """Set after the caller left: waiting requests must never start."""
    expired: bool = False
    """No request waits any more; only requests in flight are to come."""
    begun: OrderedDict[pycurl.Curl, float] = field(default_factory=OrderedDict)
    """Deadlines of the requests in flight, earliest first (monotonic seconds)."""
    unanswered: int = 0
    fresh: list[tuple[int, Reply]] = field(default_factory=list)
    """Replies that the caller has not got yet."""
    fresh_since: float = 0.0

    @classmethod
    def of(
        cls,
        requests: Sequence[Request],
        *,
        deadline_seconds: float,
        begins: Sequence[Callable[[], None] | None] = (),
    ) -> Batch:
        """Make the batch of a new `send`."""
        return cls(
            requests=requests,
            deadline_seconds=deadline_seconds,
            begins=begins,
            begin_by=monotonic() + _BEGIN_WITHIN * deadline_seconds,
            unanswered=len(requests),
        )

    @property
    def ends_by(self) -> float:
        """Return the time of the last reply, at the latest (monotonic seconds)."""
        return self.begin_by + self.deadline_seconds

    def next_deadline(self) -> float:
        """Return the deadline of the request that began first, if any is in flight."""
        return next(iter(self.begun.values()))

    def answer(self, index: int, reply: Reply) -> None:
        """Note the reply of a request."""
        if not self.fresh:
            self.fresh_since = monotonic()
        self.fresh.append((index, reply))
        self.unanswered -= 1

    @property
    def hand_back_at(self) -> float:
        """Return the time at which new replies go to the caller."""
        return self.fresh_since + _GATHER_SECONDS if self.unanswered else self.fresh_since


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Most requests in flight."""

    per_origin: int
    """Requests to an origin of the settings."""
    per_stranger: int
    """Requests to an origin of an untrusted URL (`Request.guard`)."""
    in_total: int


@dataclass(slots=True)
class _Queue:
    """Waiting requests of an origin."""

    origin: Origin
    bound: int
    lines: dict[bool, deque[tuple[Batch, int]]] = field(
        default_factory=lambda: {True: deque(), False: deque()}
    )
    """Waiting requests, by urgency."""

    @property
    def is_idle(self) -> bool:
        return not (self.origin.in_flight or self.lines[True] or self.lines[False])


class Lines:
    """All origins. The loop's thread owns the object."""

    def __init__(self, bounds: Bounds) -> None:
        """Start without origins."""
        self._bounds = bounds
        self._queues: dict[str, _Queue] = {}
        self._waiting: dict[bool, dict[str, None]] = {True: {}, False: {}}
        """Names of the origins with waiting requests, in order, by urgency."""
        self._in_flight = 0

    @property
    def waiting(self) -> int:
        """Number of waiting requests; other threads may read the number."""
        queues = list(self._queues.values())
        return sum(len(line) for queue in queues for line in queue.lines.values())

    def add(self, batch: Batch) -> None:
        """Add the requests of a batch, at least one, at the end of the queues."""
        last = batch.requests[0]
        name, queue = self._queue_of(last)
        for index, request in enumerate(batch.requests):
            if request.url != last.url or request.guard is not last.guard:
                last = request
                name, queue = self._queue_of(last)
            queue.lines[request.urgent].append((batch, index))
            self._waiting[request.urgent][name] = None

    def put_back(self, name: str, batch: Batch, index: int) -> None:
        """Put a request not sent at the head of its queue."""
        urgent = batch.requests[index].urgent
        self._queues[name].lines[urgent].appendleft((batch, index))
        self._waiting[urgent][name] = None

    def startable(self) -> Iterator[tuple[str, Origin, Batch, int]]:
        """Take out the requests that may start now, urgent requests first.

        The caller starts or lands each request. Up to `_MOST_STARTS` of each queue start now; the
        next call has the others.
        """
        for urgent in (True, False):
            for name in list(self._waiting[urgent]):
                queue = self._queues[name]
                line, other, origin = queue.lines[urgent], queue.lines[not urgent], queue.origin
                bound, in_total = self._bounds_of(queue, urgent=urgent)
                bound = min(bound, origin.in_flight + _MOST_STARTS)
                while (
                    line
                    and origin.in_flight < bound
                    and self._in_flight < in_total
                    and origin.takes_another(waiting=len(line) + len(other))
                ):
                    batch, index = line.popleft()
                    self._in_flight += 1
                    yield name, origin, batch, index
                if not line:
                    del self._waiting[urgent][name]

    def record_end(self, name: str) -> Origin:
        """Note the end of a request in flight; return the origin, which counts separately."""
        self._in_flight -= 1
        return self._queues[name].origin

    def drop(self, batches: set[Batch]) -> list[tuple[Batch, int]]:
        """Take out all waiting requests of the batches."""
        dropped: list[tuple[Batch, int]] = []
        for urgent, names in self._waiting.items():
            for name in list(names):
                line = self._queues[name].lines[urgent]
                dropped += [entry for entry in line if entry[0] in batches]
                kept = [entry for entry in line if entry[0] not in batches]
                line.clear()
                line.extend(kept)
                if not kept:
                    del names[name]
        return dropped

    def _queue_of(self, request: Request) -> tuple[str, _Queue]:
        """Return an origin's name and queue for a request that is about to wait."""
        name = _origin_of(request)
        queue = self._queues.get(name) or self._new_queue(name, request)
        if queue.is_idle:
            queue.origin.wake(now=monotonic())
        return name, queue

    def _new_queue(self, name: str, request: Request) -> _Queue:
        if len(self._queues) >= _REMEMBERED:
            self._queues = {
                known: queue for known, queue in self._queues.items() if not queue.is_idle
            }
        is_strange = request.guard is not None
        bound = self._bounds.per_stranger if is_strange else self._bounds.per_origin
        queue = self._queues[name] = _Queue(Origin(may_multiplex=name.startswith("https:")), bound)
        return queue

    def _bounds_of(self, queue: _Queue, *, urgent: bool) -> tuple[int, int]:
        """Return the most requests in flight to the origin, and in total."""
        bound, in_total = queue.bound, self._bounds.in_total
        if urgent:
            return bound + max(1, bound // 8), in_total + max(1, in_total // 8)
        return bound, in_total


def _origin_of(request: Request) -> str:
    """Return the key of shared connections, `https://host:port`, and True for untrusted URLs."""
    end = request.url.find("/", 8)
    name = request.url if end < 0 else request.url[:end]
    return name if request.guard is None else name + " guarded"
