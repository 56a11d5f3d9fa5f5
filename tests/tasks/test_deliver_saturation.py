"""Slots that stay busy for minutes are an alert; a free slot at one look is none."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest

from notifications.core import clock
from notifications.core.models import Alert
from notifications.core.rules.alerts import GONE_AFTER
from notifications.core.store.postgres import alerts
from notifications.core.tasks.deliver import BUSY_FOR, SlotWatch, work_of
from notifications.core.tasks.slots import Slots

pytestmark = pytest.mark.django_db


def _told() -> dict[str, str]:
    rows = Alert.objects.filter(kind="workers_busy", resolved_at=None)
    return dict(rows.values_list("subject", "detail"))


def test_a_worker_whose_slots_stay_busy_is_an_alert_until_one_is_free(
    later: Callable[[dt.timedelta], None],
) -> None:
    shares = {"": (16, 16), "sms": (3, 8)}
    watch = SlotWatch("worker@host", "P0", shares=lambda: shares)
    watch.look()
    later(BUSY_FOR - dt.timedelta(seconds=10))
    watch.look()
    assert _told() == {}, "a wave of minutes"
    later(dt.timedelta(seconds=11))
    watch.look()
    [(subject, detail)] = _told().items()
    assert subject == "P0"
    assert detail.startswith("worker@host has had 16 of 16 slots busy at each look since")
    shares[""] = (15, 16)
    watch.look()
    assert alerts.resolve_gone(now=clock.now() + GONE_AFTER * 2, paused=()) == 1
    shares[""] = (16, 16)
    watch.look()
    later(dt.timedelta(seconds=10))
    watch.look()
    assert _told() == {}, "the time begins anew"


def test_the_slots_of_a_channel_that_stay_busy_are_an_alert_beside_free_slots(
    later: Callable[[dt.timedelta], None],
) -> None:
    slots = Slots()
    slots.limit(4, queues=["p0.sms", "p0.push"])
    watch = SlotWatch("worker@host", "P0", shares=slots.of_channels)
    assert [slots.take("p0.sms") for _ in range(3)] == [True, True, False]
    watch.look()
    later(BUSY_FOR)
    watch.look()
    assert list(_told()) == ["P0 sms"]


@pytest.mark.parametrize(
    ("queues", "work"),
    [
        (["p0.sms", "test.p0.sms"], "P0 sms"),
        (["p2.email", "p3.email"], "P2 P3 email"),
        ([f"p0.{each}" for each in ("push", "sms", "email", "in_app", "webhook", "chat")], "P0"),
        (["tell", "ops"], "ops tell"),
    ],
)
def test_workers_with_the_same_queues_share_an_alert(queues: list[str], work: str) -> None:
    assert work_of(queues) == work
