"""A message on its way to an SMTP server, which the caller and the sending thread share.

A lock orders the sending thread and a caller after the deadline, so a message reported as not sent
is never sent later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from threading import Lock
from time import monotonic
from typing import Protocol
from uuid import UUID

from providers.contract import NotStarted, Outcome, Result, Unanswered, Unavailable
from providers.transport.loop import STANDSTILL


class SupportsCut(Protocol):
    """A connection that another thread can break."""

    def cut(self) -> None:
        """Break the connection, from any thread."""


@dataclass(slots=True, eq=False, kw_only=True)
class Delivery:
    """One message on the way; the caller and the sending thread share the object."""

    delivery_id: UUID
    on_begin: Callable[[], None] | None = None
    """Called before the content's final dot leaves."""
    begin_by: float
    """Monotonic seconds; a delivery that no thread has begun by then never begins."""
    deadline_seconds: float
    """Time from the delivery's start."""
    started_at: float | None = None
    """Monotonic seconds."""
    _lock: Lock = field(default_factory=Lock)
    _committed: bool = False
    _abandoned: bool = False
    _session: SupportsCut | None = None
    _outcome: Outcome | None = None

    @property
    def expires_at(self) -> float:
        """Return the time at which the caller gives up, as far as known now (monotonic seconds)."""
        started_at = self.started_at
        return self.begin_by if started_at is None else started_at + self.deadline_seconds

    @property
    def remaining_seconds(self) -> float:
        """Return the time to the deadline; at least a millisecond: 0 disables the timeout."""
        return max(0.001, self.expires_at - monotonic())

    def finish(self, outcome: Outcome) -> Result:
        """Store the thread's outcome and return the result."""
        with self._lock:
            self._outcome = outcome
        return self._result(outcome)

    def give_up(self) -> Result:
        """Stop waiting for the delivery, and return the outcome to conclude."""
        return self._result(self.abandon())

    def _result(self, outcome: Outcome) -> Result:
        seconds = 0.0 if self.started_at is None else monotonic() - self.started_at
        latency = timedelta(seconds=seconds)
        return Result(delivery_id=self.delivery_id, outcome=outcome, latency=latency)

    def begin(self) -> bool:
        """Start the deadline; False if the start is too late, or the caller has gone."""
        with self._lock:
            now = monotonic()
            if self._abandoned or now >= self.begin_by:
                return False
            self.started_at = now
            return True

    def board(self, session: SupportsCut) -> bool:
        """Note the connection of the delivery; False if the caller has gone."""
        with self._lock:
            self._session = session
            return not self._abandoned

    def commit(self) -> bool:
        """Ask to send the content's final dot; False if the caller has gone, or is about to go.

        A process that stood still within the content finds the deadline passed. Nobody would wait
        for the answer to the dot, and another worker may have the delivery.
        """
        with self._lock:
            self._committed = not self._abandoned and monotonic() < self.expires_at
            if self._committed and self.on_begin is not None:
                self.on_begin()
            return self._committed

    def leave(self) -> None:
        """Drop the connection from the ended delivery, for other deliveries to use."""
        with self._lock:
            self._session = None

    def abandon(self) -> Outcome:
        """Cut the connection; return the outcome to conclude, or the outcome that came."""
        with self._lock:
            self._abandoned = True
            if self._outcome is not None:
                return self._outcome
            if self.started_at is None:
                return NotStarted(code="not_started")
            if self._session is not None:
                self._session.cut()
            return Unanswered(code="timeout") if self._committed else self.unsent("not_sent")

    def failed(self, code: str) -> Outcome:
        """Return the outcome of a mail whose thread met an error that nobody expected."""
        with self._lock:
            return Unanswered(code=code) if self._committed else self.unsent(code)

    def unsent(self, code: str) -> Unavailable | NotStarted:
        """Return the outcome of a mail whose content did not end.

        The thread and the caller give up at the deadline, so an outcome that comes much later is
        of a process that stood still: the server has not failed.
        """
        if monotonic() > self.expires_at + STANDSTILL:
            return NotStarted(code="not_started")
        return Unavailable(code=code)
