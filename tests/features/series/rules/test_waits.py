"""A wait ends on the wall clock of the recipient, also across midnight and changes of the clock."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from notifications.features.series.rules import advance
from notifications.features.series.rules.definition import WaitStep

BERLIN = "Europe/Berlin"


def _end(arrived: str, zone: str = BERLIN, **fields: Any) -> str:  # noqa: ANN401 - any field
    step = WaitStep.model_validate({"step": "wait", **fields})
    arrived_at = dt.datetime.fromisoformat(arrived)
    found = advance.end_of_wait(step, arrived_at=arrived_at, timezone=zone)
    return found.strftime("%a %Y-%m-%dT%H:%MZ")


@pytest.mark.parametrize(
    ("arrived", "fields", "end"),
    [
        ("2026-11-23T12:00Z", {"days": 1, "hours": 2, "minutes": 3}, "Tue 2026-11-24T14:03Z"),
        # 23:30 in Berlin is 22:30 UTC: the next 00:15 there lies after midnight.
        ("2026-11-23T22:30Z", {"until_local": "00:15"}, "Mon 2026-11-23T23:15Z"),
        ("2026-11-23T08:00Z", {"until_local": "09:00"}, "Mon 2026-11-23T08:00Z"),
        ("2026-11-23T08:01Z", {"until_local": "09:00"}, "Tue 2026-11-24T08:00Z"),
        ("2026-11-27T10:00Z", {"days": 1, "until_local": "09:00"}, "Sun 2026-11-29T08:00Z"),
        (
            "2026-11-27T10:00Z",
            {"until_local": "09:00", "weekdays": ["mon", "wed"]},
            "Mon 2026-11-30T08:00Z",
        ),
        # 02:30 does not exist on 29 March 2026 in Berlin: the gap ends at 01:00 UTC.
        ("2026-03-28T12:00Z", {"until_local": "02:30"}, "Sun 2026-03-29T01:00Z"),
        # 02:30 occurs twice on 25 October 2026: the first is 00:30 UTC.
        ("2026-10-24T12:00Z", {"until_local": "02:30"}, "Sun 2026-10-25T00:30Z"),
        # The wall time stays over the change of the clock.
        ("2026-03-28T10:00Z", {"days": 1, "until_local": "18:00"}, "Sun 2026-03-29T16:00Z"),
        ("2026-03-28T10:00Z", {"days": 1}, "Sun 2026-03-29T10:00Z"),
    ],
)
def test_the_end_of_a_wait(arrived: str, fields: dict[str, Any], end: str) -> None:
    assert _end(arrived.replace("Z", "+00:00"), **fields) == end


def test_a_recipient_without_a_timezone_is_in_utc() -> None:
    end = _end("2026-11-23T12:00+00:00", zone="", until_local="09:00")
    assert end == "Tue 2026-11-24T09:00Z"
