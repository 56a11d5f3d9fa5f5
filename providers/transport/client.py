"""`Transport`: the only door to the loop.

Safe from any thread. The loop starts at the first `send`, in the process that sends: a worker
that forks after this object was made gets a loop of its own, because a thread does not survive a
fork and a TLS connection must not be shared by two processes.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Generator, Sequence
from dataclasses import replace
from datetime import timedelta
from queue import Empty
from threading import Lock
from time import monotonic
from typing import Final

from providers.transport.exchange import Failure, FailureKind, Reply, Request
from providers.transport.lines import Batch, Bounds
from providers.transport.loop import Loop

PER_ORIGIN: Final = 2_000
"""In flight to one provider; `rules.rate_limits.concurrency` adapts the number below it."""

PER_STRANGER: Final = 128
"""In flight to one server that a stranger named, such as a webhook's: each may be a connection.
Adapters of such addresses name it as their `concurrency`, so that no call is marked as begun while
it waits for a slot."""

IN_TOTAL: Final = 4_000
"""In flight over all providers. Fewer where the system allows fewer open files."""

OTHER_FILES: Final = 512
"""Files that a process may need for anything else: databases, brokers, logs, SMTP."""

GRACE: Final = timedelta(seconds=1)
"""How long after the deadline the loop is waited for. Only a dead or stopped loop ever needs it."""


class Transport:
    """HTTP for every adapter of a process. Make one and share it."""

    def __init__(
        self,
        *,
        per_origin: int = PER_ORIGIN,
        per_stranger: int = PER_STRANGER,
        in_total: int = IN_TOTAL,
    ) -> None:
        """Set the bounds; nothing is started yet."""
        self._bounds = Bounds(per_origin=per_origin, per_stranger=per_stranger, in_total=in_total)
        self._lock = Lock()
        self._loop: Loop | None = None
        self._inherited: Loop | None = None
        os.register_at_fork(after_in_child=self._after_fork)

    def send(
        self, requests: Sequence[Request], *, deadline: timedelta
    ) -> Generator[tuple[int, Reply], None, None]:
        """Send all and yield each `(index, Reply)` as it completes, in any order.

        One Reply per request. Each request has `deadline` from its own start; one that has not
        started within half of it, because all slots were taken, never starts (`not_started`).
        Nothing is raised for what a network or a server can do. Closing the iterator early keeps
        what has not started from ever starting.
        """
        batch = Batch.of(requests, deadline_seconds=deadline.total_seconds())
        if requests:
            self._running_loop().submit(batch)
        return _replies(batch)

    def close(self) -> None:
        """Stop the thread and close the connections; a later `send` starts anew."""
        with self._lock:
            if self._loop is not None and self._loop.alive:
                self._loop.close()
            self._loop = None

    def _running_loop(self) -> Loop:
        with self._lock:
            if self._loop is None or not self._loop.alive:
                self._loop = Loop(replace(self._bounds, in_total=_affordable(self._bounds)))
            return self._loop

    def _after_fork(self) -> None:
        self._lock = Lock()  # the parent's may have been held at the fork
        # Kept, not closed: closing would say goodbye on connections that the parent still uses.
        self._inherited, self._loop = self._loop, None


def _replies(batch: Batch) -> Generator[tuple[int, Reply], None, None]:
    missing = set(range(len(batch.requests)))
    try:
        while missing:
            patience = batch.ends_by + GRACE.total_seconds() - monotonic()
            try:
                arrived = batch.replies.get(timeout=max(0.0, patience))
            except Empty:
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
    """Have the system allow a connection for each request in flight; returns how many it allows.

    The soft limit of open files is often 1,024, for programs that use `select`; we do not.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = bounds.in_total + bounds.in_total // 8 + OTHER_FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= wanted:
        return bounds.in_total
    return max(1, min(bounds.in_total, soft // 2))
