"""Alerts that no installed app resolves end with `migrate`; an alert fails no other work."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import OperationalError, transaction

from notifications.core.models import Alert
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts, db


@pytest.mark.django_db
def test_alerts_of_removed_apps_and_sweeps_are_resolved() -> None:
    left = [
        (AlertKind.STATE_AWAY, "valkey"),
        (AlertKind.SWEEP_FAILED, "relay"),
        (AlertKind.SWEEP_LATE, "relay"),
    ]
    removed = [
        (AlertKind.SCHEDULE_FAILED, "7"),
        (AlertKind.SWEEP_FAILED, "schedules"),
        (AlertKind.SWEEP_LATE, "schedules"),
        (AlertKind.SWEEP_OFF, "schedules"),
        (AlertKind.SWEEP_UNFINISHED, "schedules"),
    ]
    for kind, subject in left + removed:
        alerts.raise_once(kind, subject, "a test")
    kinds = set(AlertKind) - {AlertKind.SCHEDULE_FAILED}
    for _ in range(2):
        alerts.resolve_removed(kinds=kinds, sweeps={"relay"})
        found = Alert.objects.filter(resolved_at=None).values_list("kind", "subject")
        assert sorted(found) == left


@pytest.mark.django_db(transaction=True)
def test_an_alert_that_is_not_stored_after_a_commit_stops_no_other_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    done: list[str] = []

    def fail(*_alert: object) -> None:
        done.append("alert")
        raise OperationalError

    monkeypatch.setattr(alerts, "raise_once", fail)
    with transaction.atomic():
        alerts.raise_after_commit(AlertKind.SENT_LEDGER_UNREAD, "", "a test")
        db.after_commit(partial(done.append, "contacts"))
        assert not done
    assert done == ["alert", "contacts"]
