"""Steps wait for the end of a pause, and series take turns."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications import clock
from notifications.models import Notification, Recipient, SeriesEnrolment
from notifications.rules.series.states import SeriesState
from notifications.series import versions
from notifications.store.postgres import series as store
from notifications.sweeps import rounds
from tests.journey import Reach
from tests.series.conftest import MakeSeries, enrol, post, send, sweep_once

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)

pytestmark = pytest.mark.usefixtures("maria")


@pytest.fixture
def maria(reach: Reach) -> Recipient:
    return reach(email="maria@sandbox.example")


def _sent() -> list[str]:
    return [each.metadata["series_step"] for each in Notification.objects.order_by("id")]


def test_a_resumed_series_sends_one_message_of_the_missed_week(make: MakeSeries) -> None:
    day = {"step": "wait", "days": 1}
    series = make(send("one"), day, send("two"), day, send("three"))
    enrol(series, "maria")
    sweep_once()
    versions.change_state(series, SeriesState.PAUSED, by="tests")
    sweep_once(later=7 * DAY)
    versions.change_state(series, SeriesState.ACTIVE, by="tests")
    for _ in range(4):
        sweep_once(later=7 * DAY)
    assert _sent() == ["one", "two"]
    sweep_once(later=8 * DAY + HOUR)
    assert _sent() == ["one", "two", "three"]


def test_the_series_with_the_longest_due_enrolment_is_first(make: MakeSeries) -> None:
    young, old = make(send("one"), name="young"), make(send("one"), name="old")
    enrol(young, "maria")
    enrol(old, "maria")
    SeriesEnrolment.objects.filter(series=old).update(due_at=clock.now() - HOUR)
    assert [each.id for each in store.due(clock.now() + HOUR)] == [old.pk, young.pk]


def test_many_events_do_not_stop_a_due_step(
    make: MakeSeries, monkeypatch: pytest.MonkeyPatch
) -> None:
    enrol(make(send("one")), "maria")
    for _ in range(3):
        post("opened")
    monkeypatch.setattr(rounds, "SECONDS", 0.0)
    assert sweep_once(limit=1).more
    assert _sent() == ["one"]
