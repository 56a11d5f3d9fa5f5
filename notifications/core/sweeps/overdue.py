"""Overdue: alerts about the sweeps.

    beat_dead          no sweep has begun for half a minute
    sweep_off          an operator has switched off a periodic task
    sweep_late         a sweep has not begun for three intervals and half a minute, although others
                       have
    sweep_unfinished   a sweep began and does not end

A dead beat runs no sweep, so the web process checks on each request for `/readyz` or `/metrics`.
While the sweep `alert_notices` does not run, the web process also sends the notices.
"""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Mapping
from typing import Final, NamedTuple

import structlog
from django.db import Error, connection

from notifications.core import clock
from notifications.core.alerting import notices
from notifications.core.models import Alert, SweepRun
from notifications.core.rules.alerts import BEAT, AlertKind
from notifications.core.store.postgres import alerts, periodic_tasks, sweep_runs
from notifications.core.sweeps import SWEEPS

_log = structlog.get_logger(__name__)

_KINDS: Final = (
    AlertKind.BEAT_DEAD,
    AlertKind.SWEEP_OFF,
    AlertKind.SWEEP_LATE,
    AlertKind.SWEEP_UNFINISHED,
)
PATIENCE: Final = dt.timedelta(seconds=30)
"""Longer than a restart of beat takes."""
_INTERVALS: Final = 3
_NOTICES: Final = "alert_notices"


class Trouble(NamedTuple):
    """A problem of a sweep."""

    kind: AlertKind
    subject: str
    """The sweep's name, or `beat`."""
    text: str

    @property
    def stops_notices(self) -> bool:
        """Return True if no sweep sends the notices of alerts."""
        return self.kind is AlertKind.BEAT_DEAD or self.subject == _NOTICES


def look() -> list[Trouble]:
    """Find current problems; raise their alerts, and resolve the alerts of past problems."""
    runs = {run.name: run for run in SweepRun.objects.filter(name__in=SWEEPS)}
    now = clock.now()
    found = [*_hanging(now), *_troubles(runs, periodic_tasks.rhythms(), now=now)]
    for trouble in found:
        alerts.raise_once(trouble.kind, trouble.subject, trouble.text)
    current = {(trouble.kind.value, trouble.subject) for trouble in found}
    for kind in _KINDS:
        still_open = Alert.objects.filter(kind=kind, resolved_at=None)
        for subject in still_open.values_list("subject", flat=True):
            if (kind.value, subject) not in current:
                alerts.resolve(kind, subject)
    if any(trouble.stops_notices for trouble in found):
        _send_notices()
    return found


_sending: Final = threading.Lock()
"""Held while the process sends notices in place of the sweep."""


def _send_notices() -> None:
    """Send notices in a thread, because a destination may take seconds to answer."""
    if _sending.acquire(blocking=False):
        threading.Thread(target=_send_and_release, name="alert_notices", daemon=True).start()


def _send_and_release() -> None:
    try:
        notices.work_off(now=clock.now(), limit=SWEEPS[_NOTICES].limit)
    except Error:
        _log.exception("sweep_failed", sweep=_NOTICES)
    finally:
        connection.close()
        _sending.release()


def _hanging(now: dt.datetime) -> list[Trouble]:
    return [
        Trouble(
            AlertKind.SWEEP_UNFINISHED,
            name,
            f"{name} began {age.total_seconds():.0f} s ago and has not ended",
        )
        for name, age in sweep_runs.overdue(now=now).items()
    ]


def _troubles(
    runs: Mapping[str, SweepRun], rhythms: Mapping[str, periodic_tasks.Rhythm], *, now: dt.datetime
) -> list[Trouble]:
    off = {name for name, rhythm in rhythms.items() if not rhythm.is_on and name in SWEEPS}
    found = [
        Trouble(AlertKind.SWEEP_OFF, name, f"{name} is switched off: {SWEEPS[name].stops}")
        for name in sorted(off)
    ]
    if dead := _dead_beat(runs, now):
        return [*found, dead]
    for name, run in sorted(runs.items()):
        rhythm = rhythms.get(name)
        usual = SWEEPS[name].every
        every = rhythm.interval(usual) if rhythm else usual
        if name not in off and now - run.started_at > every * _INTERVALS + PATIENCE:
            text = f"{name} last began at {run.started_at:%Y-%m-%d %H:%M}"
            found.append(Trouble(AlertKind.SWEEP_LATE, name, text))
    return found


def _dead_beat(runs: Mapping[str, SweepRun], now: dt.datetime) -> Trouble | None:
    if not runs:
        text = "no sweep has ever run: start beat and a worker for ops"
    elif (age := min(now - run.started_at for run in runs.values())) >= PATIENCE:
        text = f"sweeps last ran {age.total_seconds():.0f} s ago: beat or the ops worker is dead"
    else:
        return None
    return Trouble(AlertKind.BEAT_DEAD, BEAT, text)
