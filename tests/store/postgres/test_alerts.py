"""Alerts that no installed app resolves end with `migrate`."""

from __future__ import annotations

import pytest

from notifications.core.models import Alert
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts


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
