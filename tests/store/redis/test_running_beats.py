"""Several beats of one installation are named; a restart of the only beat is not."""

from __future__ import annotations

import datetime as dt
import os
from collections.abc import Callable, Iterator

import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.models import Alert, SweepRun
from notifications.core.rules.alerts import BEAT
from notifications.core.store.postgres import fallbacks
from notifications.core.store.postgres.fallbacks import FallbackWatch
from notifications.core.store.redis import state
from notifications.core.store.redis.running_beats import RunningBeats

KEY = "beats"
_OF_TWO = f"runs 2 times, on a (process {os.getpid()}) and b (process {os.getpid()})"


@pytest.fixture(autouse=True)
def _no_beats() -> Iterator[None]:
    with state.connection() as redis:
        redis.delete(KEY)
    yield
    with state.connection() as redis:
        redis.delete(KEY)


def _known() -> int:
    with state.connection() as redis:
        return len(redis.hkeys(KEY))


def test_both_of_two_beats_name_both_hosts() -> None:
    first, second = RunningBeats("a"), RunningBeats("b")
    assert [each.fault() for each in (first, second) * 2] == ["", "", "", _OF_TWO]
    assert first.fault() == _OF_TWO


def test_a_beat_alone_and_a_restarted_beat_have_no_fault() -> None:
    before = RunningBeats("a")
    assert [before.fault() for _ in range(3)] == ["", "", ""]
    after = RunningBeats("a")
    assert {after.fault() for _ in range(10)} == {""}
    assert _known() == 1  # of the beat that runs


def test_a_missed_look_ends_no_fault_and_an_ended_beat_does() -> None:
    first, second = RunningBeats("a"), RunningBeats("b")
    for each in (first, second) * 2:
        each.fault()
    first.fault()
    assert first.fault() == _OF_TWO
    assert first.fault() == ""


def test_a_state_redis_that_loses_its_keys_hides_two_beats_for_two_looks() -> None:
    first, second = RunningBeats("a"), RunningBeats("b")
    for each in (first, second) * 2:
        each.fault()
    with state.connection() as redis:
        redis.delete(KEY)
    assert [each.fault() for each in (first, second) * 3][-2:] == [_OF_TWO, _OF_TWO]


@pytest.mark.django_db
def test_two_beats_are_an_alert_in_readyz_until_one_has_ended(
    later: Callable[[dt.timedelta], None],
) -> None:
    SweepRun.objects.create(name="relay", started_at=clock.now())
    other, watch = RunningBeats("another"), FallbackWatch(BEAT, [fallbacks.BEATS])
    for _ in range(4):
        other.fault()
        watch.look()
    assert not Alert.objects.exists()
    later(fallbacks.PATIENCE)
    other.fault()
    watch.look()
    [row] = Alert.objects.filter(resolved_at=None)
    assert row.kind == "beat_doubled"
    assert row.detail.startswith("beat runs 2 times, on ")
    assert f"another (process {os.getpid()})" in row.detail
    assert f"beat: {row.detail}" in Client().get("/readyz").json()["wrong"]
    for _ in range(3):
        watch.look()
    assert not Alert.objects.filter(resolved_at=None).exists()
