# ruff: noqa: F811 - each test asks for the imported fixture `make_rollup` by name
"""The plots, tiles and tables show the roll-ups of the time range, on each kind of page."""

from __future__ import annotations

import datetime as dt

import pytest
from django.test import Client

from notifications.core import clock
from notifications.core.operations import switches
from notifications.core.operations.switches import SwitchTarget
from notifications.core.rules.lane import Priority
from notifications.core.rules.rollups import Latency, bin_of
from notifications.core.rules.switches import SwitchKind
from providers.contract import Channel
from tests.admin.live_figures import live, sums
from tests.figures.conftest import MakeRollup, make_rollup  # noqa: F401 - the fixture

AGO = dt.timedelta(minutes=10)


@pytest.mark.parametrize(("name", "minutes"), [("15m", 1), ("1h", 1), ("6h", 5), ("24h", 60)])
def test_the_traffic_has_each_outcome_at_its_time(
    door: Client, make_rollup: MakeRollup, name: str, minutes: int
) -> None:
    at = clock.now() - AGO
    make_rollup(at, {"accepted": 9, "sent": 7})
    make_rollup(at, {"failed": 2}, reason="permanent")
    make_rollup(at, {"suppressed": 1}, reason="capped")
    plot = live(door, range=name)["plots"]["traffic"]
    assert sums(plot) == {"Sent": 7, "Failed": 2, "Not sent: opted out, capped, cancelled": 1}
    assert plot["step"] == minutes * 60_000
    place = next(number for number, value in enumerate(plot["series"][0]["values"]) if value)
    begins = dt.datetime.fromtimestamp(plot["at"][place] / 1000, dt.UTC)
    assert begins <= at < begins + dt.timedelta(minutes=minutes)


def test_the_latency_has_a_line_for_each_priority_and_its_level(
    door: Client, make_rollup: MakeRollup
) -> None:
    at = clock.now() - AGO
    sketches = {Latency.ACCEPT_TO_CALL: {bin_of(2_000): 10}}
    make_rollup(at, {"sent": 10}, sketches=sketches, priority=Priority.P0)
    plot = live(door)["plots"]["latency"]
    assert [each["name"] for each in plot["series"]] == ["P0"]
    assert max(filter(None, plot["series"][0]["values"])) == pytest.approx(2, rel=0.06)
    assert [(each["name"], each["value"]) for each in plot["limits"]][:2] == [
        ("level of P0", 3),
        ("level of P1", 10),
    ]


def test_the_tile_of_failures_counts_what_the_rate_counts(
    door: Client, make_rollup: MakeRollup
) -> None:
    make_rollup(clock.now() - AGO, {"sent": 15})
    make_rollup(clock.now() - AGO, {"expired": 1}, reason="ttl_passed", type="OTP")
    answer = live(door)["parts"]
    tiles = " ".join(answer["tiles"].split())
    assert "<dt>Failed or expired</dt> <dd>1</dd>" in tiles
    assert "6.25%" in tiles
    assert "OTP</a>" in answer["failing"]
    assert "100.0%" in answer["failing"]


def test_the_tiles_compare_with_the_time_before(door: Client, make_rollup: MakeRollup) -> None:
    make_rollup(clock.now() - AGO, {"sent": 30})
    make_rollup(clock.now() - dt.timedelta(minutes=80), {"sent": 20})
    part = live(door)["parts"]["tiles"]
    assert "+50% against before" in part


@pytest.mark.django_db
def test_a_switch_is_told_and_drawn(door: Client) -> None:
    target = SwitchTarget(kind=SwitchKind.PROVIDER, value="sandbox", channel=Channel.SMS)
    switches.set_switch(target, reason="the vendor asked", expires_at=None, by="ana")
    found = live(door)
    assert [(each["kind"], each["label"]) for each in found["annotations"]] == [
        ("switch", "Provider sandbox sms paused")
    ]
    assert "the vendor asked" in found["parts"]["verdict"]
    assert "paused by ana" in found["parts"]["providers"]
