"""Waves: calls of a provider that begin together, in a thread of their own.

No call of a wave begins if the host has no thread left, or if the call could outlast its lease: the
process was frozen or the host suspended after the renewal of the lease, or the commit of the
renewal took too long. Another worker may have the delivery by then. Neither does a call begin after
the time to live of a message of the wave; the next claim decides about each.

The flight recorder's notes of a wave go from the plan to the settle:

    plan_flights, before the lease is renewed -> note_number -> (begin, answer: in the wave)
        -> note_end
"""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from queue import Empty, SimpleQueue
from typing import Final
from uuid import UUID

import structlog

from notifications.core import clock
from notifications.core.delivery import answers, withholding
from notifications.core.delivery.answers import Arrival, Wave
from notifications.core.delivery.claimed import ClaimedDelivery
from notifications.core.rules.lane import Pace
from notifications.core.store import flight_recorder
from notifications.core.store.redis import sent_ledger
from notifications.core.store.redis.sent_ledger import LedgerEntry
from providers.contract import Message, NotStarted, Provider, Result

_log = structlog.get_logger(__name__)

_RENEWED: Final = 0.9
"""Part of a lease that is left after a renewal, at least (`renew.sql`)."""

_NOT_CALLED: Final = NotStarted(code="worker_lost")
_ANY_DELIVERY: Final = UUID(int=0)
"""The entry is the same for all deliveries of a claim: the key has the delivery."""


def start(wave: Wave, *, pace: Pace, renewed_at: float, now: dt.datetime) -> None:
    """Start the calls of a wave; the results come by its queue, after the ledger has them.

    Args:
        wave: the wave, whose leases are renewed.
        pace: the time limits of the calls.
        renewed_at: a time on the steady clock before the renewal.
        now: the present of the batch, for the end of the first message's time to live.
    """
    provider = wave.provider
    ends = [call.claimed.notification.expires_at for call in wave.calls.values()]
    expires_at = clock.steady() + (min(ends) - now).total_seconds()
    messages = [call.message for call in wave.calls.values()]

    def send() -> Iterator[Result]:
        ends_by = renewed_at + _RENEWED * pace.lease.total_seconds()
        begins_at = clock.steady()
        if begins_at + pace.deadline.total_seconds() > ends_by or begins_at >= expires_at:
            return _no_calls(messages, provider, cause="late")
        if not provider.capabilities.marks_begin:
            for call in wave.calls.values():
                call.claimed.note_begin()
        return provider.send(messages, deadline=pace.deadline)

    # The thread also calls the adapter, so an error of the call ends the wave.
    calls = functools.partial(_collect, send, wave)
    try:
        threading.Thread(target=calls, name="provider", daemon=True).start()
    except RuntimeError:  # the host has no thread left
        _collect(lambda: _no_calls(messages, provider, cause="no_thread"), wave)


def group(arrived: SimpleQueue[list[Arrival]], *, timeout: float | None) -> list[Arrival]:
    """Wait `timeout` seconds for results, then return all results that have come."""
    found: list[Arrival] = []
    with contextlib.suppress(Empty):
        found += arrived.get(timeout=timeout)
        while True:
            found += arrived.get_nowait()
    return found


def _no_calls(messages: Sequence[Message], provider: Provider, *, cause: str) -> Iterator[Result]:
    _log.warning("wave_not_started", provider=provider.name, cause=cause, count=len(messages))
    outcome = NotStarted(code=cause)
    return (
        Result(delivery_id=each.delivery_id, outcome=outcome, latency=dt.timedelta(0))
        for each in messages
    )


def _collect(send: Callable[[], Iterator[Result]], wave: Wave) -> None:
    """Send a wave and pass the results on.

    A result that cannot be passed on, as of a delivery that is not of the wave, must not cost the
    results behind it.
    """
    try:
        for result in send():
            try:
                answers.pass_on(wave, result)
            except Exception as error:  # noqa: BLE001 - raised again by the task's own thread
                wave.error = withholding.loggable_error(error)
    except Exception as error:  # noqa: BLE001 - raised again by the task's own thread
        wave.error = withholding.loggable_error(error)
    finally:
        answers.end(wave)


def plan_flights(deliveries: Iterable[ClaimedDelivery], *, token: UUID, provider: str) -> None:
    """Note that the next call of each delivery has not begun."""
    entry = sent_ledger.encode(LedgerEntry(_ANY_DELIVERY, 0, provider, _NOT_CALLED, token=token))
    for claimed in deliveries:
        claimed.note_end()
        attempt = (claimed.call or claimed.delivery.attempts) + 1
        claimed.flight = flight_recorder.plan(claimed.delivery.id, attempt, entry)


def publish_flights(deliveries: Sequence[ClaimedDelivery]) -> None:
    """Publish that the calls were not made: the renewal failed, and its commit may be lost."""
    noted = [claimed.flight for claimed in deliveries if claimed.flight is not None]
    sent_ledger.add_encoded({flight.key: flight.entry for flight in noted})
    for claimed in deliveries:
        claimed.note_end()
