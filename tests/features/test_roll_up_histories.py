"""The roll-ups of random histories are the same by pages of each size, and by a recount."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from hypothesis import example, given
from hypothesis import strategies as st

from notifications.core import clock
from notifications.core.models import Attempt, Delivery, Event, Notification, Rollup
from notifications.core.rules import ids
from notifications.core.rules.rollups import Cube, DimensionSet, Step
from notifications.core.rules.states import Status
from notifications.core.store.postgres import rollups
from providers.contract import Channel
from tests.old_days import recount_days

pytestmark = pytest.mark.django_db(transaction=True)
_JOB: Final = uuid4()
_ROUTES: Final = (("ses", "DE"), ("twilio", "FR"), ("spare", ""))
_Events = Mapping[str, Sequence[tuple[Status | None, str]]]
_AFTER_A_CALL: Final[_Events] = {
    "accepted": [(Status.SENT, "")],
    "accepted behind its receipt": [(None, "call_ended")],
    "unavailable": [(Status.RETRYING, "unavailable")],
    "rejected": [(None, "call_ended"), (Status.FAILED, "rejected")],
    "failed over": [(None, "failed_over")],
    "unanswered": [(Status.QUEUED, "unanswered")],
}
_WITHOUT_A_CALL: Final[_Events] = {
    "claim": [(Status.SENDING, "")],
    "receipt": [(Status.DELIVERED, "")],
    "opened": [(Status.DELIVERED, ""), (Status.READ, "")],
    "bounce": [(Status.BOUNCED, "permanent")],
    "expiry": [(Status.EXPIRED, "ttl_passed")],
    "replay": [(Status.QUEUED, "replayed")],
    "click": [(None, "client_clicked")],
    "complaint": [(None, "complained")],
    "note": [(None, "not_counted")],
}
_RARE: Final = ["unanswered", "late answer", "settled cost"]
_KINDS: Final = [*_AFTER_A_CALL, *_WITHOUT_A_CALL, *_RARE, *_RARE]
_HISTORIES: Final = st.lists(
    st.tuples(
        st.sampled_from(_KINDS),
        st.integers(0, 3),  # the delivery
        st.sampled_from([1, 700, 45_000, 5_000_000]),  # milliseconds after the last step
        st.sampled_from(range(len(_ROUTES))),
        st.sampled_from([0, 0, 1, 2, 1_000]),  # events of a page that is counted then; 0: none
    ),
    max_size=25,
)


@dataclass
class _History:
    """The stored rows of four deliveries, two of which are of a bulk job."""

    at: dt.datetime
    ids: list[UUID] = field(default_factory=list)
    calls: Counter[UUID] = field(default_factory=Counter)
    present: dict[UUID, Status] = field(default_factory=dict)

    def accept(self, number: int) -> None:
        """Store a notification with a delivery."""
        made = clock.new_notification_id()
        row, is_sms = ids.delivery_id(made, 1), number % 2 == 0
        with transaction.atomic():
            Notification.objects.create(
                id=made,
                producer_id=number % 3 + 1,
                mode=1,
                priority=2,
                type=f"T{number % 2}",
                recipient_id=1,
                user_id="maria",
                spread="first",
                expires_at=self.at,
                created_at=self.at,
                bulk_job_id=_JOB if number < 2 else None,
            )
            Delivery.objects.create(
                id=row,
                mode=1,
                priority=2,
                channel=Channel.SMS if is_sms else Channel.EMAIL,
                status=Status.QUEUED,
                recipient_id=1,
            )
            self._tell(row, Status.QUEUED, "accepted")
        self.ids.append(row)

    def step(self, kind: str, row: UUID, route: tuple[str, str]) -> None:
        """Store a transaction of a delivery."""
        with transaction.atomic():
            if kind == "late answer":
                self._answer_late(row)
            elif kind == "settled cost":
                self._settle(row)
            elif kind in _AFTER_A_CALL:
                self._call(row, kind, route)
            for event in {**_AFTER_A_CALL, **_WITHOUT_A_CALL}.get(kind, ()):
                self._tell(row, *event)

    def _call(self, row: UUID, kind: str, route: tuple[str, str]) -> None:
        self.calls[row] += 1
        latency = dt.timedelta(milliseconds=37 * self.calls[row])
        Attempt.objects.create(
            delivery_id=row,
            number=self.calls[row],
            provider=route[0],
            outcome="unavailable" if kind == "failed over" else kind.split(maxsplit=1)[0],
            started_at=self.at - latency,
            latency_ms=latency // dt.timedelta(milliseconds=1),
            country=route[1],
            cost_micros=100 * self.calls[row],
        )

    def _answer_late(self, row: UUID) -> None:
        waiting = Attempt.objects.filter(delivery_id=row, outcome="unanswered", answered_at=None)
        if number := waiting.values_list("number", flat=True).first():
            calls = Attempt.objects.filter(delivery_id=row, number=number)
            calls.update(outcome="accepted", answered_at=self.at)
            self._tell(row, Status.SENT, "")

    def _settle(self, row: UUID) -> None:
        paid = Attempt.objects.filter(delivery_id=row, outcome="accepted", settled_at=None)
        if number := paid.values_list("number", flat=True).first():
            calls = Attempt.objects.filter(delivery_id=row, number=number)
            calls.update(settled_micros=90, settled_at=self.at)
            self._tell(row, None, "cost_settled")

    def _tell(self, row: UUID, status: Status | None, reason: str) -> None:
        """Store an event, and the first times of the delivery."""
        with connection.cursor() as running:
            running.execute(
                "INSERT INTO event (notification_id, delivery_id, status, reason, at)"
                " VALUES (%s, %s, %s, %s, %s)",
                [ids.notification_of(row), row, status, reason, self.at],
            )
        if status is None:
            return
        self.present[row] = status
        rows = Delivery.objects.filter(id=row)
        if status in {Status.SENT, Status.DELIVERED, Status.READ}:
            rows.filter(sent_at=None).update(sent_at=self.at)
        if status in {Status.DELIVERED, Status.READ}:
            rows.filter(delivered_at=None).update(delivered_at=self.at)


def _empty() -> None:
    with connection.cursor() as running:
        for table in ("notification", "delivery", "attempt", "event", "bulk_job_figure"):
            running.execute(f"DELETE FROM {table}")  # noqa: S608 - names of tables
        for table in ("rollup", "rollup_latency", "rollup_position"):
            running.execute(f"DELETE FROM {table}")  # noqa: S608 - names of tables
    rollups.count_next(limit=1)


def _rows() -> list[tuple[Any, ...]]:
    with connection.cursor() as running:
        running.execute(
            "SELECT to_jsonb(r)::text FROM rollup r WHERE num_nonnulls(accepted, sent, delivered,"
            " read, clicked, failed, bounced, expired, retried, replayed, calls, failed_calls,"
            " sent_after_retry, failed_after_retry, cost_micros) > 0"
            " UNION ALL SELECT to_jsonb(l)::text FROM rollup_latency l ORDER BY 1"
        )
        return list(running.fetchall())


def _total(column: str) -> int:
    cube = Cube(Step.DAY, DimensionSet.ALL).number
    found = Rollup.objects.filter(cube=cube).values_list(column, flat=True)
    return sum(each or 0 for each in found)


def _present_of_the_job() -> dict[str, int]:
    with connection.cursor() as running:
        running.execute(
            "SELECT name, count FROM bulk_job_figure"
            " WHERE job_id = %s AND kind = 'status' AND count <> 0",
            [_JOB],
        )
        return dict(running.fetchall())


@example([("unanswered", 0, 1, 0, 0), ("unavailable", 0, 700, 1, 0), ("late answer", 0, 700, 0, 0)])
@given(_HISTORIES)
def test_pages_of_each_size_and_a_recount_count_the_same(
    steps: list[tuple[str, int, int, int, int]],
) -> None:
    _empty()
    history = _History(at=clock.now().replace(microsecond=250))
    for number in range(4):
        history.accept(number)
    for kind, number, milliseconds, route, limit in steps:
        history.at += dt.timedelta(milliseconds=milliseconds)
        history.step(kind, history.ids[number], _ROUTES[route])
        if limit:
            rollups.count_next(limit=limit)
    while rollups.count_next(limit=3).more:
        pass
    found = _rows()
    assert _total("accepted") == len(history.ids)
    assert _total("calls") == sum(history.calls.values())
    assert _total("failed_calls") == Attempt.objects.exclude(outcome="accepted").count()
    assert _total("sent") == Delivery.objects.exclude(sent_at=None).count()
    assert _total("delivered") == Delivery.objects.exclude(delivered_at=None).count()
    assert _total("read") == Event.objects.filter(status=Status.READ).count()
    labels = [history.present[each].label for each in history.ids[:2]]
    assert _present_of_the_job() == Counter(labels)
    recount_days()
    assert _rows() == found
