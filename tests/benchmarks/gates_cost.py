"""[gates_cost] What the gates cost a delivery when everybody has wishes.

The whole pipeline as in [pipeline_http]. On one side each recipient has quiet hours in a timezone
of their own (none of them now), switched-off channels and categories, and a do-not-disturb that is
over; on the other nobody has said anything. What the gates find is the same: all may leave.
"""

from __future__ import annotations

import datetime as dt
import json
import zoneinfo
from typing import Final

from notifications.core import clock
from providers.contract import Channel
from tests.benchmarks import costs, pipeline
from tests.benchmarks.figures import PAIRS, Figure, paired
from tests.benchmarks.stage import Stage

_COUNT: Final = 20_000
_TARGET: Final = 1.25
_ZONES: Final = (
    *("America/Sao_Paulo", "America/New_York", "America/Los_Angeles", "Europe/Berlin"),
    *("Europe/London", "Africa/Lagos", "Asia/Kolkata", "Asia/Tokyo", "Australia/Lord_Howe", "UTC"),
)
_LATER: Final = dt.timedelta(hours=6)
"""From now until their quiet hours: longer than any run."""
_LENGTH: Final = dt.timedelta(hours=9)
_GIVE: Final = """
    INSERT INTO notifications_preference (recipient_id, channels_off, channel_order, categories_off,
                                          quiet_hours, do_not_disturb_until, caps, updated_at)
    SELECT id, %s, %s, '{marketing,social}', %s, now() - interval '1 hour',
           '{"email": "900000/hour"}', now()
    FROM notifications_recipient WHERE timezone = %s
"""


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    spent = {name: costs.Meter() for name in ("warm", "wishes", "none")}

    def microseconds(name: str) -> float:
        return 1e6 / pipeline.rate(stage, spent[name], count=_COUNT)

    def with_wishes() -> float:
        _take_wishes(stage)
        _give_wishes(stage)
        return microseconds("wishes")

    def without() -> float:
        _take_wishes(stage)
        return microseconds("none")

    try:
        microseconds("warm")
        found = paired(ours=with_wishes, theirs=without)
    finally:
        _take_wishes(stage)
    return Figure(
        name="gates_cost",
        value=found.ours,
        unit="us a delivery, everybody has wishes",
        baseline="us a delivery, nobody has",
        baseline_value=found.theirs,
        ratio=found.ratio,
        target=f"<= {_TARGET}x",
        met=found.ratio <= _TARGET,
        notes=tuple(f"{name}: {spent[name].each(PAIRS * _COUNT)}" for name in ("wishes", "none")),
    )


def _give_wishes(stage: Stage) -> None:
    now = clock.now()
    with stage.database() as link:
        for number, zone in enumerate(_ZONES):
            start = now.astimezone(zoneinfo.ZoneInfo(zone)) + _LATER
            night = {"start": f"{start:%H:%M}", "end": f"{start + _LENGTH:%H:%M}"}
            windows = [
                {**night, "days": ["mon", "tue", "wed", "thu", "fri"]},
                {**night, "days": ["sat", "sun"], "channels": ["push", "email"]},
                {"start": "00:00", "end": "12:00", "channels": ["push"]},
            ]
            link.execute(
                "UPDATE notifications_recipient SET timezone = %s WHERE id %% %s = %s",
                [zone, len(_ZONES), number],
            )
            link.execute(
                _GIVE,
                [
                    [int(Channel.SMS)],
                    [int(Channel.EMAIL), int(Channel.PUSH)],
                    json.dumps(windows),
                    zone,
                ],
            )
        link.execute("ANALYZE notifications_preference")


def _take_wishes(stage: Stage) -> None:
    with stage.database() as link:
        link.execute("DELETE FROM notifications_preference")
        link.execute("UPDATE notifications_recipient SET timezone = 'UTC' WHERE timezone <> 'UTC'")
