"""[schedule_accuracy] How late scheduled notifications come to the provider.

500 notifications are scheduled over ten seconds; lateness is from each one's `scheduled_at` to the
begin of its provider call. Reported, with no target: the sweep looks each second, so half a second
is its share of the median.
"""

from __future__ import annotations

import datetime as dt
import json
import time
from threading import Event
from typing import Final

from notifications.core import clock
from notifications.core.rules.states import Status
from tests.benchmarks import load
from tests.benchmarks.figures import Figure
from tests.benchmarks.stage import PEOPLE, TEMPLATE, TYPE, Stage

_COUNT: Final = 500
_OVER: Final = dt.timedelta(seconds=10)
_LEAD: Final = dt.timedelta(seconds=5)
"""Until the first: all of them are accepted by then."""
_PATIENCE_SECONDS: Final = 60.0
_pause: Final = Event()


def measure(stage: Stage) -> Figure:
    """Measure it."""
    stage.run()
    stage.clear()
    begin = clock.now() + _LEAD
    items = [_item(number, at=begin + number * _OVER / _COUNT) for number in range(_COUNT)]
    body = json.dumps({"notifications": items}).encode()
    load.post(stage, "/v1/notifications/batch", [body], callers=1, check=_check)
    late = sorted(_lateness(stage))
    stage.clear()
    p50, p99 = (late[_COUNT * share // 100] * 1000 for share in (50, 99))
    return Figure(
        name="schedule_accuracy",
        value=p99,
        unit=f"ms p99 late, {_COUNT} over {_OVER.seconds} s",
        notes=(f"p50 {p50:.0f} ms, worst {late[-1] * 1000:.0f} ms, none early",),
    )


def _item(number: int, *, at: dt.datetime) -> dict[str, object]:
    return {
        "user_id": f"user-{number % PEOPLE}",
        "type": TYPE,
        "priority": "P1",
        "template_id": TEMPLATE,
        "variables": {"name": "Ada", "order_id": f"ORD-{number}", "items": ["a", "b"]},
        "channels": ["email"],
        "scheduled_at": at.isoformat(),
    }


def _check(answer: bytes) -> None:
    accepted = answer.count(b'"result":"accepted"')
    if accepted != _COUNT:
        raise load.Refused(f"{accepted} of {_COUNT} were accepted: {answer[:300]!r}")


def _lateness(stage: Stage) -> list[float]:
    """Seconds between the time that was asked for and the call.

    Raises:
        Undelivered: not all were sent in time, or one was sent early.
    """
    query = (
        "SELECT extract(epoch FROM d.call_started_at - n.scheduled_at)"
        " FROM delivery d JOIN notification n ON n.id = notification_of(d.id)"
        " WHERE d.status = %s AND n.scheduled_at IS NOT NULL"
    )
    deadline = time.monotonic() + _PATIENCE_SECONDS
    with stage.database() as link:
        while len(rows := link.execute(query, [Status.SENT]).fetchall()) < _COUNT:
            if time.monotonic() > deadline:
                raise load.Undelivered(f"{len(rows)} of {_COUNT} are sent")
            _pause.wait(0.5)
    late = [float(seconds) for (seconds,) in rows]
    if min(late) < 0:
        raise load.Undelivered(f"one was sent {-min(late):.1f} s early")
    return late
