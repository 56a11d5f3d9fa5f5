"""Random histories: rows, transitions, calls and late answers at times of the last two days."""

from __future__ import annotations

import datetime as dt
import random  # noqa: TID251 - the seed repeats a history
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db import transaction

from notifications.core import clock
from notifications.core.models import Attempt, Delivery, Notification, Template
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.rules.transitions import (
    ACCEPT_LATE,
    REJECT_LATE,
    REPLAY,
    RETRY_LATE,
    TRANSITIONS,
    Transition,
)
from notifications.core.store.postgres import attempts, db, inserts, partitions, transitions
from notifications.core.store.postgres.attempts import AttemptRow
from notifications.core.store.postgres.inserts import NewDelivery
from notifications.core.store.postgres.transitions import ANYONE, Move, ReplayTarget
from providers.contract import Channel

_CALLED: Final = {
    "accept": "accepted",
    "accept_late": "accepted",
    "retry": "unavailable",
    "retry_refunded": "throttled",
    "hold_refunded": "misconfigured",
    "reject": "rejected",
    "leave_unanswered": "unanswered",
    "fall_back_unanswered": "unanswered",
    "return_refunded": "misconfigured",
    "rescue": "unavailable",
    "resend": "unanswered",
}
"""Transitions that a provider call precedes, with the outcome."""
_TO_HISTORY: Final = (
    "UPDATE event SET at = at + %(later)s WHERE delivery_id = ANY(%(ids)s) AND at = now()",
    "UPDATE delivery SET sent_at = sent_at + %(later)s WHERE id = ANY(%(ids)s) AND sent_at = now()",
    """UPDATE delivery SET delivered_at = delivered_at + %(later)s
       WHERE id = ANY(%(ids)s) AND delivered_at = now()""",
    """UPDATE attempt SET started_at = started_at + %(later)s
       WHERE delivery_id = ANY(%(ids)s)
         AND started_at + latency_ms * interval '1 millisecond' = now()""",
    """UPDATE attempt SET answered_at = answered_at + %(later)s
       WHERE delivery_id = ANY(%(ids)s) AND answered_at = now()""",
)
"""Statements that give the times of this transaction to the history."""
_ANSWERED: Final = (ACCEPT_LATE, REJECT_LATE, RETRY_LATE)
_START: Final = dt.timedelta(days=2)
"""Age of the first event."""


@dataclass
class History:
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
            elif choose < 0.58:
                self._end_call()
            elif choose < 0.68:
                self._answer_late()
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

    def _end_call(self) -> None:
        """Store a call whose delivery a receipt has moved before."""
        target = Delivery.objects.get(id=self.dice.choice(self.deliveries))
        row = self._row(target, self.dice.choice(["accepted", "accepted", "unavailable"]))
        for _ in range(2):  # the second time changes nothing
            attempts.record([row], provider="one")
        attempts.tell([row], moved=())
        self._set_times([target.id])

    def _answer_late(self) -> None:
        """Give an answer to a call without an answer, with a move or without."""
        open_calls = Attempt.objects.filter(code=attempts.LOST).order_by("delivery_id", "number")
        if not open_calls:
            return
        call = self.dice.choice(list(open_calls))
        answer = AttemptRow(
            delivery_id=call.delivery_id,
            number=call.number,
            outcome=self.dice.choice(["accepted", "rejected"]),
            code="",
            detail="",
            latency_ms=0,
        )
        attempts.answer_late([answer], provider=call.provider)
        moved = transitions.apply(self.dice.choice(_ANSWERED), [Move(id=call.delivery_id)], ANYONE)
        attempts.tell([answer], moved=moved)
        self._set_times([call.delivery_id])

    def _row(self, of: Delivery, outcome: str) -> AttemptRow:
        Delivery.objects.filter(id=of.id).update(attempts=of.attempts + 1)
        return AttemptRow(
            delivery_id=of.id,
            number=of.attempts + 1,
            outcome=outcome,
            code=attempts.LOST if outcome == "unanswered" else "",
            detail="",
            latency_ms=self.dice.randint(0, 900),
            segments=2 if of.channel == Channel.SMS else None,
            country=self.dice.choice(["DE", "FR", ""]),
        )

    def _set_times(self, chosen: list[UUID]) -> None:
        """Move what this transaction wrote to the history's time."""
        with db.cursor() as running:
            for statement in _TO_HISTORY:
                running.execute(statement, {"later": self.now, "ids": chosen})


def _legal(chosen: list[UUID]) -> list[Transition]:
    """Return transitions from the statuses of the deliveries, and two from other statuses."""
    statuses = set(Delivery.objects.filter(id__in=chosen).values_list("status", flat=True))
    legal = [each for each in TRANSITIONS if statuses & each.sources and each is not REPLAY]
    return [*legal, *TRANSITIONS[:2]]
