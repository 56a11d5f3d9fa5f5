"""The refusal of new P3 posts while their lane is behind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Final
from uuid import UUID

import pytest

from notifications.core import clock
from notifications.core.models import Alert, Delivery, LaneLag
from notifications.core.rules import ids
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Lane, Mode, Priority
from notifications.core.rules.states import Status
from notifications.core.store.postgres import id_ranges
from notifications.core.sweeps import lane_lag
from notifications.features.back_pressure import refusals, rules, sweep
from notifications.features.back_pressure.models import LagLimits
from providers.contract import Channel
from tests.sweeps.conftest import MakeRow

_SMS: Final = Lane(Mode.LIVE, Priority.P3, Channel.SMS)


def _run() -> None:
    id_ranges.forget()
    refusals.forget()
    sweep.run_once(now=clock.now(), limit=100)


@pytest.fixture(autouse=True)
def _old_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let rows count from their due time: a row is born just now."""
    long_ago = clock.now() - dt.timedelta(days=9)
    monkeypatch.setattr(ids, "time_of", lambda _id: long_ago)


def test_p3_posts_are_refused_above_the_limit_and_accepted_well_below(make_row: MakeRow) -> None:
    LagLimits.objects.create(channel=Channel.SMS, refuse_waiting=10)
    made = [make_row(priority=Priority.P3, channel=Channel.SMS) for _ in range(11)]
    make_row(priority=Priority.P3, channel=Channel.EMAIL)
    make_row(priority=Priority.P2, channel=Channel.SMS)
    _run()
    assert set(refusals.refusing()) == {_SMS}
    wait = refusals.refuses(_SMS)
    assert wait is not None
    assert dt.timedelta(seconds=60) <= wait <= dt.timedelta(seconds=90)
    alert = Alert.objects.get(kind=AlertKind.LANE_REFUSES_POSTS, resolved_at=None)
    assert alert.subject == "p3.sms"
    assert "11 wait" in alert.detail
    _end(made[:2])  # 9 are under the limit and over the end of the refusal
    _run()
    assert set(refusals.refusing()) == {_SMS}
    _end(made[:3])
    _run()
    assert not refusals.refusing()
    assert not Alert.objects.filter(resolved_at=None).exists()


def test_an_old_sample_refuses_nothing(make_row: MakeRow) -> None:
    LagLimits.objects.create(channel=Channel.SMS, refuse_waiting=1)
    for _ in range(2):
        make_row(priority=Priority.P3, channel=Channel.SMS)
    _run()
    assert refusals.refuses(_SMS) is not None
    LaneLag.objects.update(sampled_at=clock.now() - rules.UNKNOWN_AFTER * 2)
    refusals.forget()
    assert refusals.refuses(_SMS) is None


def test_without_the_feature_the_sweep_of_the_core_ends_the_effects(make_row: MakeRow) -> None:
    LagLimits.objects.create(channel=Channel.SMS, refuse_waiting=1, drop_waiting=1)
    for _ in range(2):
        make_row(priority=Priority.P3, channel=Channel.SMS)
    _run()
    assert refusals.refuses(_SMS) is not None
    lane_lag.run_once(now=clock.now(), limit=100)
    row = LaneLag.objects.get()
    assert (row.waiting, row.refuses_since, row.drops_since) == (2, None, None)


def _end(made: Sequence[UUID]) -> None:
    Delivery.objects.filter(id__in=made).update(status=Status.SENT, due_at=None)
