"""Notices of alerts: an outbox with claim and settle, and the health of destinations."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable
from typing import Final
from uuid import uuid4

from django.db.models import F, Q

from notifications.core.models import AlertDestination, AlertNotice
from notifications.core.store.postgres import db
from providers.alert_destinations.events import NoticeEvent

LEASE: Final = dt.timedelta(seconds=120)
"""Longer than a batch takes; after a kill the notice is tried again at its end."""
State = AlertNotice.State


def claim(*, now: dt.datetime, limit: int) -> list[AlertNotice]:
    """Take due notices for one try, with alert and destination."""
    values = {"now": now, "limit": limit, "token": uuid4(), "lease": LEASE}
    ids = [row["id"] for row in db.rows("alert_notices_claim", values)]
    rows = AlertNotice.objects.filter(pk__in=ids).select_related("alert", "destination")
    return list(rows.order_by("pk"))


def settle(
    notice: AlertNotice, *, now: dt.datetime, due_in: dt.timedelta | None, error: str
) -> None:
    """Store the end of a try; a try whose lease was taken over changes nothing.

    Args:
        notice: the claimed notice.
        now: the time.
        due_in: wait before the next try; None: the notice is final.
        error: the failure; empty: the notice was sent.
    """
    state = State.WAITING if due_in is not None else State.FAILED
    values = {
        "state": state if error else State.SENT,
        "due_at": now + due_in if error and due_in is not None else None,
        "ended_at": None if error and due_in is not None else now,
        "claim_token": None,
        "error": error[:300],
    }
    AlertNotice.objects.filter(pk=notice.pk, claim_token=notice.claim_token).update(**values)


def drop_outdated(*, now: dt.datetime) -> int:
    """Drop waiting notices of resolved alerts and of inactive destinations; return the count.

    A notice under a running try stays.
    """
    is_free = Q(claim_token=None) | Q(due_at__lte=now)
    is_late = Q(alert__resolved_at__isnull=False) & ~Q(event="resolved")
    rows = AlertNotice.objects.filter(is_free, due_at__isnull=False)
    rows = rows.filter(is_late | Q(destination__is_active=False))
    ids = list(rows.values_list("pk", flat=True))
    return AlertNotice.objects.filter(is_free, pk__in=ids, due_at__isnull=False).update(
        state=State.DROPPED, due_at=None, claim_token=None, ended_at=now
    )


def create(notices: Iterable[AlertNotice]) -> None:
    """Insert notices; a notice that another process has made is left out."""
    AlertNotice.objects.bulk_create(notices, ignore_conflicts=True)


def raised_since(instant: dt.datetime) -> Counter[tuple[str, str, int]]:
    """Return (kind, subject, destination) -> notices `raised` that were made since an instant."""
    rows = AlertNotice.objects.filter(event=NoticeEvent.RAISED, created_at__gt=instant)
    return Counter(rows.values_list("alert__kind", "alert__subject", "destination_id"))


def count_result(destination_id: int, *, now: dt.datetime, error: str) -> int:
    """Count the result of a call; returns the consecutive failures."""
    row = AlertDestination.objects.filter(pk=destination_id)
    if not error:
        row.update(failures=0, last_sent_at=now)
        return 0
    row.update(failures=F("failures") + 1, last_error=error[:300], last_error_at=now)
    return row.values_list("failures", flat=True).first() or 0
