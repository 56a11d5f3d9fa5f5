"""Waves: calls of a provider that begin together, in a thread of their own.

No call of a wave begins if the host has no thread left, or if the call could outlast its lease: the
process was frozen or the host suspended after the renewal of the lease, or the commit of the
renewal took too long. Another worker may have the delivery by then. Neither does a call begin after
the time to live of a message of the wave; the next claim decides about each.

The flight recorder's notes of a wave go from the plan to the settle:

    begin: planned, before the leases are renewed -> begun, answered: in the wave -> end_flights
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
from providers.contract import Message, NotStarted, Provider, Result

_log = structlog.get_logger(__name__)

_RENEWED: Final = 0.9
"""Part of a lease that is left after a renewal, at least (`renew.sql`)."""

_NOT_CALLED: Final = NotStarted(code="worker_lost")


def start(wave: Wave, *, pace: Pace, renewed_at: float, now: dt.datetime) -> None:
    """Start the calls of a wave; the results come by its queue, after the ledger has them.

    Args:
        wave: the wave, whose leases are renewed.
        pace: the time limits of the calls.
        renewed_at: a time on the steady clock before the renewal.
        now: the present of the batch, for the end of the first message's time to live.
    """
    provider = wave.provider
    ends = [claimed.notification.expires_at for claimed, _ in wave.calls.values()]
    expires_at = clock.steady() + (min(ends) - now).total_seconds()
    messages = [message for _, message in wave.calls.values()]

    def send() -> Iterator[Result]:
        ends_by = renewed_at + _RENEWED * pace.lease.total_seconds()
        begins_at = clock.steady()
        if begins_at + pace.deadline.total_seconds() > ends_by or begins_at >= expires_at:
            return _no_calls(messages, provider, cause="late")
        if not provider.capabilities.marks_begin:
            for claimed, _ in wave.calls.values():
                claimed.note_begin()
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


def begin(
    rendered: Sequence[tuple[ClaimedDelivery, Message]],
    renew: Callable[[Sequence[UUID]], Sequence[int | None]],
    *,
    token: UUID,
    provider: str,
) -> dict[int, tuple[ClaimedDelivery, Message]]:
    """Mark calls as begun, and return the calls of valid leases as `Wave.calls`.

    Args:
        rendered: deliveries and their messages.
        renew: renews the leases of deliveries, and returns the numbers of the calls in the same
            order; None: the lease is lost.
        token: the claim.
        provider: name of the provider.

    Raises:
        Exception: the renewal failed; its commit may be lost.
    """
    going = [claimed for claimed, _ in rendered]
    entry = sent_ledger.encode_call(_NOT_CALLED, provider=provider, facts={"token": token})
    _plan_flights(going, entry)
    try:
        numbers = renew([claimed.delivery.id for claimed in going])
    except Exception:
        _publish_flights(going, entry)
        raise
    calls = {}
    for pair, number in zip(rendered, numbers, strict=True):
        claimed, _ = pair
        if number is None:
            end_flights([claimed])
            continue
        if number != claimed.call:
            claimed.call = number
            if claimed.flight is not None:
                flight_recorder.plan_again(claimed.flight, number)
        calls[claimed.delivery.id.int] = pair
    return calls


def _plan_flights(deliveries: Sequence[ClaimedDelivery], entry: bytes) -> None:
    """Number the next call of each delivery, and note that the call has not begun."""
    end_flights(deliveries)
    for claimed in deliveries:
        claimed.call = (claimed.call or claimed.delivery.attempts) + 1
    planned = [(claimed.delivery.id, claimed.call) for claimed in deliveries]
    for claimed, flight in zip(deliveries, flight_recorder.plan(planned, entry), strict=True):
        claimed.flight = flight


def _publish_flights(deliveries: Sequence[ClaimedDelivery], entry: bytes) -> None:
    """Publish that the calls were not made."""
    noted = [(each.delivery.id, each.call) for each in deliveries if each.flight is not None]
    sent_ledger.add_encoded(dict.fromkeys(sent_ledger.keys_of(noted), entry))
    end_flights(deliveries)


def end_flights(deliveries: Iterable[ClaimedDelivery]) -> None:
    """Note that the current calls are settled, or were not made."""
    records = []
    for claimed in deliveries:
        if claimed.flight is not None:
            records.append(claimed.flight)
            claimed.flight = None
    flight_recorder.end(records)
