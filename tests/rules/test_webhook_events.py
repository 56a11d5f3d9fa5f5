"""Retries of webhooks, and the pause of an endpoint."""

from __future__ import annotations

import datetime as dt

import pytest

from notifications.core.rules.states import Status
from notifications.core.rules.webhook_events import (
    FAILED_CALLS,
    FAILS_FOR,
    FILTERABLE,
    TOLD,
    RetryPreset,
    StatusEvent,
    is_to_pause,
    next_call,
)

_NOW = dt.datetime(2026, 11, 23, tzinfo=dt.UTC)
_SECOND = dt.timedelta(seconds=1)


def _waits(
    preset: RetryPreset, *, http_status: int | None = None, chance: float = 0.0
) -> list[float]:
    waits = []
    for made in range(1, 100):
        wait = next_call(
            preset, calls_made=made, http_status=http_status, retry_after=None, chance=chance
        )
        if wait is None:
            break
        waits.append(wait.total_seconds())
    return waits


@pytest.mark.parametrize("chance", [0.0, 0.99])
def test_standard_repeats_for_about_a_day(chance: float) -> None:
    waits = _waits(RetryPreset.STANDARD, chance=chance)
    assert len(waits) == 13
    assert waits == sorted(waits)
    assert 20 * 3600 < sum(waits) < 28 * 3600


def test_brief_repeats_three_times_and_never_a_refusal() -> None:
    assert _waits(RetryPreset.BRIEF) == [1, 2, 4]
    assert _waits(RetryPreset.BRIEF, http_status=503) == [1, 2, 4]
    assert _waits(RetryPreset.BRIEF, http_status=404) == []
    assert len(_waits(RetryPreset.STANDARD, http_status=404)) == 13
    assert _waits(RetryPreset.STANDARD, http_status=410) == []


def test_a_longer_wait_of_the_endpoint_counts() -> None:
    wait = next_call(
        RetryPreset.STANDARD,
        calls_made=1,
        http_status=429,
        retry_after=600 * _SECOND,
        chance=0.5,
    )
    assert wait == 600 * _SECOND


def test_an_endpoint_is_paused_after_an_hour_and_twenty_calls() -> None:
    long_ago = _NOW - FAILS_FOR
    assert is_to_pause(failures=FAILED_CALLS, failing_since=long_ago, now=_NOW)
    assert not is_to_pause(failures=FAILED_CALLS - 1, failing_since=long_ago, now=_NOW)
    assert not is_to_pause(failures=FAILED_CALLS, failing_since=long_ago + _SECOND, now=_NOW)
    assert not is_to_pause(failures=FAILED_CALLS, failing_since=None, now=_NOW)


def test_each_event_is_told_and_no_claim_or_retry_is() -> None:
    # These events come from the statements that invalidate a contact, store an action, or change
    # a bulk job.
    others = {StatusEvent.CONTACT_INVALIDATED, StatusEvent.INBOX_ACTION}
    others |= {each for each in StatusEvent if each.startswith("bulk_job.")}
    assert {each.event for each in TOLD} == set(FILTERABLE) - others
    silent = {Status.SENDING, Status.RETRYING, Status.UNCONFIRMED, Status.UNKNOWN}
    assert silent == set(Status) - {each.status for each in TOLD}
