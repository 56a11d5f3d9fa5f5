"""`Transport`: the only door to the loop.

Safe from any thread. The loop starts at the first `send`, in the process that sends: a worker
that forks after this object was made gets a loop of its own, because a thread does not survive a
fork and a TLS connection must not be shared by two processes.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Sequence
from datetime import timedelta
from queue import Empty
from threading import Lock
from time import monotonic
from typing import Final

from providers.transport.exchange import Failure, FailureKind, Reply, Request
from providers.transport.loop import Batch, Loop

PER_ORIGIN: Final = 64
"""In flight to one provider. More gained nothing against a local sink; below 32 throughput fell."""

IN_TOTAL: Final = 512
"""In flight over all providers: half of the usual limit of 1,024 open files."""

GRACE: Final = timedelta(seconds=1)
"""How long after the deadline the loop is waited for. Only a dead or stopped loop ever needs it."""


class Transport:
    """HTTP for every adapter of a process. Make one and share it."""

    def __init__(self, *, per_origin: int = PER_ORIGIN, in_total: int = IN_TOTAL) -> None:
        """Set the bounds; nothing is started yet."""
        self._per_origin, self._in_total = per_origin, in_total
        self._lock = Lock()
        self._loop: Loop | None = None
        self._inherited: Loop | None = None
        os.register_at_fork(after_in_child=self._after_fork)

    def send(
        self, requests: Sequence[Request], *, deadline: timedelta
    ) -> Generator[tuple[int, Reply], None, None]:
        """Send all and yield each `(index, Reply)` as it completes, in any order.

        One Reply per request, all within `deadline` of this call. Nothing is raised for what a
        network or a server can do. Closing the iterator early keeps what has not started from
        ever starting.
        """
        now = monotonic()
        batch = Batch(requests, started_at=now, expires_at=now + deadline.total_seconds())
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
                self._loop = Loop(per_origin=self._per_origin, in_total=self._in_total)
            return self._loop

    def _after_fork(self) -> None:
        self._lock = Lock()  # the parent's may have been held at the fork
        # Kept, not closed: closing would say goodbye on connections that the parent still uses.
        self._inherited, self._loop = self._loop, None


def _replies(batch: Batch) -> Generator[tuple[int, Reply], None, None]:
    missing = set(range(len(batch.requests)))
    try:
        while missing:
            patience = batch.expires_at + GRACE.total_seconds() - monotonic()
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
        elapsed = timedelta(seconds=monotonic() - batch.started_at)
        yield index, Failure(kind=FailureKind.NO_ANSWER, code="timeout", elapsed=elapsed)
