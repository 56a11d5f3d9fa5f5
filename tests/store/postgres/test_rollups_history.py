"""The sums of the rows and the roll-ups agree after a random history."""

from __future__ import annotations

import datetime as dt
import random  # noqa: TID251 - the seed repeats a history
from collections import Counter as Tally
from typing import Any, Final
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import (
    Attempt,
    Delivery,
    Event,
    Notification,
    Rollup,
    RollupLatency,
    Template,
)
from notifications.core.rules import ids
from notifications.core.rules.rollups import (
    CUBES,
    Counter,
    Cube,
    Dimension,
    DimensionSet,
    Latency,
    bin_of,
    counts_of,
)
from notifications.core.rules.states import Status
from notifications.core.store.postgres import rollups
from providers.contract import Channel
from tests.store.random_history import History

pytestmark = pytest.mark.django_db(transaction=True)

_REASONED: Final = {
    Status.FAILED: Counter.FAILED,
    Status.BOUNCED: Counter.BOUNCED,
    Status.EXPIRED: Counter.EXPIRED,
    Status.SUPPRESSED: Counter.SUPPRESSED,
    Status.CANCELLED: Counter.CANCELLED,
    Status.UNKNOWN: Counter.UNKNOWN,
    Status.UNCONFIRMED: Counter.UNCONFIRMED,
    Status.RETRYING: Counter.RETRIED,
}
_MICROS: Final = {Channel.SMS: 10_000, Channel.EMAIL: 100}


class _Sums:
    """The stored rows, added up: counts and latencies by minute and all dimensions."""

    def __init__(self) -> None:
        self.counts: Tally[Any] = Tally()
        self.latencies: Tally[Any] = Tally()
        self._seen: set[tuple[UUID | None, str]] = set()
        for event in Event.objects.order_by("seq"):
            notification = Notification.objects.get(id=event.notification_id)
            delivery = Delivery.objects.get(id=event.delivery_id or notification.id)
            self._take(event, notification, delivery)
        for call in Attempt.objects.order_by("delivery_id", "number"):
            self._take_call(call)

    def _take(self, event: Event, notification: Notification, delivery: Delivery) -> None:
        is_created = event.reason in {"accepted", "fallback"}
        last = None if is_created else _last_call(event)
        self._begin(event.at, notification, delivery, last)
        if self._is_first(event, "accepted"):
            self._add(Counter.ACCEPTED)
        self._take_status(event, delivery, last)

    def _begin(
        self, at: dt.datetime, notification: Notification, delivery: Delivery, call: Attempt | None
    ) -> None:
        minute = at.replace(second=0, microsecond=0)
        self._key = (minute, _series(notification, delivery, call))
        self._began = notification.scheduled_at or notification.created_at

    def _is_first(self, event: Event, name: str) -> bool:
        is_new = (event.delivery_id, name) not in self._seen
        self._seen.add((event.delivery_id, name))
        return is_new

    def _add(self, counter: Counter, reason: str = "", number: int = 1) -> None:
        self.counts[*self._key, reason, counter] += number

    def _take_status(self, event: Event, delivery: Delivery, last: Attempt | None) -> None:
        is_repeated = last is not None and last.number > 1
        may_be_sent = last is not None and _outcome(last, event.at) in _MAY_BE_SENT
        arrives = event.status in {Status.DELIVERED, Status.READ}
        if (arrives or event.status == Status.SENT) and self._is_first(event, "sent"):
            self._add(Counter.SENT)
            self._add(Counter.SENT_AFTER_RETRY, number=is_repeated and may_be_sent)
        if arrives and self._is_first(event, "delivered"):
            self._add(Counter.DELIVERED)
            latency = (event.occurred_at or event.at) - self._began
            self.latencies[*self._key, Latency.ACCEPT_TO_DELIVERED, latency] += 1
        self._add(Counter.READ, number=event.status == Status.READ)
        self._add(Counter.CLICKED, number=event.reason == "client_clicked")
        self._add(Counter.REPLAYED, number=event.reason == "replayed")
        if event.status in _REASONED:
            self._add(_REASONED[Status(event.status)], event.reason)
        was_sent = delivery.sent_at is not None and delivery.sent_at <= event.at
        if event.status in {Status.FAILED, Status.EXPIRED} and not was_sent:
            self._add(Counter.FAILED_AFTER_RETRY, number=is_repeated)

    def _take_call(self, call: Attempt) -> None:
        notification = Notification.objects.get(id=ids.notification_of(call.delivery_id))
        delivery, end = Delivery.objects.get(id=call.delivery_id), _end(call)
        self._begin(end, notification, delivery, call)
        self._add(Counter.CALLS)
        latency = dt.timedelta(milliseconds=call.latency_ms)
        self.latencies[*self._key, Latency.CALL_TO_ANSWER, latency] += 1
        if call.number == 1:
            self.latencies[*self._key, Latency.ACCEPT_TO_CALL, call.started_at - self._began] += 1
        self._take_outcome(call, delivery, _outcome(call, end))
        before = Attempt.objects.filter(delivery_id=delivery.id, number__lt=call.number)
        is_first = all(_outcome(each, end) not in _MAY_BE_SENT for each in before)
        was_sent = delivery.sent_at is not None and delivery.sent_at < end
        if was_sent and is_first and call.number > 1 and _outcome(call, end) == "accepted":
            self._add(Counter.SENT_AFTER_RETRY)
        if call.answered_at is not None:
            self._begin(call.answered_at, notification, delivery, call)
            self._add(Counter.FAILED_CALLS, "unanswered", -1)
            self._take_outcome(call, delivery, call.outcome)

    def _take_outcome(self, call: Attempt, delivery: Delivery, outcome: str) -> None:
        if outcome != "accepted":
            self._add(Counter.FAILED_CALLS, outcome)
        elif price := _MICROS.get(Channel(delivery.channel)):
            self._add(Counter.COST_MICROS, number=price * (call.segments or 1))


_MAY_BE_SENT: Final = {"accepted", "unanswered"}


def _outcome(call: Attempt, at: dt.datetime) -> str:
    """Return the outcome of a call as it was known at a time."""
    is_later = call.answered_at is not None and call.answered_at > at
    return "unanswered" if is_later else call.outcome


def _last_call(event: Event) -> Attempt | None:
    """Return the call that an event answers, or else the last call that ended before."""
    if event.delivery_id is None:
        return None
    calls = Attempt.objects.filter(delivery_id=event.delivery_id)
    before = [each for each in calls if _end(each) <= event.at]
    return max(
        before,
        key=lambda each: (each.answered_at == event.at, _end(each), each.number),
        default=None,
    )


def _series(
    notification: Notification, delivery: Delivery, last: Attempt | None
) -> tuple[Any, ...]:
    template = Template.objects.filter(id=notification.template or 0).first()
    return (
        notification.mode,
        notification.producer_id,
        delivery.channel,
        last.provider if last else "",
        notification.priority,
        notification.type,
        template.template_id if template else "",
        template.version if template else 0,
        last.country if last else "",
    )


def _end(call: Attempt) -> dt.datetime:
    return call.started_at + dt.timedelta(milliseconds=call.latency_ms)


def _expected(sums: _Sums, cube: Cube) -> tuple[Tally[Any], Tally[Any]]:
    """Return the sums of the rows in the dimensions and the step of a cube."""
    projected: Tally[Any] = Tally()
    bins: Tally[Any] = Tally()
    for (minute, series, reason, counter), number in sums.counts.items():
        projected[cube.step.floor(minute), _project(cube, series), reason, counter.value] += number
    latencies = sums.latencies if cube.dimension_set.has_latencies else {}
    for (minute, series, kind, latency), number in latencies.items():
        key = bin_of(latency / dt.timedelta(milliseconds=1))
        bins[cube.step.floor(minute), _project(cube, series), int(kind), key] += number
    return projected, bins


def _project(cube: Cube, series: tuple[Any, ...]) -> tuple[Any, ...]:
    mode, producer, channel, provider, priority, type_, template, version, country = series
    chosen = cube.dimension_set
    extras = chosen.extras
    producer = producer if Dimension.PRODUCER in extras else 0
    routes = (provider, priority) if Dimension.PROVIDER in extras else ("", -1)
    types = (type_, template, version) if Dimension.TYPE in extras else ("", "", 0)
    has_country = chosen is DimensionSet.COUNTRY or (
        chosen is DimensionSet.ALL and channel == Channel.SMS
    )
    countries = country if has_country else ""
    return (mode, producer, channel, *routes, *types, countries)


_SERIES: Final = [
    f"series__{each}"
    for each in (
        "mode",
        "producer_id",
        "channel",
        "provider",
        "priority",
        "type",
        "template",
        "version",
        "country",
    )
]


def _rolled_up(cube: Cube) -> tuple[Tally[Any], Tally[Any]]:
    counts: Tally[Any] = Tally()
    bins: Tally[Any] = Tally()
    columns = [each.value for each in Counter]
    for row in Rollup.objects.filter(cube=cube.number).values(
        "bucket", "series__reason", *_SERIES, *columns
    ):
        series = tuple(row[name] for name in _SERIES)
        for column in columns:
            if row[column] is not None:
                counts[row["bucket"], series, row["series__reason"], column] += row[column]
    for row in RollupLatency.objects.filter(cube=cube.number).values(
        "bucket", "kind", "sketch", *_SERIES
    ):
        series = tuple(row[name] for name in _SERIES)
        for number, count in enumerate(counts_of(str(int(row["sketch"])))):
            if count:
                bins[row["bucket"], series, row["kind"], number] += count
    return counts, bins


def _stored() -> list[Any]:
    return [sorted(model.objects.values_list(), key=str) for model in (Rollup, RollupLatency)]


@pytest.mark.parametrize("seed", range(4))
def test_the_sums_of_the_rows_are_the_roll_ups(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - guards no secret
    for name in ("hello", "bye"):
        Template.objects.create(template_id=name, version=dice.randint(1, 3))
    rollups.count_next(limit=1)
    history = History(dice)
    for _ in range(120):
        history.step()
        if dice.random() < 0.2:
            rollups.count_next(limit=dice.randint(1, 50))
    while rollups.count_next(limit=50).more:
        pass
    sums = _Sums()
    for cube in CUBES:
        assert _rolled_up(cube) == _expected(sums, cube), cube
    before = _stored()
    Rollup.objects.filter(bucket__minute__lt=30).delete()
    RollupLatency.objects.update(sketch=1)
    for back in range(4):
        rollups.recount((clock.now() - dt.timedelta(days=back)).date())
    assert _stored() == before
