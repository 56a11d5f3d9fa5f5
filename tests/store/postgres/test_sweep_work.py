"""Conditions of sweeps: a sweep that would change a row has work, and a later row is no work."""

from __future__ import annotations

import datetime as dt
import random  # noqa: TID251 - the seed repeats the rows
from collections.abc import Callable
from typing import Final
from uuid import uuid4

import pytest
import redis
from django.db import OperationalError, connection, transaction

from notifications.core import clock, sweeps
from notifications.core.models import (
    Alert,
    AlertDestination,
    AlertNotice,
    BulkJob,
    CancelJob,
    ErasureJob,
    HoldCheck,
    Inbox,
    InboxReport,
    InboxUncleared,
    Notification,
    OrderingKey,
    Producer,
    Recipient,
    RecipientList,
    ReplayJob,
    Schedule,
    SweepRun,
    Switch,
    Topic,
    WebhookEndpoint,
    WebhookMessage,
    Withdrawal,
)
from notifications.core.rules.bulk_job import BulkJobState
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import id_ranges
from notifications.core.sweeps import SWEEPS
from notifications.features.receipt_lookups.models import ReceiptLookup
from notifications.features.series.models import CustomEvent
from providers.contract import Channel
from tests.moments import transaction_now
from tests.sweeps.conftest import MakeRow, _no_old_answers, broker, make_row

__all__ = ["_no_old_answers", "broker", "make_row"]

pytestmark = pytest.mark.django_db

_SECOND: Final = dt.timedelta(seconds=1)
_HOUR: Final = dt.timedelta(hours=1)
_CONDITIONAL: Final = sorted(name for name, each in SWEEPS.items() if each.work)
_OF_DELIVERIES: Final = sorted(name for name, each in SWEEPS.items() if each.work and each.work.due)
_STATUSES: Final = (
    *(Status.SCHEDULED, Status.QUEUED, Status.SENDING, Status.RETRYING),
    *(Status.SENT, Status.UNKNOWN),
)


def _store_random_rows(make_row: MakeRow, seed: int) -> None:
    chance, now = random.Random(seed), transaction_now()  # noqa: S311 - no secret
    for _ in range(chance.choice((0, 1, 2, 6))):
        ago = dt.timedelta(seconds=chance.choice((-3600, -5, -0.5, 0, 1, 7, 16, 3600)))
        make_row(
            chance.choice(_STATUSES),
            priority=chance.choice(list(Priority)),
            channel=chance.choice(list(Channel)),
            due_at=now - ago,
            contact_id=chance.choice((None, 1)),
            claims=chance.choice((0, 5)),
            reason=chance.choice(("", Reason.BREAKER, Reason.CAP)),
        )
    if chance.random() < 0.5:
        Notification.objects.update(expires_at=clock.now() - _HOUR)


@pytest.mark.parametrize("seed", range(60))
def test_a_sweep_that_changes_a_delivery_had_work(
    make_row: MakeRow, broker: redis.Redis, seed: int
) -> None:
    del broker
    _store_random_rows(make_row, seed)
    for name in random.Random(seed).sample(_OF_DELIVERIES, len(_OF_DELIVERIES)):  # noqa: S311 - as above
        said = sweeps.with_work([name])
        swept = sweeps.run(name, every=dt.timedelta(0))
        assert name in said or not (swept.moved or swept.failed), (name, swept)


def test_the_random_rows_give_each_sweep_work_and_no_work(
    make_row: MakeRow, broker: redis.Redis
) -> None:
    """The test above compares something: most of its runs change rows, and many conditions fail."""
    del broker
    changed, idle = set[str](), set[str]()
    for seed in range(60):
        with transaction.atomic():
            _store_random_rows(make_row, seed)
            for name in _OF_DELIVERIES:
                if name not in sweeps.with_work([name]):
                    idle.add(name)
                elif sweeps.run(name, every=dt.timedelta(0)).moved:
                    changed.add(name)
            transaction.set_rollback(True)
    assert idle == set(_OF_DELIVERIES)
    assert changed == set(_OF_DELIVERIES)


def _past() -> dt.datetime:
    """Return a time before the transaction of the test, whose start is Postgres's now()."""
    return clock.now() - dt.timedelta(minutes=1)


def _producer() -> Producer:
    return Producer.objects.get_or_create(name="worker")[0]


def _bulk_job(state: BulkJobState, **columns: object) -> None:
    now = clock.now()
    BulkJob.objects.create(
        producer=_producer(),
        mode=Mode.LIVE,
        name="Menu",
        state=state,
        audience={"user_ids": ["maria"]},
        type="TEST",
        template_id="menu",
        template=1,
        spread="first",
        **{"starts_at": now, "created_at": now, **columns},
    )


def _schedule(due_at: dt.datetime) -> None:
    Schedule.objects.create(
        producer=_producer(),
        name="daily",
        rrule="FREQ=DAILY",
        starts_at=due_at,
        due_at=due_at,
        request={"user_id": "maria"},
    )


def _event(*, handled: bool) -> None:
    CustomEvent.objects.create(
        producer=_producer(),
        recipient=Recipient.objects.create(user_id="maria", mode=Mode.LIVE),
        user_id="maria",
        name="order_paid",
        handled=handled,
        occurred_at=clock.now(),
        received_at=clock.now(),
    )


def _message(due_at: dt.datetime, *, state: str = "active") -> None:
    endpoint = WebhookEndpoint.objects.create(
        producer=_producer(), mode=Mode.LIVE, url="https://shop.example/hook", state=state
    )
    WebhookMessage.objects.create(
        id=uuid4(),
        endpoint_id=endpoint.pk,
        type="delivery.sent",
        occurred_at=due_at,
        state="waiting",
        due_at=due_at,
        created_at=due_at,
    )


def _switch(*, is_resumed: bool) -> None:
    at = clock.now() if is_resumed else None
    Switch.objects.create(kind="channel", channel=Channel.PUSH, resumed_at=at)


def _ordering_key(look_at: dt.datetime | None, used_at: dt.datetime) -> None:
    OrderingKey.objects.create(
        producer_id=1,
        mode=Mode.LIVE,
        priority=Priority.P1,
        key="order-1",
        look_at=look_at,
        used_at=used_at,
    )


def _cancel_job(finished_at: dt.datetime | None) -> None:
    of = dict.fromkeys(("after", "first", "until"), clock.new_notification_id())
    CancelJob.objects.create(requested_by="tests", finished_at=finished_at, **of)


def _withdrawal(due_at: dt.datetime) -> None:
    Withdrawal.objects.create(delivery_id=uuid4(), due_at=due_at, ends_at=due_at + _HOUR)


def _lookup(due_at: dt.datetime) -> None:
    ReceiptLookup.objects.create(
        delivery_id=uuid4(), provider="expo", message_id="1", sent_at=due_at, due_at=due_at
    )


def _hold_check(due_at: dt.datetime) -> None:
    HoldCheck.objects.create(recipient_id=1, changed_at=due_at, due_at=due_at)


def _inbox(next_change_at: dt.datetime | None) -> None:
    Inbox.objects.create(
        recipient_id=1, version=1, unseen=0, unread=0, total=0, next_change_at=next_change_at
    )


def _list(**columns: object) -> None:
    RecipientList.objects.create(
        mode=Mode.LIVE,
        kind="upload",
        name="vip",
        created_at=clock.now(),
        touched_at=clock.now(),
        **{"state": "ready", "expires_at": clock.now() + _HOUR, **columns},
    )


def _alert(*, is_open: bool) -> Alert:
    return Alert.objects.create(kind="beat_dead", resolved_at=None if is_open else clock.now())


def _told(*events: str, is_active: bool = True, **columns: object) -> None:
    """Store a resolved alert with a notice of each event."""
    place = AlertDestination.objects.create(name="team", secret="", is_active=is_active)
    alert = _alert(is_open=False)
    for event in events:
        AlertNotice.objects.create(
            **{"alert": alert, "destination": place, "event": event, "attempts": 1, **columns},
            created_at=_past(),
        )


_Rows = Callable[[], object]
_WORK: Final[dict[str, tuple[str, _Rows]]] = {
    "a hold check": ("release", lambda: _hold_check(_past())),
    "a resumed switch": ("release", lambda: _switch(is_resumed=True)),
    "an open alert": ("alert_notices", lambda: _alert(is_open=True)),
    "a waiting notice": ("alert_notices", lambda: _told("resolved", due_at=_past())),
    "an alert with an untold end": ("alert_notices", lambda: _told("raised", "reminded")),
    "a withdrawal": ("withdrawals", lambda: _withdrawal(_past())),
    "a receipt to ask for": ("receipt_lookups", lambda: _lookup(_past())),
    "a replay": ("replays", lambda: ReplayJob.objects.create(requested_by="tests")),
    "an erasure": (
        "erasures",
        lambda: ErasureJob.objects.create(mode=Mode.LIVE, recipient_id=1, requested_by="tests"),
    ),
    "a check of a key": ("ordering", lambda: _ordering_key(_past(), _past())),
    "an unused key": ("ordering", lambda: _ordering_key(None, _past() - 24 * _HOUR)),
    "a message": ("tell", lambda: _message(_past())),
    "an endpoint": ("webhooks", lambda: _message(clock.now() + _HOUR, state="paused")),
    "an expired item": ("inbox", lambda: _inbox(_past())),
    "an entry": ("inbox", lambda: InboxUncleared.objects.create(recipient_id=1, at=_past())),
    "a report": (
        "inbox_reports",
        lambda: InboxReport.objects.create(item_id=uuid4(), recipient_id=1, due_at=_past()),
    ),
    "a cancel job": ("cancel_jobs", lambda: _cancel_job(None)),
    "a started job": ("expand", lambda: _bulk_job(BulkJobState.SCHEDULED)),
    "a running job": ("expand", lambda: _bulk_job(BulkJobState.RUNNING)),
    "a cancelled job": ("expand", lambda: _bulk_job(BulkJobState.CANCELLED)),
    "a running job's limits": ("bulk_jobs", lambda: _bulk_job(BulkJobState.RUNNING)),
    "a finished job's limits": (
        "bulk_jobs",
        lambda: _bulk_job(BulkJobState.FINISHED, abort_limits={"failed": 0.1}, finished_at=_past()),
    ),
    "a failed upload": ("audiences", lambda: _list(state="failed")),
    "an expired list": ("audiences", lambda: _list(expires_at=_past())),
    "a deleted topic": (
        "audiences",
        lambda: Topic.objects.create(name="news", deleted_at=_past()),
    ),
    "a schedule": ("schedules", lambda: _schedule(_past())),
    "an event": ("series", lambda: _event(handled=False)),
}
_NO_WORK: Final[dict[str, tuple[str, _Rows]]] = {
    "a hold check": ("release", lambda: _hold_check(clock.now() + _HOUR)),
    "an alert of nobody": ("alert_notices", lambda: _alert(is_open=False)),
    "an alert with a told end": ("alert_notices", lambda: _told("raised", "resolved")),
    "an alert without a try": ("alert_notices", lambda: _told("raised", attempts=0)),
    "a former destination": ("alert_notices", lambda: _told("raised", is_active=False)),
    "a switch": ("release", lambda: _switch(is_resumed=False)),
    "a withdrawal": ("withdrawals", lambda: _withdrawal(clock.now() + _HOUR)),
    "a receipt to ask for later": ("receipt_lookups", lambda: _lookup(clock.now() + _HOUR)),
    "a replay": (
        "replays",
        lambda: ReplayJob.objects.create(requested_by="tests", finished_at=clock.now()),
    ),
    "a key": ("ordering", lambda: _ordering_key(clock.now() + _HOUR, clock.now())),
    "a message": ("tell", lambda: _message(clock.now() + _HOUR)),
    "a paused endpoint": ("tell", lambda: _message(_past(), state="paused")),
    "an item": ("inbox", lambda: _inbox(clock.now() + _HOUR)),
    "a report": (
        "inbox_reports",
        lambda: InboxReport.objects.create(
            item_id=uuid4(), recipient_id=1, due_at=clock.now() + _HOUR
        ),
    ),
    "a cancel job": ("cancel_jobs", lambda: _cancel_job(clock.now())),
    "a job": (
        "expand",
        lambda: _bulk_job(BulkJobState.SCHEDULED, starts_at=clock.now() + _HOUR),
    ),
    "a finished job": (
        "bulk_jobs",
        lambda: _bulk_job(BulkJobState.FINISHED, finished_at=clock.now()),
    ),
    "a list": ("audiences", _list),
    "a schedule": ("schedules", lambda: _schedule(clock.now() + _HOUR)),
    "an event": ("series", lambda: _event(handled=True)),
}


@pytest.mark.parametrize("what", _WORK)
def test_a_row_that_a_sweep_handles_is_work(what: str) -> None:
    name, store = _WORK[what]
    assert name not in sweeps.with_work([name])
    store()
    assert sweeps.with_work(_CONDITIONAL) >= {name}


@pytest.mark.parametrize("what", _NO_WORK)
def test_a_row_that_a_sweep_leaves_is_no_work(what: str) -> None:
    name, store = _NO_WORK[what]
    store()
    assert name not in sweeps.with_work([name])


def test_events_behind_the_positions_are_work(make_row: MakeRow) -> None:
    names = {"webhooks", "rollups"}
    assert not sweeps.with_work(names)
    row = make_row()
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO event (notification_id, delivery_id, status, reason, detail, at)"
            " VALUES (notification_of(%s), %s, 5, '', '', now())",
            [row, row],
        )
    assert sweeps.with_work(names) == names


def test_a_sweep_that_failed_or_did_not_end_has_work() -> None:
    began = clock.now()
    SweepRun.objects.create(name="retry", started_at=began, failed=1)
    SweepRun.objects.create(name="expiry", started_at=began, running_since=began)
    SweepRun.objects.create(name="rescue", started_at=began)
    assert sweeps.with_work(["retry", "expiry", "rescue"]) == {"retry", "expiry"}


def test_a_sweep_without_a_condition_has_work() -> None:
    assert sweeps.with_work(["breakers"]) == {"breakers"}


def test_a_due_row_of_an_older_day_is_work(monkeypatch: pytest.MonkeyPatch) -> None:
    recent = id_ranges.current()[0]
    assert not sweeps.with_work(["retry"])
    monkeypatch.setattr(id_ranges, "current", lambda: [recent, recent])
    assert sweeps.with_work(["retry", "cancel_jobs"]) == {"retry"}


@pytest.mark.django_db(transaction=True)
def test_a_server_that_takes_no_writes_is_not_believed() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET default_transaction_read_only = on")
    with pytest.raises(OperationalError):
        sweeps.with_work(["relay"])
    assert connection.connection is None  # the next look finds the new primary
    assert not sweeps.with_work(["relay"])


def test_the_interval_without_work_is_shorter_than_the_patience_of_the_alert() -> None:
    from notifications.core.sweeps import overdue  # noqa: PLC0415 - its only use here

    for seconds in (1, 2, 3, 4, 5, 10, 15, 29, 30, 60, 3_600):
        every = dt.timedelta(seconds=seconds)
        # The task is due at the next interval after the longest time.
        assert sweeps.slowest(every) + every < overdue.PATIENCE + 3 * every
        assert every <= sweeps.slowest(every) <= max(every, 30 * _SECOND)
