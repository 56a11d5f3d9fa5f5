"""Withdrawal calls, by the sweep `withdrawals`: silent pushes, and removals of inbox items.

    claim (lease) -> load -> switches, breaker, send slot -> provider.send -> end, or try again

The calls go to the provider that sent the message, directly and in bounded pages: a withdrawal has
no attempt, no status and no dead letter. A switch of the provider, channel or lane and an open
circuit breaker hold withdrawals; a switch of a producer, type or template does not, because a wrong
message is both stopped and withdrawn. Failed calls count for the breaker; refusals do not, because
a device that has lost its app refuses each removal. Test mode has no breaker and no limit.

A kill between a call and the end repeats the call when the lease ends. A second removal is
harmless: the app finds no message with the ids.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final
from uuid import UUID

import structlog

from notifications.core import clock, conf
from notifications.core.delivery import provider_health, routing
from notifications.core.models import Attempt, Delivery, Withdrawal
from notifications.core.rules import ids
from notifications.core.rules import withdrawals as rules
from notifications.core.rules.lane import PACE, Lane, Mode, Priority
from notifications.core.rules.rate_limits import token_bucket
from notifications.core.rules.rate_limits.circuit_breaker import CallStats, HealthKey, Probe
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import OPEN, Status
from notifications.core.rules.switches import MessageSource
from notifications.core.store.cached import switches
from notifications.core.store.postgres import reads, withdrawals
from notifications.core.store.postgres.reads import ContactState, NotificationRow
from notifications.core.store.postgres.withdrawals import Ending
from notifications.core.store.rate_limits import breaker_status, circuit_breakers, send_admission
from notifications.core.store.rate_limits.send_admission import AdmissionRequest
from providers.contract import (
    Accepted,
    Channel,
    Message,
    Misconfigured,
    NotStarted,
    Provider,
    Rejected,
    Result,
)

_log = structlog.get_logger(__name__)

_NO_SOURCE: Final = MessageSource(0, "", None)
"""A source that no switch of a producer, type or template names."""
_DEADLINE: Final = PACE[Priority.P2].deadline


@dataclass(frozen=True, slots=True)
class _Call:
    """A withdrawal with the arguments of the provider call."""

    row: Withdrawal
    delivery: Delivery
    message: Message
    provider: Provider


def process(rows: Sequence[Withdrawal]) -> None:
    """Send claimed withdrawals, and end them or set the time of the next try."""
    now = clock.now()
    deliveries = Delivery.objects.in_bulk([row.pk for row in rows])
    withdrawals.drop([row.pk for row in rows if row.pk not in deliveries])
    loaded = _Loaded(list(deliveries.values()))
    endings: list[Ending] = []
    by_provider: defaultdict[tuple[str, int, int], list[_Call]] = defaultdict(list)
    for row in rows:
        if row.pk not in deliveries:
            continue
        step = loaded.step(row, deliveries[row.pk], now=now)
        if isinstance(step, str):
            endings.append(Ending(row.pk, Reason.NOT_WITHDRAWN, step))
        elif step is None:
            _wait(row, rules.NEXT_LOOK, now, endings, cause="the message was still being sent")
        else:
            place = step.provider.name, step.delivery.mode, step.delivery.channel
            by_provider[place].append(step)
    for calls in by_provider.values():
        for admitted in _pages(_admit(calls, now, endings), calls[0].provider):
            _send(admitted, endings)
    withdrawals.end(endings)


class _Loaded:
    """The rows that calls need."""

    def __init__(self, deliveries: Sequence[Delivery]) -> None:
        of = {ids.notification_of(each.id) for each in deliveries}
        self._notifications: Mapping[int, NotificationRow] = reads.notifications(of)
        self._contacts: Mapping[int, ContactState] = reads.destinations(
            each.contact_id for each in deliveries if each.contact_id
        )
        self._made: defaultdict[UUID, list[Attempt]] = defaultdict(list)
        made = Attempt.objects.filter(delivery_id__in=[each.id for each in deliveries])
        for attempt in made.order_by("delivery_id", "number"):
            self._made[attempt.delivery_id].append(attempt)

    def step(self, row: Withdrawal, delivery: Delivery, *, now: dt.datetime) -> _Call | str | None:
        """Return the call, the cause why there is none, or None while a worker sends."""
        made = self._made[delivery.id]
        status = Status(delivery.status)
        if not rules.may_be_shown(status, [each.outcome for each in made]):
            return None if status in OPEN else "the message was not sent"
        contact = self._contacts.get(delivery.contact_id or 0)
        notification = self._notifications.get(ids.notification_of(delivery.id).int)
        if contact is None or notification is None or not contact.is_valid:
            return "the address is no longer valid"
        if cause := _forbids(notification, delivery, contact):
            return cause
        name = _provider_of(delivery, made)
        provider = routing.provider_named(name)
        if provider is None:
            return f"the provider {name} is not configured"
        if not provider.capabilities.withdraws:
            return f"the provider {name} cannot remove a message"
        message = _message(row, delivery, notification, contact, now=now)
        return _Call(row, delivery, message, provider)


def _forbids(notification: NotificationRow, delivery: Delivery, contact: ContactState) -> str:
    """Return the cause for which no call may be made; empty if the call may be made."""
    settings, is_live = conf.current(), delivery.mode == Mode.LIVE
    if is_live and settings.dry_run:
        return "NOTIFY_DRY_RUN is on"
    allowed = settings.allowed
    if (
        is_live
        and allowed
        and not allowed.allows(user_id=notification.user_id, address=contact.address)
    ):
        return "NOTIFY_ALLOWED_RECIPIENTS does not list the recipient"
    replaced = withdrawals.replaced_contacts(
        notification_id=notification.id,
        producer_id=notification.producer_id,
        recipient_id=delivery.recipient_id,
        collapse_key=notification.collapse_key,
    )
    return "a later message has replaced the message" if delivery.contact_id in replaced else ""


def _provider_of(delivery: Delivery, made: Iterable[Attempt]) -> str:
    """Return the provider of the last call that may have sent the message."""
    sent = [each.provider for each in made if each.outcome in rules.MAY_HAVE_SHOWN]
    return sent[-1] if sent else delivery.provider


def _message(
    row: Withdrawal,
    delivery: Delivery,
    notification: NotificationRow,
    contact: ContactState,
    *,
    now: dt.datetime,
) -> Message:
    key = notification.collapse_key
    return Message(
        delivery_id=delivery.id,
        notification_id=notification.id,
        idempotency_key=f"{delivery.id}-withdrawal",
        channel=Channel(delivery.channel),
        address=contact.address,
        address_kind=contact.kind,
        collapse_key=f"{notification.producer_id}-{key}" if key else "",
        time_to_live=max(row.ends_at - now, dt.timedelta(0)),
        traceparent=notification.traceparent,
        is_withdrawal=True,
    )


def _admit(calls: Sequence[_Call], now: dt.datetime, endings: list[Ending]) -> list[_Call]:
    """Return the calls that may begin now; the others wait."""
    provider = calls[0].provider
    if calls[0].delivery.mode == Mode.TEST:
        return list(calls)
    key = HealthKey(provider.name, Channel(calls[0].delivery.channel))
    is_open = breaker_status.of([key])[key].is_open
    free: list[_Call] = []
    for call in calls:
        if is_open or _is_switched_off(call, now):
            _wait(call.row, rules.HELD, now, endings, cause="the provider is paused")
        else:
            free.append(call)
    with_slot = [each for each in free if _has_slot(each.row, now)]
    others = [each for each in free if not _has_slot(each.row, now)]
    if not free:
        return []
    [answer] = send_admission.check([
        AdmissionRequest(
            key=key,
            priority=Priority.P2,
            count=len(others),
            with_slot=len(with_slot),
            pace=provider.capabilities.pace,
        )
    ])
    slots = list(answer.slots) if answer.slots is not None else [token_bucket.NOW] * len(others)
    for place, call in enumerate(others):
        if place < len(slots) and slots[place] <= token_bucket.NOW:
            with_slot.append(call)
        elif place < len(slots):
            withdrawals.wait(call.row.pk, until=now + slots[place], slot_at=now + slots[place])
        else:
            wait = max(answer.next_slot, rules.NEXT_LOOK)
            _wait(call.row, wait, now, endings, cause="the provider's rate limit is used up")
    return with_slot


def _has_slot(row: Withdrawal, now: dt.datetime) -> bool:
    return token_bucket.wait_for(row.slot_at, now=now) is not None


def _is_switched_off(call: _Call, now: dt.datetime) -> bool:
    row, board = call.delivery, switches.current()
    lane = Lane.of(row.mode, row.priority, row.channel)
    found = board.of_provider(call.provider.name, lane, now=now)
    return (found or board.of_message(_NO_SOURCE, lane, now=now)) is not None


def _pages(calls: Sequence[_Call], provider: Provider) -> Iterable[Sequence[_Call]]:
    size = provider.capabilities.batch_limit
    return (calls[start : start + size] for start in range(0, len(calls), size))


def _send(calls: Sequence[_Call], endings: list[Ending]) -> None:
    provider, by_id = calls[0].provider, {call.row.pk: call for call in calls}
    results = list(provider.send([call.message for call in calls], deadline=_DEADLINE))
    now = clock.now()
    for result in results:
        _settle(by_id[result.delivery_id].row, result, now, endings)
    counts = Counter(type(each.outcome).__name__.lower() for each in results)
    _log.info("withdrawals_called", provider=provider.name, outcomes=dict(counts))
    if calls[0].delivery.mode == Mode.LIVE:
        key = HealthKey(provider.name, Channel(calls[0].delivery.channel))
        circuit_breakers.record_calls({key: _call_stats(results)})


def _settle(row: Withdrawal, result: Result, now: dt.datetime, endings: list[Ending]) -> None:
    outcome = result.outcome
    if isinstance(outcome, Accepted):
        endings.append(Ending(row.pk, Reason.WITHDRAWN))
        return
    cause = " ".join(filter(None, (type(outcome).__name__.lower(), outcome.code)))
    if isinstance(outcome, Rejected):
        endings.append(Ending(row.pk, Reason.NOT_WITHDRAWN, cause))
        return
    wait = rules.next_try(
        failures=row.failures, retry_after=result.retry_after, chance=clock.jitter()
    )
    if now + wait > row.ends_at:
        endings.append(Ending(row.pk, Reason.NOT_WITHDRAWN, f"the time is over: {cause}"))
    else:
        withdrawals.retry(row.pk, at=now + wait)


def _wait(
    row: Withdrawal, wait: dt.timedelta, now: dt.datetime, endings: list[Ending], *, cause: str
) -> None:
    """Set the time of the next try, or end a withdrawal after its time."""
    if now + wait > row.ends_at:
        endings.append(Ending(row.pk, Reason.NOT_WITHDRAWN, f"the time is over: {cause}"))
    else:
        withdrawals.wait(row.pk, until=now + wait)


def _call_stats(results: Iterable[Result]) -> CallStats:
    """Count the outcomes for the breaker, without refusals."""
    stats = CallStats()
    for result in results:
        outcome = result.outcome
        if isinstance(outcome, Rejected | NotStarted):
            continue
        field, answer = provider_health.COUNTED_AS[type(outcome)]
        stats = replace(stats, calls=stats.calls + 1, **{field: getattr(stats, field) + 1})
        if isinstance(outcome, Misconfigured):
            stats = replace(stats, fault=provider_health.fault_of(outcome))
        elif answer is Probe.FAILED:
            failure = provider_health.failure_of(outcome)
            stats = replace(stats, last_failures=stats.last_failures + 1, failure=failure)
        else:
            stats = replace(stats, last_failures=0, faults=0)
    return stats
