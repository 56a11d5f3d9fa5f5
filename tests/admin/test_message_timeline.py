"""The page of a message that waits behind a paused provider has one row for the wait."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from notifications.core import clock
from notifications.core.models import Attempt, Delivery, Event, Notification
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres.timelines import Timeline
from tests.admin.conftest import MakeDelivery
from tests.admin.test_message_page import shown

PROBES = 16
PROBE_EVERY = dt.timedelta(seconds=40)
Line = tuple[Status | None, str]
HELD: Line = (Status.SCHEDULED, Reason.PROVIDER_MISCONFIGURED)
CLAIMED: Line = (Status.SENDING, "")


def hour_ago() -> dt.datetime:
    """Return the last full hour but one, so that a history of minutes stays within a day."""
    return clock.now().replace(minute=0, second=0, microsecond=0) - dt.timedelta(hours=1)


def tell(delivery: Delivery, lines: Iterable[Line], *, begin: dt.datetime) -> None:
    """Replace the history by events, one each ten seconds, without calls."""
    Attempt.objects.all().delete()
    Event.objects.all().delete()
    for number, (status, reason) in enumerate(lines):
        Event.objects.create(
            notification_id=delivery.notification_id,
            seq=number,
            delivery_id=delivery.id,
            status=status,
            reason=reason,
            at=begin + dt.timedelta(seconds=10 * number),
        )


def call(delivery: Delivery, number: int, at: dt.datetime, status: int = 401) -> None:
    Attempt.objects.create(
        delivery_id=delivery.id,
        number=number,
        provider="sandbox",
        outcome="misconfigured",
        code=str(status),
        detail="bad_credentials",
        http_status=status,
        started_at=at,
        latency_ms=3,
    )


@pytest.fixture
def waiting(make_delivery: MakeDelivery) -> Delivery:
    """A delivery after a call that was refused, 16 probes, and as many claims without a call."""
    delivery = make_delivery(status=Status.SCHEDULED, reason=Reason.PROVIDER_MISCONFIGURED)
    begin = hour_ago()
    between: tuple[Line, ...] = (CLAIMED, (Status.SCHEDULED, Reason.BREAKER), CLAIMED, HELD)
    tell(delivery, [CLAIMED, HELD, *between * PROBES], begin=begin)
    call(delivery, 1, begin + dt.timedelta(seconds=9))
    for number in range(PROBES):
        call(delivery, 2 + number, begin + dt.timedelta(seconds=45) + PROBE_EVERY * number)
    return delivery


def test_a_hold_with_probes_is_one_row(door: Client, waiting: Delivery) -> None:
    page = shown(door, waiting)
    last = Attempt.objects.latest("number").started_at
    assert page.count("<tr>") == 3  # the head, the first claim, the hold
    assert f"<summary>probed 16 times, each 401, last {last:%H:%M:%S} UTC</summary>" in page
    assert "The provider refuses our account. The provider fails; calls are paused" in page


def test_the_claims_of_a_hold_are_folded_and_not_lost(door: Client, waiting: Delivery) -> None:
    page = shown(door, waiting)
    folded = page.partition('id="timeline"')[2].partition('<ul class="nc-folded">')[2]
    assert folded.count("<li>") == 1 + 4 * PROBES
    last = Event.objects.latest("seq").at
    assert f'<span class="nc-time">{last:%H:%M:%S}.000</span> held: The provider refuses' in folded


def test_calls_in_a_row_with_one_answer_are_one_line(door: Client, waiting: Delivery) -> None:
    page = shown(door, waiting)
    assert page.count('<details class="nc-call">') == 1
    assert "Calls 1 to 17, the last at" in page


def test_a_wait_without_a_call_says_so(door: Client, make_delivery: MakeDelivery) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason=Reason.BREAKER)
    held: Line = (Status.SCHEDULED, Reason.BREAKER)
    begin = hour_ago()
    tell(delivery, [held, CLAIMED, held, CLAIMED, held], begin=begin)
    last = Event.objects.latest("seq").at
    assert f"claimed 2 times without a call, last {last:%H:%M:%S} UTC" in shown(door, delivery)


def test_retries_and_holds_of_one_outage_are_one_row(
    door: Client, make_delivery: MakeDelivery
) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason=Reason.BREAKER)
    retry: Line = (Status.RETRYING, Reason.UNAVAILABLE)
    held: Line = (Status.SCHEDULED, Reason.BREAKER)
    begin = hour_ago()
    tell(delivery, [retry, CLAIMED, retry, CLAIMED, held, CLAIMED, retry], begin=begin)
    for number, status in ((1, 503), (2, 500), (3, 503)):
        call(delivery, number, begin + dt.timedelta(seconds=10 * number + 5), status)
    last = Attempt.objects.latest("number").started_at
    page = shown(door, delivery)
    assert f"called 3 times: 2 x 503, 1 x 500; last {last:%H:%M:%S} UTC" in page


@pytest.mark.parametrize("reason", [Reason.REPLAYED, Reason.WORKER_LOST])
def test_a_replay_and_a_lost_worker_stay_rows_of_their_own(
    door: Client, make_delivery: MakeDelivery, reason: Reason
) -> None:
    delivery = make_delivery(status=Status.SCHEDULED, reason=Reason.PROVIDER_MISCONFIGURED)
    lines = [HELD, CLAIMED, HELD, (Status.QUEUED, reason), CLAIMED, HELD]
    tell(delivery, lines, begin=clock.now())
    page = shown(door, delivery)
    assert reason.sentence in page
    assert "nc-folded" not in page


def test_the_drawing_tells_many_calls_as_numbers(door: Client, waiting: Delivery) -> None:
    label = shown(door, waiting).partition('role="img" aria-label="')[2].partition('"')[0]
    assert "17 calls: misconfigured" in label
    assert len(label) < 200


def test_rows_of_several_deliveries_have_the_order_of_the_events() -> None:
    reverse("admin:index")  # the admin of other apps goes first
    from notifications.core.admin import message_timeline  # noqa: PLC0415 - imported after the others

    first, second = uuid4(), uuid4()
    lines = [(first, 1, 2), (second, 2, 2), (second, 3, 3), (first, 3, 5), (second, 4, 5)]
    events = tuple(
        Event(delivery_id=delivery, seq=seq, status=status, at=clock.now())
        for delivery, seq, status in lines
    )
    timeline = Timeline(notification=Notification(), template=None, deliveries=(), events=events)
    shown_rows = [row.event for row in message_timeline.rows(timeline)]
    assert [(each.delivery_id, each.seq, each.status) for each in shown_rows] == lines
