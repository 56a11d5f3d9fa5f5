"""A stored timezone that this host or Postgres does not know counts as no timezone."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Final
from urllib.parse import urlencode

import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.delivery import deliver, preference_links
from notifications.core.models import (
    Budget,
    BudgetDay,
    BulkJob,
    Preference,
    Producer,
    Recipient,
    Schedule,
)
from notifications.core.rules.lane import Mode
from notifications.core.rules.states import Status
from notifications.core.rules.times import local_time
from notifications.core.store.cached import producer_windows
from notifications.core.store.postgres import reads
from notifications.core.sweeps import SWEEPS, rounds
from notifications.features.bulk_jobs import ranges
from notifications.features.money import figures
from notifications.features.money import known as cached
from notifications.features.schedules import occurrences
from providers.contract import Channel
from tests.journey import (
    Accept,
    Reach,
    caller,
    deliveries_of,
    outbox,
    reach,
    routed_to_scripted,
    status_and_reason,
    take,
)

__all__ = ["caller", "outbox", "reach", "take"]
UNKNOWN: Final = ("US/Pacific-New", "Asia/Beijing", "Etc/Nowhere", "../etc/passwd", "x" * 64, " ")
"""Names of former tz databases, and texts that were never a name."""
HOUR: Final = dt.timedelta(hours=1)

pytestmark = pytest.mark.usefixtures("outbox")


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rounds, "SECONDS", 60.0)
    for each in (producer_windows, cached):
        each.forget()
    yield
    for each in (producer_windows, cached):
        each.forget()


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_message_leaves_and_quiet_hours_hold(reach: Reach, take: Accept, name: str) -> None:
    person = reach(email="maria@sandbox.example")
    Recipient.objects.update(timezone=name)
    Producer.objects.update(timezone=name)
    [row] = deliveries_of(take(priority="P2"))
    deliver.deliver([row.id])
    assert status_and_reason(row.id) == (Status.SENT, "")
    now = clock.now()
    window = {"start": f"{now - HOUR:%H:%M}", "end": f"{now + HOUR:%H:%M}"}
    Preference.objects.create(recipient=person, quiet_hours=[window])
    [row] = deliveries_of(take(priority="P2"))
    deliver.deliver([row.id])
    assert status_and_reason(row.id) == (Status.SCHEDULED, "quiet_hours")


def test_the_producers_night_holds_as_without_a_timezone(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    Recipient.objects.update(timezone="US/Pacific-New")
    now = clock.now()
    Producer.objects.update(day_begins=(now + 2 * HOUR).time(), day_ends=(now - HOUR).time())
    producer_windows.forget()
    [row] = deliveries_of(take(priority="P3", ttl_seconds=86_400))
    deliver.deliver([row.id])
    assert status_and_reason(row.id) == (Status.SCHEDULED, "producers_night")


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_time_on_the_recipients_clock_says_that_the_timezone_is_unknown(
    reach: Reach, name: str
) -> None:
    person = reach(email="maria@sandbox.example")
    Recipient.objects.update(timezone=name)
    [known] = reads.reaches_by_id([person.pk]).values()
    assert known.timezone == ""


@pytest.mark.parametrize("name", [*UNKNOWN, "America/Ciudad_Juarez"])
def test_a_budget_counts_its_day_by_the_tz_database_of_python(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    reach(sms="+4915112345678")
    Budget.objects.all().delete()
    row = Budget.objects.create(channel=Channel.SMS, amount_micros=10**9, timezone=name)
    cached.forget()
    with routed_to_scripted(monkeypatch, Channel.SMS):
        [text] = deliveries_of(take(channels=["sms"], priority="P2"))
        deliver.deliver([text.id])
    assert status_and_reason(text.id) == (Status.SENT, "")
    now = clock.now()
    assert BudgetDay.objects.get().day == now.astimezone(local_time.zone(name)).date()
    assert list(figures.of([row.pk], now=now)) == [row.pk]


def test_sweeps_run_beside_unknown_timezones(reach: Reach) -> None:
    reach(email="maria@sandbox.example")
    Recipient.objects.update(timezone="Asia/Beijing", phone_timezone="Etc/Nowhere")
    Producer.objects.update(timezone="US/Pacific-New")
    Budget.objects.update(timezone="US/Pacific-New")
    failed = [
        each.name
        for each in SWEEPS.values()
        if each.name != "archive" and each.run_once(now=clock.now(), limit=each.limit).failed
    ]
    assert failed == []


@pytest.mark.parametrize("name", UNKNOWN)
def test_a_bulk_job_reaches_the_recipient_at_the_producers_time(reach: Reach, name: str) -> None:
    reach(email="maria@sandbox.example")
    Recipient.objects.update(timezone=name)
    Producer.objects.update(timezone="America/Sao_Paulo")
    producer_windows.forget()
    job = BulkJob(
        producer_id=Producer.objects.get().pk,
        mode=Mode.LIVE,
        audience={"everyone": True},
        send_at_local="09:00",
    )
    starts = {zone: at for at, zones in ranges._starts(job, clock.now()) for zone in zones or ()}
    assert starts[name] == starts["America/Sao_Paulo"]


def test_a_schedule_goes_by_the_recipients_timezone(reach: Reach) -> None:
    reach(email="maria@sandbox.example")
    Recipient.objects.update(timezone="Asia/Tokyo")
    schedule = Schedule(mode=Mode.LIVE, timezone="Asia/Beijing", request={"user_id": "maria"})
    assert occurrences.zone_of(schedule) == "Asia/Tokyo"


@pytest.mark.parametrize("name", UNKNOWN)
def test_the_preference_page_opens_and_saves(reach: Reach, name: str) -> None:
    person = reach(email="maria@sandbox.example")
    Recipient.objects.update(timezone=name)
    path = preference_links.PATH + preference_links.token_of(person.pk, now=clock.now())
    assert Client().get(path).status_code == 200
    form = urlencode({"timezone": name, "quiet_start": "22:00", "quiet_end": "07:00"})
    posted = Client().post(path, form, content_type="application/x-www-form-urlencoded")
    assert posted.status_code in {200, 302, 303}
    assert Preference.objects.get().quiet_hours
    assert Recipient.objects.get().timezone == name
