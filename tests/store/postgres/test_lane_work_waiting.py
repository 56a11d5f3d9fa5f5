"""What waits is counted by lane and reason, and the counting is bounded."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core import clock
from notifications.core.models import Delivery
from notifications.core.rules import ids
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.rules.states import Status
from notifications.core.store.postgres import lane_work
from providers.contract import Channel

pytestmark = pytest.mark.django_db


def hold(
    count: int, reason: Reason, *, priority: Priority = Priority.P1, mode: Mode = Mode.LIVE
) -> None:
    now = clock.now()
    Delivery.objects.bulk_create(
        Delivery(
            id=ids.delivery_id(clock.new_notification_id(), 1),
            mode=mode,
            priority=priority,
            channel=Channel.SMS,
            status=Status.SCHEDULED,
            reason=reason,
            recipient_id=1,
            due_at=now + dt.timedelta(seconds=30),
        )
        for _ in range(count)
    )


def test_faults_come_before_wishes_and_urgent_lanes_before_others() -> None:
    hold(2, Reason.QUIET_HOURS)
    hold(3, Reason.BREAKER)
    hold(1, Reason.BREAKER, priority=Priority.P0)
    found = [
        (each.lane.name, each.reason, each.deliveries) for each in lane_work.waiting_by_reason()
    ]
    assert found == [
        ("p0.sms", "breaker", 1),
        ("p1.sms", "breaker", 3),
        ("p1.sms", "quiet_hours", 2),
    ]
    assert [each.is_fault for each in lane_work.waiting_by_reason()] == [True, True, False]


def test_test_mode_is_left_out() -> None:
    hold(1, Reason.BREAKER, mode=Mode.TEST)
    assert lane_work.waiting_by_reason() == []


def test_the_count_says_that_there_is_more() -> None:
    hold(lane_work.WAITING_COUNTED + 5, Reason.BREAKER)
    (found,) = lane_work.waiting_by_reason()
    assert found.deliveries == lane_work.WAITING_COUNTED
    assert found.is_bounded
