"""Breakers: an alert whose breaker is not open any more, and events that nobody will read.

A breaker that closes by a probe resolves its alert itself. One that Redis lost, or that nobody
probed for an hour, closes without a word.
"""

from __future__ import annotations

import datetime as dt
from typing import Final

from notifications.models import Alert, BreakerEvent
from notifications.store import alerts, breakers
from notifications.sweeps.rounds import Swept
from providers.contract import Channel

_EVENTS_KEPT: Final = 10_000
"""Some weeks of a provider that is in trouble all day: a probe each half minute is 3,000 a day."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Resolve and trim, up to `limit` events. Safe at any time: it looks at what is there."""
    del now
    subjects = Alert.objects.filter(kind=breakers.ALERT, resolved_at=None)
    pairs = {subject: _pair(subject) for subject in subjects.values_list("subject", flat=True)}
    standings = breakers.standings(pairs.values())
    over = [subject for subject, pair in pairs.items() if standings[pair].since is None]
    for subject in over:
        alerts.resolve(breakers.ALERT, subject)
    newest = BreakerEvent.objects.values_list("id", flat=True).first() or 0
    past = BreakerEvent.objects.filter(id__lte=newest - _EVENTS_KEPT).values("id")[:limit]
    trimmed, _ = BreakerEvent.objects.filter(id__in=past).delete()
    return Swept(len(over) + trimmed)


def _pair(subject: str) -> tuple[str, Channel]:
    provider, _, channel = subject.rpartition(" ")
    return provider, Channel.from_label(channel)
