"""Who has had enough is left alone, each priority in its own way, and what never left is free."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from django.contrib.postgres.functions import TransactionNow

from notifications.core import clock, conf
from notifications.core.delivery import batch, deliver, frequency_caps, rescue, settle
from notifications.core.intake.accept import Caller
from notifications.core.models import Contact, Delivery, Event, Notification, Preference, Recipient
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.lane import Mode
from notifications.core.rules.rate_limits.frequency_caps import Cap, Caps
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.rules.suspects import POISON_AFTER
from notifications.core.rules.switches import SwitchKind
from notifications.core.scheduling import cancel
from notifications.core.store.cached import provider_overrides
from notifications.core.store.cached import switches as cached_switches
from notifications.core.store.postgres import claims
from notifications.core.store.rate_limits import circuit_breakers
from notifications.core.store.rate_limits import frequency_caps as caps
from notifications.core.store.rate_limits.frequency_caps import CapRequest, Window
from notifications.core.store.redis import state
from providers.contract import Channel
from tests.journey import Accept, Reach, deliveries_of, lapse
from tests.store.ageing import age_caps

HOUR = dt.timedelta(hours=1)
Outbox = Callable[[UUID], list[Any]]

pytestmark = pytest.mark.usefixtures("outbox")


@pytest.fixture(autouse=True)
def _one_an_hour(caller: Caller, monkeypatch: pytest.MonkeyPatch) -> None:
    assert caller.producer_id  # the database is ready, Redis is empty
    _allow(monkeypatch, {Channel.EMAIL: Cap(1, HOUR), Channel.PUSH: Cap(1, HOUR)})
    for store in (circuit_breakers, provider_overrides, cached_switches):
        store.forget()


@pytest.fixture
def _redis_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object, **__: object) -> object:
        raise state.Away

    monkeypatch.setattr(state, "connection", away)


def _allow(monkeypatch: pytest.MonkeyPatch, allowed: Caps) -> None:
    capped = replace(conf.current(), caps=allowed)
    monkeypatch.setattr(conf, "current", lambda: capped)


def _row(delivery: Delivery) -> Delivery:
    return Delivery.objects.get(id=delivery.id)


def _said(deliveries: list[Delivery]) -> list[tuple[Status, str]]:
    return [(Status(row.status), row.reason) for row in map(_row, deliveries)]


def _sent(*answers: list[Delivery]) -> list[tuple[Status, str]]:
    rows = [row for rows in answers for row in rows]
    deliver.deliver([row.id for row in rows])
    return _said(rows)


def _counted(person: Recipient, channel: Channel = Channel.EMAIL) -> int:
    return int(state.client().zcard(Window(person.pk, channel).key))


GOES = (Status.SENT, "")
WAITS = (Status.SCHEDULED, "cap")
DROPPED = (Status.SUPPRESSED, "capped")


@pytest.mark.parametrize(
    ("priority", "second"), [("P0", GOES), ("P1", GOES), ("P2", WAITS), ("P3", DROPPED)]
)
def test_the_second_of_a_full_window(
    reach: Reach, take: Accept, priority: str, second: tuple[Status, str]
) -> None:
    reach(email="maria@sandbox.example")
    assert _sent(deliveries_of(take(priority="P1"))) == [GOES]
    assert _sent(deliveries_of(take(priority=priority))) == [second]


def test_a_hold_spends_nothing_and_ends_with_the_window(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    _sent(deliveries_of(take()))
    age_caps(dt.timedelta(minutes=10))
    [row] = waiting = deliveries_of(take())
    assert deliver.deliver([row.id]) == []
    held = _row(row)
    assert held.due_at is not None
    minutes = (held.due_at - clock.now()) / dt.timedelta(minutes=1)
    assert minutes == pytest.approx(50, abs=0.2)
    assert (held.attempts, held.claims) == (0, 0)
    age_caps(dt.timedelta(minutes=50))
    Delivery.objects.filter(id=row.id).update(due_at=TransactionNow())
    assert _sent(waiting) == [GOES]


def test_what_was_dropped_says_of_which_cap(reach: Reach, take: Accept) -> None:
    reach(email="maria@sandbox.example")
    _sent(deliveries_of(take()))
    [row] = rows = deliveries_of(take(priority="P3"))
    _sent(rows)
    assert Event.objects.get(delivery_id=row.id, reason="capped").detail == "the cap is 1/hour"


def test_a_code_does_not_fill_the_window(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@sandbox.example")
    assert _sent(deliveries_of(take(priority="P0"))) == [GOES]
    assert _counted(person) == 0


def test_three_devices_are_one_message_and_all_of_them_wait(reach: Reach, take: Accept) -> None:
    person = reach(push=["one", "two", "three"])
    first, second = (deliveries_of(take(channels=["push"])) for _ in range(2))
    assert _sent(first[:1]) == [GOES]
    assert _sent(first[1:]) == [GOES] * 2
    assert _sent(second) == [WAITS] * 3
    assert _counted(person, Channel.PUSH) == 1
    assert len({row.due_at for row in map(_row, second)}) == 1


def test_a_person_has_caps_of_their_own(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@sandbox.example", sms="+15551234567")
    Preference.objects.create(recipient=person, caps={"email": "2/day", "sms": "1/day"})
    mails = [deliveries_of(take()) for _ in range(3)]
    texts = [deliveries_of(take(channels=["sms"])) for _ in range(2)]
    assert _sent(*mails) == [GOES, GOES, WAITS]
    assert _sent(*texts) == [GOES, WAITS]


def test_caps_that_nobody_can_read_stop_nobody(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@sandbox.example")
    Preference.objects.create(recipient=person, caps={"email": "a lot", "pigeon": "1/day"})
    assert _sent(*(deliveries_of(take()) for _ in range(2))) == [GOES, WAITS]


def test_without_caps_nothing_is_asked(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    reach(email="maria@sandbox.example")
    _allow(monkeypatch, {})
    monkeypatch.delattr("notifications.core.store.rate_limits.frequency_caps.count")
    assert _sent(*(deliveries_of(take()) for _ in range(2))) == [GOES, GOES]


def test_test_mode_neither_counts_nor_waits(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@sandbox.example")
    rows = [row for _ in range(2) for row in deliveries_of(take())]
    Delivery.objects.update(mode=Mode.TEST)
    assert _sent(rows) == [GOES, GOES]
    assert _counted(person) == 0


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("maria+410@sandbox.example", (Status.FAILED, "permanent")),
        ("maria+503@sandbox.example", (Status.FAILED, "retries_exhausted")),
    ],
)
def test_what_failed_for_good_is_taken_back(
    reach: Reach, take: Accept, address: str, said: tuple[Status, str]
) -> None:
    person = reach(email=address)
    rows = deliveries_of(take(priority="P3"))
    for _ in range(3):  # P3's policy makes three calls
        Delivery.objects.filter(due_at__isnull=False).update(due_at=TransactionNow())
        _sent(rows)
    assert _said(rows) == [said]
    assert _counted(person) == 0
    Contact.objects.update(address="maria@sandbox.example", invalidated_at=None)
    assert _sent(deliveries_of(take())) == [GOES]


def test_while_one_device_was_reached_the_message_stays_counted(reach: Reach, take: Accept) -> None:
    person = reach(push=["token.410", "well"])
    _sent(deliveries_of(take(channels=["push"])))
    assert _counted(person, Channel.PUSH) == 1


def test_what_expired_or_was_cancelled_after_it_was_counted_is_taken_back(
    reach: Reach, take: Accept, caller: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    _allow(monkeypatch, {Channel.EMAIL: Cap(2, HOUR)})
    person = reach(email="maria+503@sandbox.example")
    [expired], [cancelled] = (deliveries_of(take()) for _ in range(2))
    assert {status for status, _ in _sent([expired, cancelled])} == {Status.RETRYING}
    assert _counted(person) == 2
    Notification.objects.filter(id=expired.notification_id).update(
        expires_at=clock.now() - dt.timedelta(minutes=1)
    )
    Delivery.objects.filter(id=expired.id).update(due_at=TransactionNow())
    assert _sent([expired]) == [(Status.EXPIRED, "ttl_passed")]
    assert _counted(person) == 1
    cancel.cancel(cancelled.notification_id, producer_id=caller.producer_id, mode=caller.mode)
    assert _counted(person) == 0


def test_a_message_that_cannot_be_rendered_is_taken_back(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@sandbox.example")
    [broken] = deliveries_of(take())
    # Accepting checks that nothing is missing: this went missing afterwards.
    Notification.objects.update(variables={}, secrets=None)
    assert _sent([broken]) == [(Status.FAILED, "render_error")]
    assert _counted(person) == 0


def test_a_message_that_kills_its_workers_is_taken_back(
    reach: Reach, take: Accept, django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    person = reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    counted = batch.load(claims.claim([row.id], now=clock.now()))
    frequency_caps.apply_caps(counted)
    assert _counted(person) == 1
    Delivery.objects.filter(id=row.id).update(claims=POISON_AFTER)
    with django_capture_on_commit_callbacks(execute=True):
        rescue.rescue([lapse(row.id)])
    assert _said([row]) == [(Status.FAILED, "poison")]
    assert _counted(person) == 0


def test_a_worker_that_lost_its_lease_takes_nothing_back(reach: Reach, take: Accept) -> None:
    person = reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    claim = claims.claim([row.id], now=clock.now())
    lost = batch.load(claim)
    [claimed] = lost.deliveries
    frequency_caps.apply_caps(lost)
    lost.commit()
    assert lost.deliveries == [claimed]
    Delivery.objects.update(status=Status.QUEUED, claim_token=None)
    assert _sent([row]) == [GOES]
    settle.dead_letter(lost, [(claimed, "too late")], reason=Reason.RENDER_ERROR)
    assert _counted(person) == 1


@pytest.mark.parametrize("step", ["admission", "send"])
def test_a_worker_that_counts_after_the_end_takes_its_count_back(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    person = reach(email="maria@sandbox.example")
    [row] = deliveries_of(take())
    count = caps.count

    def count_late(asks: Sequence[CapRequest]) -> list[dt.timedelta]:
        Delivery.objects.update(status=Status.EXPIRED, claim_token=None, due_at=None)
        return count(asks)

    monkeypatch.setattr(caps, "count", count_late)
    if step == "admission":
        target = SwitchTarget(kind=SwitchKind.PROVIDER, value="sandbox", channel=Channel.EMAIL)
        switches.set_switch(target, reason="tests", expires_at=None, by="tests")
    assert _sent([row]) == [(Status.EXPIRED, "")]
    assert _counted(person) == 0


@pytest.mark.usefixtures("_redis_is_away")
def test_while_redis_is_away_the_urgent_leave_and_the_patient_wait(
    reach: Reach, take: Accept
) -> None:
    reach(email="maria@sandbox.example")
    rows = [deliveries_of(take(priority=f"P{level}")) for level in range(4)]
    unknown = (Status.SCHEDULED, "cap_unknown")
    assert _sent(*rows[:2]) == [GOES, GOES]
    assert _sent(*rows[2:]) == [unknown, unknown]


def test_what_waited_for_its_provider_counts_from_when_it_left(
    reach: Reach, take: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frequency_caps, "_RENEWED_AFTER", dt.timedelta(minutes=-1))
    reach(email="maria@sandbox.example")
    target = SwitchTarget(kind=SwitchKind.PROVIDER, value="sandbox", channel=Channel.EMAIL)
    switches.set_switch(target, reason="tests", expires_at=None, by="tests")
    waited = deliveries_of(take())
    assert _sent(waited) == [(Status.SCHEDULED, "channel_paused")]
    age_caps(dt.timedelta(minutes=50))
    switches.resume(switches.active(), by="tests")
    Delivery.objects.filter(id=waited[0].id).update(due_at=clock.now() - HOUR)
    assert _sent(waited) == [GOES]
    age_caps(dt.timedelta(minutes=20))
    assert _sent(deliveries_of(take())) == [WAITS]
