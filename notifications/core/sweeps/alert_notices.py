"""Alert notices: send notices of alerts to the destinations of operators."""

from __future__ import annotations

import datetime as dt

from notifications.core.alerting import notices
from notifications.core.sweeps.rounds import Swept


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Make and send notices. Safe at any time, twice and in several processes (`alerting`)."""
    return Swept(notices.work_off(now=now, limit=limit))
