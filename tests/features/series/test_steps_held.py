"""Steps wait for the end of a pause, or for room below a ceiling of SMS; series take turns."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.models import Notification, Recipient, Rejected, Template
from notifications.core.store.templates import template_cache
from notifications.core.sweeps import rounds
from notifications.features.series import rows as store
from notifications.features.series import versions
from notifications.features.series.models import SeriesEnrolment
from notifications.features.series.rules.states import SeriesState
from notifications.features.sms_pumping import counts, policy
from notifications.features.sms_pumping.models import SmsOverride
from providers.contract import Channel
from tests.features.series.conftest import MakeSeries, enrol, post, send, sweep_once
from tests.journey import Reach

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


def test_a_step_above_a_ceiling_of_sms_is_tried_again_and_shown(
    make: MakeSeries, reach: Reach
) -> None:
    reach("bot", sms="+4915112345678")
    Template.objects.get(template_id="hello").texts.create(
        channel=Channel.SMS, body="Hello {{ name }}"
    )
    template_cache.forget()
    series = make(send("code", priority="P1", channels=["sms"]))
    zero = SmsOverride.objects.create(ceiling="prefix", value="4915112", limit=0, reason="attack")
    policy.forget()
    enrol(series, "bot")
    sweep_once()
    held = SeriesEnrolment.objects.get()
    assert "protection against SMS pumping" in held.problem
    assert (held.position, held.state, held.results) == ("/steps/0", "running", 0)
    assert held.due_at is not None
    assert held.due_at > clock.now()
    assert Rejected.objects.get().problem == "sms-pumping-prefix"
    number = int(clock.now().timestamp()) // 600
    [told] = counts.refusals([number - 1, number])
    assert (told.prefix, told.refused, told.producer_id) == ("4915112", 1, series.producer_id)

    assert sweep_once().moved == 0, "the next try is after the wait"
    zero.delete()
    policy.forget()
    sweep_once(later=HOUR)
    assert _sent() == ["code"]
    assert SeriesEnrolment.objects.get().problem == ""
