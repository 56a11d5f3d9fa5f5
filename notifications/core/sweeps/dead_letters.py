"""Dead letters: alert on growth, and delete dead letters past retention."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from typing import Final

from notifications.core import conf
from notifications.core.models import DeadLetter
from notifications.core.rules.alerts import AlertKind
from notifications.core.rules.lane import Mode, Priority
from notifications.core.rules.reasons import Reason
from notifications.core.store.postgres import alerts, dead_letters
from notifications.core.sweeps.rounds import Swept

_WINDOW: Final = dt.timedelta(minutes=5)
_URGENT_COUNTED: Final = 1_000
"""The alert counts open dead letters of P0 and P1 up to this number."""

_POISON_NAMED: Final = 8
"""Deliveries that the alert about poison names: as many as its detail holds."""


def run_once(*, now: dt.datetime, limit: int) -> Swept:
    """Raise or resolve the alerts; delete up to `limit` old dead letters. Safe at any time."""
    many = conf.current().dead_letters_alert
    fresh = DeadLetter.objects.filter(
        created_at__gte=now - _WINDOW, resolved_at=None, mode=Mode.LIVE
    )[: many + 1].count()
    if fresh > many:
        minutes = int(_WINDOW.total_seconds() / 60)
        detail = f"more than {many} deliveries gave up in {minutes} minutes; see dead letters"
        alerts.raise_once(AlertKind.DEAD_LETTERS_GROW, "", detail)
    else:
        alerts.resolve(AlertKind.DEAD_LETTERS_GROW, "")
    _alert_on_urgent()
    _alert_on_poison()
    return Swept(dead_letters.discard_older_than(conf.current().dead_letters_kept, limit=limit))


def _alert_on_urgent() -> None:
    """Raise an alert while dead letters of P0 or P1 are open."""
    urgent = DeadLetter.objects.filter(
        resolved_at=None, mode=Mode.LIVE, priority__lte=Priority.P1
    ).order_by("created_at")
    by_reason = Counter(urgent.values_list("reason", flat=True)[: _URGENT_COUNTED + 1])
    if not by_reason:
        alerts.resolve(AlertKind.URGENT_DEAD_LETTERS, "")
        return
    count = by_reason.total()
    said = f"more than {_URGENT_COUNTED}" if count > _URGENT_COUNTED else str(count)
    reasons = ", ".join(f"{reason} {times}" for reason, times in by_reason.most_common(5))
    detail = f"{said} open dead letters of P0 and P1 ({reasons}): replay or discard them"
    alerts.raise_once(AlertKind.URGENT_DEAD_LETTERS, "", detail)


def _alert_on_poison() -> None:
    """Raise an alert while live dead letters `poison` are open: each shows a bug."""
    letters = DeadLetter.objects.filter(
        resolved_at=None, mode=Mode.LIVE, reason=Reason.POISON
    ).order_by("created_at")
    found = list(letters.values_list("delivery_id", flat=True)[: _POISON_NAMED + 1])
    if not found:
        alerts.resolve(AlertKind.POISON, "")
        return
    named = ", ".join(str(each) for each in found[:_POISON_NAMED])
    more = " and more" if len(found) > _POISON_NAMED else ""
    alerts.raise_once(AlertKind.POISON, "", f"deliveries {named}{more}")
