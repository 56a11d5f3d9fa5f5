"""The time of a digest: 09:00 by the recipient's clock, the same at each check."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from notifications.core.rules.times import digest_times, local_time
from notifications.core.rules.times.digest_times import DigestChoice

ZONES = st.sampled_from([
    *("", "Europe/Berlin", "America/Sao_Paulo", "Asia/Kathmandu", "Pacific/Apia"),
    *("Pacific/Kiritimati", "Africa/Casablanca", "Australia/Lord_Howe", "America/St_Johns"),
])
INSTANTS = st.integers(1_293_840_000, 2_051_222_400).map(
    lambda seconds: dt.datetime.fromtimestamp(seconds, dt.UTC)
)
PERIODS = {DigestChoice.DAILY: dt.timedelta(days=2), DigestChoice.WEEKLY: dt.timedelta(days=8)}
DIGESTS = st.sampled_from(list(PERIODS))
SHARE = st.floats(0, 1, exclude_max=True)


@given(DIGESTS, ZONES, INSTANTS)
def test_a_digest_leaves_at_nine_within_its_period(
    choice: DigestChoice, zone: str, after: dt.datetime
) -> None:
    at = digest_times.leaves_at(choice, timezone=zone, after=after)
    assert after < at <= after + PERIODS[choice]
    wall = at.astimezone(local_time.zone(zone))
    assert (wall.hour, wall.minute) == (9, 0)
    assert choice is DigestChoice.DAILY or wall.weekday() == 0


@given(DIGESTS, ZONES, INSTANTS, SHARE)
def test_messages_before_a_digest_time_share_the_digest(
    choice: DigestChoice, zone: str, after: dt.datetime, share: float
) -> None:
    at = digest_times.leaves_at(choice, timezone=zone, after=after)
    between = min(after + (at - after) * share, at - dt.timedelta(microseconds=1))
    assert digest_times.leaves_at(choice, timezone=zone, after=between) == at
    assert digest_times.leaves_at(choice, timezone=zone, after=at) > at


@pytest.mark.parametrize(
    ("after", "daily", "weekly"),
    [
        # Berlin: the clock goes back on Sunday, 25 October 2026, at 03:00.
        ("2026-10-24T12:00Z", "2026-10-25T08:00Z", "2026-10-26T08:00Z"),
        ("2026-10-23T12:00Z", "2026-10-24T07:00Z", "2026-10-26T08:00Z"),
        ("2026-10-26T07:59Z", "2026-10-26T08:00Z", "2026-10-26T08:00Z"),
        ("2026-10-26T08:00Z", "2026-10-27T08:00Z", "2026-11-02T08:00Z"),
    ],
)
def test_a_digest_follows_the_clock_change(after: str, daily: str, weekly: str) -> None:
    found = [
        digest_times.leaves_at(
            each, timezone="Europe/Berlin", after=dt.datetime.fromisoformat(after)
        )
        for each in (DigestChoice.DAILY, DigestChoice.WEEKLY)
    ]
    assert found == [dt.datetime.fromisoformat(each) for each in (daily, weekly)]


def test_the_choice_for_a_type_wins_over_the_category() -> None:
    stored = {"social": "weekly", "LIKE": "daily", "FOLLOW": "at_once", "x": "hourly"}
    digests = digest_times.read(stored)
    chosen = [
        digest_times.choice_of(digests, type_=type_, category="social")
        for type_ in ("LIKE", "FOLLOW", "COMMENT")
    ]
    assert chosen == [DigestChoice.DAILY, DigestChoice.AT_ONCE, DigestChoice.WEEKLY]
    assert digest_times.choice_of(digests, type_="x", category="") is DigestChoice.AT_ONCE
