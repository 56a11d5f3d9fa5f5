"""The limits that abort a job count from a minimum of messages."""

from __future__ import annotations

import pytest

from notifications.features.bulk_jobs.rules import figures

_LIMITS = {"failed": 0.1, "bounced": 0.05, "complained": 0.001, "minimum": 100}


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((0, 99, 0, 0), ""),
        ((0, 100, 0, 0), "100.0% of 100 messages failed, more than the limit of 10.0%."),
        ((90, 10, 0, 0), ""),  # exactly the limit
        ((89, 11, 0, 0), "11.0% of 100 messages failed"),
        ((99, 0, 99, 99), ""),
        ((100, 0, 5, 0), ""),
        ((100, 0, 6, 0), "6.0% of 100 messages bounced"),
        ((10_000, 0, 0, 11), "0.1% of 10000 messages complained"),
    ],
)
def test_a_limit_is_passed_above_its_share(counts: tuple[int, int, int, int], said: str) -> None:
    sent, failed, bounced, complained = counts
    found = figures.breach_of(
        _LIMITS, sent=sent, failed=failed, bounced=bounced, complained=complained
    )
    assert found.startswith(said)
    assert bool(found) is bool(said)


def test_a_limit_that_is_not_set_aborts_nothing() -> None:
    assert not figures.breach_of({"minimum": 1}, sent=10, failed=10, bounced=10, complained=10)


def test_the_minimum_is_a_hundred_unless_given() -> None:
    bounced = {"bounced": 0.01}
    assert not figures.breach_of(bounced, sent=99, failed=0, bounced=99, complained=0)
    assert figures.breach_of(bounced, sent=100, failed=0, bounced=99, complained=0)
