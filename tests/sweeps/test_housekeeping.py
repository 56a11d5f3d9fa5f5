"""Housekeeping goes on until nothing is left, and passes over what somebody uses."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace

import pytest
from django.db import connection

from notifications.core import clock, conf
from notifications.core.models import Alert, ChangeMark, IdempotencyKey, Notification, Rejected
from notifications.core.sweeps import housekeeping
from tests.sweeps.conftest import MakeRow

_HOUR = dt.timedelta(hours=1)
pytestmark = pytest.mark.django_db


def _keys(count: int, *, expires_in: dt.timedelta) -> None:
    IdempotencyKey.objects.bulk_create(
        IdempotencyKey(
            producer_id=1,
            mode=1,
            key=f"{expires_in}-{number}",
            body_hash=b"",
            response={},
            expires_at=clock.now() + expires_in,
        )
        for number in range(count)
    )


def test_one_run_deletes_more_than_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_REJECTED_KEPT", 2)
    _keys(7, expires_in=-_HOUR)
    _keys(2, expires_in=_HOUR)
    Rejected.objects.bulk_create(Rejected(producer_id=1) for _ in range(9))
    Alert.objects.bulk_create(
        Alert(
            kind="test",
            subject=str(number),
            raised_at=clock.now() - 400 * _HOUR,
            seen_at=clock.now() - 400 * _HOUR,
            resolved_at=clock.now() - 300 * _HOUR,
        )
        for number in range(5)
    )
    done = housekeeping.run_once(now=clock.now(), limit=2)
    assert (IdempotencyKey.objects.count(), Rejected.objects.count()) == (2, 2)
    assert (Alert.objects.count(), done.moved) == (0, 7 + 7 + 5)


def test_a_run_ends_when_its_time_is_used_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(housekeeping, "_SECONDS", 0.0)
    _keys(7, expires_in=-_HOUR)
    assert housekeeping.run_once(now=clock.now(), limit=2).moved == 2


def test_expired_secrets_are_wiped_batch_by_batch(make_row: MakeRow) -> None:
    for _ in range(5):
        make_row()
    with connection.cursor() as cursor:
        cursor.execute("UPDATE notification SET secrets = 'x', expires_at = now() - interval '1s'")
    assert housekeeping.run_once(now=clock.now(), limit=2).moved == 5
    assert not Notification.objects.filter(secrets__isnull=False).exists()


def test_resolved_alerts_are_kept_for_the_days_of_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = clock.now()
    for hours in (23, 25, 24 * 6):
        Alert.objects.create(kind="test", resolved_at=now - hours * _HOUR)
    Alert.objects.create(kind="test")
    housekeeping.run_once(now=now, limit=100)
    assert Alert.objects.count() == 4, "the default is a week"
    settings = replace(conf.current(), alerts_kept=dt.timedelta(days=1))
    monkeypatch.setattr(conf, "current", lambda: settings)
    housekeeping.run_once(now=now, limit=100)
    assert Alert.objects.count() == 2, "one of 23 hours, and the open alert"


def test_a_transaction_that_stays_open_raises_an_alert_until_its_end() -> None:
    housekeeping.run_once(now=clock.now(), limit=10)  # the test's own transaction is the open one
    assert not Alert.objects.filter(kind="feed_held").exists()
    ChangeMark.objects.update(at=clock.now() - _HOUR / 10)
    housekeeping.run_once(now=clock.now(), limit=10)
    alert = Alert.objects.get(kind="feed_held")
    assert alert.resolved_at is None
    ChangeMark.objects.filter(at__lt=clock.now() - _HOUR / 20).update(xid=3)  # an earlier one
    housekeeping.run_once(now=clock.now(), limit=10)
    alert.refresh_from_db()
    assert alert.resolved_at is not None
