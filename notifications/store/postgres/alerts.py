"""Alerts: one open alert for each cause, resolved by its end, by time or by an operator."""

from __future__ import annotations

import datetime as dt

from django.db import connection

from notifications import clock
from notifications.models import Alert
from notifications.rules.alerts import GONE_AFTER, RENEWED, AlertKind


def raise_once(kind: AlertKind, subject: str, detail: str) -> None:
    """Raise an alert, or renew the open alert of the same kind and subject."""
    with connection.cursor() as running:
        running.execute(
            "INSERT INTO notifications_alert (kind, subject, detail, raised_at, seen_at)"
            " VALUES (%s, %s, %s, now(), now())"
            " ON CONFLICT (kind, subject) WHERE resolved_at IS NULL"
            " DO UPDATE SET seen_at = now(), detail = excluded.detail",
            [kind.value, subject[:128], detail[:500]],
        )


def resolve(kind: AlertKind, subject: str) -> None:
    """Resolve the open alert of a kind and subject."""
    Alert.objects.filter(kind=kind, subject=subject[:128], resolved_at=None).update(
        resolved_at=clock.now()
    )


def resolve_gone(*, now: dt.datetime) -> int:
    """Resolve alerts of `RENEWED` that were not raised for `GONE_AFTER`; return the count."""
    gone = Alert.objects.filter(kind__in=RENEWED, seen_at__lt=now - GONE_AFTER, resolved_at=None)
    return gone.update(resolved_at=now)
