"""The sums of the rows and the roll-ups agree after a random history."""

from __future__ import annotations

import datetime as dt
import random  # noqa: TID251 - the seed repeats a history
from collections import Counter as Tally
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

import pytest
from django.db import transaction

from notifications import clock
from notifications.models import (
    Attempt,
    Delivery,
    Event,
    Notification,
    Rollup,
    RollupLatency,
    Template,
)
from notifications.rules import ids
from notifications.rules.lane import Mode, Priority
from notifications.rules.rollups import (
    CUBES,
    Counter,
    Cube,
    Dimension,
    DimensionSet,
    Latency,
    bin_of,
    counts_of,
)
from notifications.rules.states import Status
from notifications.rules.transitions import REPLAY, TRANSITIONS, Transition
from notifications.store.postgres import attempts, db, inserts, partitions, rollups, transitions
from notifications.store.postgres.attempts import AttemptRow
from notifications.store.postgres.inserts import NewDelivery
from notifications.store.postgres.transitions import ANYONE, Move, ReplayTarget
from providers.contract import Channel

pytestmark = pytest.mark.django_db(transaction=True)

_CALLED: Final = {
    "accept": "accepted",
    "accept_late": "accepted",
    "retry": "unavailable",
    "retry_refunded": "throttled",
    "hold_refunded": "misconfigured",
    "reject": "rejected",
    "leave_unanswered": "unanswered",
    "fall_back_unanswered": "unanswered",
}
"""Transitions that a provider call precedes, with the outcome."""
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
_TO_HISTORY: Final = (
    "UPDATE event SET at = at + %(later)s WHERE delivery_id = ANY(%(ids)s) AND at = now()",
    "UPDATE delivery SET sent_at = sent_at + %(later)s WHERE id = ANY(%(ids)s) AND sent_at = now()",
    """UPDATE delivery SET delivered_at = delivered_at + %(later)s
       WHERE id = ANY(%(ids)s) AND delivered_at = now()""",
    """UPDATE attempt SET started_at = started_at + %(later)s
       WHERE delivery_id = ANY(%(ids)s)
         AND started_at + latency_ms * interval '1 millisecond' = now()""",
)
"""Statements that give the times of this transaction to the history."""
_START: Final = dt.timedelta(days=2)
"""Age of the first event."""


@dataclass
class _History:
    """Makes random rows; each transaction happens some minutes after the one before."""

    dice: random.Random
    now: dt.timedelta = field(default_factory=lambda: -_START)
    """The time of the next transaction, from the clock's time."""
    deliveries: list[UUID] = field(default_factory=list)

    def step(self) -> None:
        self.now += dt.timedelta(seconds=self.dice.choice([0, 1, 70, 2_000]))
        choose = self.dice.random()
        with transaction.atomic():
            if not self.deliveries or choose < 0.2:
                self._accept()
            elif choose < 0.3:
                self._fall_back()
            elif choose < 0.4:
                self._replay()
            elif choose < 0.5:
                self._fail_over()
            else:
                self._move()

    def _accept(self) -> None:
        now = clock.now() + self.now
        partitions.ensure(now.date(), days=0)
        notification = Notification.objects.create(
            id=ids.notification_id(
                at_ms=round(now.timestamp() * 1000), entropy=self.dice.getrandbits(62)
            ),
            producer_id=self.dice.randint(1, 2),
            mode=self.dice.choice(list(Mode)),
            priority=self.dice.choice(list(Priority)),
            type=self.dice.choice(["LIKE", "OTP"]),
            template=self.dice.choice([None, *Template.objects.values_list("id", flat=True)]),
            recipient_id=1,
            user_id="maria",
            spread="all",
            scheduled_at=self.dice.choice([None, now + dt.timedelta(hours=1)]),
            expires_at=now + dt.timedelta(days=2),
            created_at=now,
        )
        status = self.dice.choice([*[Status.QUEUED] * 2, Status.SCHEDULED, Status.SUPPRESSED])
        reason = {Status.SCHEDULED: "scheduled", Status.SUPPRESSED: "opted_out"}.get(status, "")
        made = [
            self._delivery(notification, number, status=status, reason=reason)
            for number in range(1, self.dice.randint(2, 4))
        ]
        self._insert(notification, made, now)

    def _fall_back(self) -> None:
        notification_id = ids.notification_of(self.dice.choice(self.deliveries))
        notification = Notification.objects.get(id=notification_id)
        last = max(
            ids.number_of(each)
            for each in self.deliveries
            if ids.notification_of(each) == notification_id
        )
        reason = self.dice.choice(["fallback", "released"])
        made = self._delivery(notification, last + 1, status=Status.QUEUED, reason=reason)
        self._insert(notification, [made], clock.now() + self.now)

    def _delivery(
        self, notification: Notification, number: int, *, status: Status, reason: str
    ) -> NewDelivery:
        return NewDelivery(
            id=ids.delivery_id(notification.id, number),
            mode=notification.mode,
            priority=notification.priority,
            channel=self.dice.choice(list(Channel)),
            status=status,
            reason=reason,
            due_at=None,
            recipient_id=1,
            contact_id=None,
            falls_back=False,
            is_published=True,
        )

    def _insert(self, of: Notification, made: list[NewDelivery], now: dt.datetime) -> None:
        inserts.deliveries(made, notification_ids=[of.id] * len(made), now=now)
        self.deliveries += [each.id for each in made]

    def _replay(self) -> None:
        target = self.dice.choice(self.deliveries)
        transitions.replay([ReplayTarget(id=target, contact_id=None, new_key=False)], detail="")
        self._set_times([target])

    def _move(self) -> None:
        """Apply one or two transitions to deliveries, with the calls before them."""
        chosen = self.dice.sample(self.deliveries, min(3, len(self.deliveries)))
        for transition in self.dice.sample(_legal(chosen), k=self.dice.randint(1, 2)):
            self._call(transition, chosen)
            reason = self.dice.choice(["", "permanent", "client_clicked"])
            moves = [Move(id=each, reason=reason, occurred_at=self._occurred()) for each in chosen]
            transitions.apply(transition, moves, ANYONE)
        self._set_times(chosen)

    def _occurred(self) -> dt.datetime | None:
        earlier = clock.now() + self.now - dt.timedelta(seconds=self.dice.randint(0, 30))
        return self.dice.choice([None, earlier])

    def _call(self, transition: Transition, chosen: list[UUID]) -> None:
        outcome = _CALLED.get(transition.name)
        if outcome is None:
            return
        for each in Delivery.objects.filter(id__in=chosen, status__in=transition.sources):
            attempts.record([self._row(each, outcome)], provider=self.dice.choice(["one", "two"]))

    def _fail_over(self) -> None:
        target = Delivery.objects.get(id=self.dice.choice(self.deliveries))
        row = self._row(target, "throttled")
        for _ in range(2):  # the second time changes nothing
            attempts.record_failed_over([row], provider="one")
        self._set_times([target.id])

    def _row(self, of: Delivery, outcome: str) -> AttemptRow:
        Delivery.objects.filter(id=of.id).update(attempts=of.attempts + 1)
        return AttemptRow(
            delivery_id=of.id,
            number=of.attempts + 1,
            outcome=outcome,
            code="",
            detail="",
            latency_ms=self.dice.randint(0, 900),
            segments=2 if of.channel == Channel.SMS else None,
            country=self.dice.choice(["DE", "FR"]) if of.channel == Channel.SMS else "",
        )

    def _set_times(self, chosen: list[UUID]) -> None:
        """Move what this transaction wrote to the history's time."""
        with db.cursor() as running:
            for statement in _TO_HISTORY:
                running.execute(statement, {"later": self.now, "ids": chosen})


def _legal(chosen: list[UUID]) -> list[Transition]:
    """Return the transitions that move any of the deliveries, besides those that move none."""
    statuses = set(Delivery.objects.filter(id__in=chosen).values_list("status", flat=True))
    legal = [each for each in TRANSITIONS if statuses & each.sources and each is not REPLAY]
    return [*legal, *TRANSITIONS[:2]]


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

    def _take(self, event: Event, notification: Notification, delivery: Delivery) -> None:
        calls = Attempt.objects.filter(delivery_id=delivery.id).order_by("number")
        before = [each for each in calls if _end(each) <= event.at]
        is_created = event.reason in {"accepted", "fallback"}
        last = before[-1] if before and not is_created else None
        minute = event.at.replace(second=0, microsecond=0)
        self._key = (minute, _series(notification, delivery, last))
        self._began = notification.scheduled_at or notification.created_at
        if self._is_first(event, "accepted"):
            self._add(Counter.ACCEPTED)
        self._take_status(event, delivery, is_repeated=last is not None and last.number > 1)
        if last is not None and _end(last) == event.at:
            self._take_call(event, delivery, last)

    def _is_first(self, event: Event, name: str) -> bool:
        is_new = (event.delivery_id, name) not in self._seen
        self._seen.add((event.delivery_id, name))
        return is_new

    def _add(self, counter: Counter, reason: str = "", number: int = 1) -> None:
        self.counts[*self._key, reason, counter] += number

    def _take_status(self, event: Event, delivery: Delivery, *, is_repeated: bool) -> None:
        arrives = event.status in {Status.DELIVERED, Status.READ}
        if (arrives or event.status == Status.SENT) and self._is_first(event, "sent"):
            self._add(Counter.SENT)
            self._add(Counter.SENT_AFTER_RETRY, number=is_repeated)
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

    def _take_call(self, event: Event, delivery: Delivery, call: Attempt) -> None:
        if not self._is_first(event, f"call {call.number}"):
            return
        self._add(Counter.CALLS)
        latency = dt.timedelta(milliseconds=call.latency_ms)
        self.latencies[*self._key, Latency.CALL_TO_ANSWER, latency] += 1
        if call.number == 1:
            self.latencies[*self._key, Latency.ACCEPT_TO_CALL, call.started_at - self._began] += 1
        if call.outcome != "accepted":
            self._add(Counter.FAILED_CALLS, call.outcome)
        elif price := _MICROS.get(Channel(delivery.channel)):
            self._add(Counter.COST_MICROS, number=price * (call.segments or 1))


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
    for (minute, series, kind, latency), number in sums.latencies.items():
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
    countries = country if chosen is DimensionSet.ALL else ""
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
    history = _History(dice)
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
