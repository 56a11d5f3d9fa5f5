"""Requests that wait for a slot: urgent before patient, first come, first served within both.

An urgent request may go over a bound by an eighth, so that an urgent request does not
wait for the end of a thousand slow calls.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from queue import SimpleQueue
from time import monotonic
from typing import Final

from providers.transport.exchange import Reply, Request
from providers.transport.origin import Origin

_GATHER_SECONDS: Final = 0.005
"""Longest wait of a reply for other replies of the batch; the last reply never waits."""
_BEGIN_WITHIN: Final = 0.5
"""Share of the deadline in which a request must start."""
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
        """Add the requests of a batch at the end of the queues."""
        for index, request in enumerate(batch.requests):
            name = _origin_of(request)
            queue = self._queues.get(name) or self._new_queue(name, request)
            if queue.is_idle:
                queue.origin.wake(now=monotonic())
            queue.lines[request.urgent].append((batch, index))
            self._waiting[request.urgent][name] = None

    def put_back(self, name: str, batch: Batch, index: int) -> None:
        """Put a request not sent at the head of its queue."""
        urgent = batch.requests[index].urgent
        self._queues[name].lines[urgent].appendleft((batch, index))
        self._waiting[urgent][name] = None

    def startable(self) -> Iterator[tuple[str, Origin, Batch, int]]:
        """Take out the requests that may start now, urgent requests first.

        The caller starts or lands each request.
        """
        for urgent in (True, False):
            for name in list(self._waiting[urgent]):
                queue = self._queues[name]
                line = queue.lines[urgent]
                while line and self._has_room(queue, urgent=urgent):
                    batch, index = line.popleft()
                    self._in_flight += 1
                    yield name, queue.origin, batch, index
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

    def _new_queue(self, name: str, request: Request) -> _Queue:
        if len(self._queues) >= _REMEMBERED:
            self._queues = {
                known: queue for known, queue in self._queues.items() if not queue.is_idle
            }
        is_strange = request.guard is not None
        bound = self._bounds.per_stranger if is_strange else self._bounds.per_origin
        queue = self._queues[name] = _Queue(Origin(may_multiplex=name.startswith("https:")), bound)
        return queue

    def _has_room(self, queue: _Queue, *, urgent: bool) -> bool:
        bound, in_total = queue.bound, self._bounds.in_total
        if urgent:
            bound, in_total = bound + max(1, bound // 8), in_total + max(1, in_total // 8)
        is_free = queue.origin.in_flight < bound and self._in_flight < in_total
        waiting = len(queue.lines[True]) + len(queue.lines[False])
        return is_free and queue.origin.takes_another(waiting=waiting)


def _origin_of(request: Request) -> str:
    """Return the key of shared connections, `https://host:port`, and True for untrusted URLs."""
    end = request.url.find("/", 8)
    name = request.url if end < 0 else request.url[:end]
    return name if request.guard is None else name + " guarded"
