"""A latency comes from the time of a receipt only if that time is possible."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.times import stages
from notifications.core.rules.times.stages import ReceivedReport, Stage, StageTime, TimeSource

ACCEPTED = dt.datetime(2026, 11, 20, 12, tzinfo=dt.UTC)
SECOND = dt.timedelta(seconds=1)


def _report(occurred: dt.timedelta | None, *, received: dt.timedelta) -> ReceivedReport:
    at = None if occurred is None else ACCEPTED + occurred
    return ReceivedReport(received_at=ACCEPTED + received, occurred_at=at)


def _of(report: ReceivedReport | None) -> tuple[StageTime, ...]:
    return stages.stage_times(
        accepted_at=ACCEPTED, called_at=None, sent_at=None, delivered=report, read=None
    )


def test_each_reached_stage_stands_in_order_with_its_seconds() -> None:
    found = stages.stage_times(
        accepted_at=ACCEPTED,
        called_at=ACCEPTED + 0.25 * SECOND,
        sent_at=ACCEPTED + SECOND,
        delivered=_report(3 * SECOND, received=7_200 * SECOND),
        read=_report(None, received=9 * SECOND),
    )
    assert [(each.stage, each.seconds_since_accept, each.source) for each in found] == [
        (Stage.ACCEPTED, 0.0, TimeSource.SERVICE),
        (Stage.CALLED, 0.25, TimeSource.SERVICE),
        (Stage.SENT, 1.0, TimeSource.SERVICE),
        (Stage.DELIVERED, 3.0, TimeSource.RECEIPT),
        (Stage.READ, 9.0, TimeSource.SERVICE),
    ]


def test_an_acceptance_that_only_the_receipt_proves_is_left_out() -> None:
    at = 10 * SECOND
    found = stages.stage_times(
        accepted_at=ACCEPTED,
        called_at=None,
        sent_at=ACCEPTED + at,
        delivered=_report(2 * SECOND, received=at),
        read=None,
    )
    assert [each.stage for each in found] == [Stage.ACCEPTED, Stage.DELIVERED]


def test_a_stage_that_was_not_reached_is_left_out() -> None:
    assert [each.stage for each in _of(None)] == [Stage.ACCEPTED]


@pytest.mark.parametrize(
    ("occurred", "seconds", "source"),
    [
        (-61, 10.0, TimeSource.SERVICE),
        (-60, 0.0, TimeSource.RECEIPT),
        (4, 4.0, TimeSource.RECEIPT),
        (70, 10.0, TimeSource.RECEIPT),
        (71, 10.0, TimeSource.SERVICE),
        (-86_400 * 365, 10.0, TimeSource.SERVICE),
    ],
)
def test_a_time_outside_the_possible_gives_way_to_our_own(
    occurred: int, seconds: float, source: TimeSource
) -> None:
    found = _of(_report(occurred * SECOND, received=10 * SECOND))[1]
    assert (found.seconds_since_accept, found.source) == (seconds, source)


@given(
    occurred=st.datetimes(timezones=st.just(dt.UTC)),
    received=st.timedeltas(dt.timedelta(0), dt.timedelta(days=90)),
)
def test_no_clock_makes_a_latency_negative_or_longer_than_the_wait_for_the_receipt(
    occurred: dt.datetime, received: dt.timedelta
) -> None:
    report = ReceivedReport(received_at=ACCEPTED + received, occurred_at=occurred)
    assert 0 <= _of(report)[1].seconds_since_accept <= round(received.total_seconds(), 3)


def test_a_clock_of_another_host_makes_no_latency_negative() -> None:
    """The web host writes the instant of accept, a worker or Postgres the others."""
    found = stages.stage_times(
        accepted_at=ACCEPTED,
        called_at=ACCEPTED - 0.2 * SECOND,
        sent_at=ACCEPTED - 0.1 * SECOND,
        delivered=_report(None, received=-0.05 * SECOND),
        read=_report(3_600 * SECOND, received=-0.01 * SECOND),
    )
    assert len(found) == len(Stage)
    assert {(each.at, each.seconds_since_accept) for each in found} == {(ACCEPTED, 0.0)}


@pytest.mark.parametrize(
    ("given_at", "kept"),
    [
        (None, None),
        (dt.datetime(2026, 11, 20, 12), None),  # noqa: DTZ001 - a time without a zone
        (dt.datetime.max.replace(tzinfo=dt.timezone(-dt.timedelta(hours=1))), None),
        (dt.datetime.min.replace(tzinfo=dt.timezone(dt.timedelta(hours=1))), None),
        (ACCEPTED.astimezone(dt.timezone(dt.timedelta(hours=3))), ACCEPTED),
    ],
)
def test_only_a_time_that_names_an_instant_is_stored(
    given_at: dt.datetime | None, kept: dt.datetime | None
) -> None:
    assert stages.storable(given_at) == kept
