"""`Transport`: the only interface to the loops.

Thread-safe. Requests to untrusted URLs have a loop of their own: libcurl asks for the addresses of
names in at most 20 threads of a multi, and a name whose servers do not answer holds a thread for
10 s. A few such names of webhooks would keep providers from a new connection.

A loop starts at its first `send`, in the process that sends: a worker that forks after the
Transport was made gets separate loops, because a thread does not survive a fork and two processes
must not share a TLS connection.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from datetime import timedelta
from queue import Empty
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple

from providers.transport.exchange import Failure, FailureKind, Reply, Request
from providers.transport.lines import Batch, Bounds
from providers.transport.loop import STANDSTILL, Loop

PER_ORIGIN: Final = 2_000
"""Limit in flight to one provider; `rules.rate_limits.concurrency` adapts the number below the
limit."""

PER_STRANGER: Final = 128
"""Limit in flight to one server of an untrusted URL, such as a webhook's: each request may take a
connection. Adapters of such addresses set the limit as their `concurrency`, so that no call counts
as begun while the call waits for a slot."""

IN_TOTAL: Final = 4_000
"""Limit in flight over all providers; untrusted URLs have half of the limit. The limit is lower if
the system allows fewer open files."""

OTHER_FILES: Final = 512
"""Files that a process may need for other purposes: databases, brokers, logs, SMTP."""

GRACE: Final = timedelta(seconds=3)
"""Wait for the loop after the deadline: for a loop that is dead, or that reads the answers of a
standstill."""


class Usage(NamedTuple):
    """Requests of a Transport now."""

    in_flight: int
    waiting: int


class Transport:
    """HTTP for every adapter of a process. Make one Transport and share the object."""

    def __init__(
        self,
        *,
        per_origin: int = PER_ORIGIN,
        per_stranger: int = PER_STRANGER,
        in_total: int = IN_TOTAL,
    ) -> None:
        """Set the bounds; no thread starts yet."""
        self._bounds = Bounds(per_origin=per_origin, per_stranger=per_stranger, in_total=in_total)
        self._lock = Lock()
        self._loops: dict[bool, Loop] = {}
        """True: the loop of untrusted URLs."""
        self._inherited: dict[bool, Loop] = {}
        os.register_at_fork(after_in_child=self._after_fork)

    def send(
        self,
        requests: Sequence[Request],
        *,
        deadline: timedelta,
        begins: Sequence[Callable[[], None] | None] = (),
    ) -> Generator[tuple[int, Reply], None, None]:
        """Send all requests and yield each `(index, Reply)` on completion, in any order.

        One Reply per request. Each request has `deadline` from the request's start; a request that
        has not started within half of `deadline`, because all slots were taken, never starts
        (`not_started`). Errors of network and server raise nothing. After an early close of the
        iterator no waiting request starts. `begins` has a function for each request, or is empty:
        the loop's thread calls the function before the first byte of the request leaves.
        """
        batch = Batch.of(requests, deadline_seconds=deadline.total_seconds(), begins=begins)
        if requests:
            is_strange = {request.guard for request in requests} != {None}
            self._running_loop(is_strange=is_strange).submit(batch)
        return _replies(batch)

    def usage(self) -> Usage:
        """Return the numbers of requests in flight and waiting; 0 before the first `send`."""
        loops = list(self._loops.values())
        return Usage(sum(each.in_flight for each in loops), sum(each.waiting for each in loops))

    def close(self) -> None:
        """Stop the threads and close the connections; a later `send` starts anew."""
        with self._lock:
            for loop in self._loops.values():
                if loop.alive:
                    loop.close()
            self._loops.clear()

    def _running_loop(self, *, is_strange: bool) -> Loop:
        with self._lock:
            loop = self._loops.get(is_strange)
            if loop is None or not loop.alive:
                affordable = _affordable(self._bounds)
                in_total = max(1, affordable // 2) if is_strange else affordable
                loop = self._loops[is_strange] = Loop(replace(self._bounds, in_total=in_total))
            return loop

    def _after_fork(self) -> None:
        self._lock = Lock()  # the parent may have held the old lock at the fork
        # Kept, not closed: closing would end connections that the parent still uses.
        self._inherited, self._loops = self._loops, {}


def _replies(batch: Batch) -> Generator[tuple[int, Reply], None, None]:
    missing = set(range(len(batch.requests)))
    try:
        while missing:
            began = monotonic()
            patience = max(0.0, batch.ends_by - began) + GRACE.total_seconds()
            try:
                arrived = batch.replies.get(timeout=patience)
            except Empty:
                if monotonic() - began > patience + STANDSTILL:
                    continue  # the loop stood still too, and reads the answers that came
                break
            for index, reply in arrived:
                missing.discard(index)
                yield index, reply
    finally:
        batch.abandoned = True
    for index in missing:
        elapsed = timedelta(seconds=batch.deadline_seconds)
        yield index, Failure(kind=FailureKind.NO_ANSWER, code="timeout", elapsed=elapsed)


def _affordable(bounds: Bounds) -> int:
    """Raise the limit of open files to a connection for each request; return the allowed number.

    The soft limit of open files is often 1,024, for programs that use `select`; the loop does not.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = bounds.in_total + bounds.in_total // 2  # of both loops
    wanted = most + most // 8 + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return bounds.in_total
    return max(1, min(bounds.in_total, soft // 2))
