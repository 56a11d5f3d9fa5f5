"""Alerts: raised once while they last, resolved by whoever sees the end or by an operator."""

from __future__ import annotations

from django.db import connection

from notifications import clock
from notifications.models import Alert


def raise_once(kind: str, subject: str, detail: str) -> None:
    """Raise an alert, or renew the open one of this kind and subject."""
    with connection.cursor() as running:
        running.execute(
            "INSERT INTO notifications_alert (kind, subject, detail, raised_at, seen_at)"
            " VALUES (%s, %s, %s, now(), now())"
            " ON CONFLICT (kind, subject) WHERE resolved_at IS NULL"
            " DO UPDATE SET seen_at = now(), detail = excluded.detail",
            [kind, subject[:128], detail[:500]],
        )


def resolve(kind: str, subject: str) -> None:
    """The cause is gone."""
    Alert.objects.filter(kind=kind, subject=subject, resolved_at=None).update(
        resolved_at=clock.now()
    )
