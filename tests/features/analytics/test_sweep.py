"""The report reaches each reader once, in the configured hour."""

from __future__ import annotations

import dataclasses
import datetime as dt

import pytest
from django.contrib.auth.models import Group, User

from notifications.core import clock, conf
from notifications.core.models import Contact, Notification
from notifications.core.rules.roles import DAILY_REPORT_GROUP
from notifications.core.store.postgres import role_groups
from notifications.features.analytics import sweep
from tests.sweeps.conftest import _no_old_answers

__all__ = ["_no_old_answers"]

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> dt.datetime:
    """The present instant; the configured hour is the hour of this instant in Kathmandu."""
    present = clock.now()
    hour = (present + dt.timedelta(hours=5, minutes=45)).hour
    settings = dataclasses.replace(
        conf.current(), report_hour=hour, report_timezone="Asia/Kathmandu"
    )
    monkeypatch.setattr(conf, "current", lambda: settings)
    return present


def reader(name: str, *, email: str = "{}@example.com", is_active: bool = True) -> User:
    role_groups.keep()
    user = User.objects.create_user(name, email=email.format(name), is_active=is_active)
    user.groups.add(Group.objects.get(name=DAILY_REPORT_GROUP))
    return user


def test_each_reader_gets_one_mail_however_often_the_sweep_runs(now: dt.datetime) -> None:
    reader("anna")
    reader("tom")
    User.objects.create_user("no-reader", email="no@example.com")
    for _ in range(3):
        assert sweep.run_once(now=now, limit=10).failed == 0
    found = list(Notification.objects.filter(type="daily_report"))
    assert len(found) == 2
    assert {str(each.content) for each in found} != {""}
    assert "Notifications on " in str(found[0].content)
    assert set(Contact.objects.values_list("address", flat=True)) == {
        "anna@example.com",
        "tom@example.com",
    }


def test_another_hour_and_who_is_switched_off_get_nothing(now: dt.datetime) -> None:
    reader("off", is_active=False)
    reader("mute", email="")
    assert sweep.run_once(now=now, limit=10).moved == 0
    reader("anna")
    assert sweep.run_once(now=now + dt.timedelta(hours=2), limit=10).moved == 0
    assert not Notification.objects.exists()
