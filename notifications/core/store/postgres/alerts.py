"""Alerts: one open alert for each cause, resolved by its end, by time or by an operator.

The notices of alerts are an outbox with claim and settle.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Container, Iterable
from functools import partial
from typing import Final
from uuid import uuid4

from django.db import connection
from django.db.models import F, Q, QuerySet

from notifications.core import clock
from notifications.core.models import Alert, AlertDestination, AlertNotice
from notifications.core.rules.alert_causes import OpenAlert, causes
from notifications.core.rules.alerts import (
    OF_SWEEPS,
    RENEWED,
    WITH_BREAKER,
    AlertKind,
    gone_after,
)
from notifications.core.store.postgres import db
from providers import graphemes
from providers.alert_destinations.events import NoticeEvent

SUBJECT_LENGTH: Final = 128
"""Characters of a subject; a longer subject is cut."""
_LINKED: Final = 1_000
"""Open alerts compared at most: the newest."""
_OWNER: Final = 128
_NOTE: Final = 500
_DETAIL: Final = 500
"""Characters of the columns."""

NOTICE_LEASE: Final = dt.timedelta(seconds=120)
"""Longer than a batch takes; after a kill the notice is tried again at its end."""
NoticeState = AlertNotice.State


def raise_once(kind: AlertKind, subject: str, detail: str) -> None:
    """Raise an alert, or renew the open alert of the same kind and subject.

    An open transaction locks the alert until the commit, so only an alert about the row that the
    transaction changes is raised in it; `raise_after_commit` raises any other alert.
    """
    with connection.cursor() as running:
        running.execute(
            "INSERT INTO notifications_alert (kind, subject, detail, raised_at, seen_at)"
            " VALUES (%s, %s, %s, now(), now())"
            " ON CONFLICT (kind, subject) WHERE resolved_at IS NULL"
            " DO UPDATE SET seen_at = now(), detail = excluded.detail",
            [kind.value, subject[:SUBJECT_LENGTH], graphemes.cut(detail, _DETAIL)],
        )


def raise_after_commit(kind: AlertKind, subject: str, detail: str) -> None:
    """Raise an alert as `raise_once`, after the commit of an open transaction, else at once.

    An error of the database is logged.
    """
    db.after_commit(partial(raise_once, kind, subject, detail))


def resolve(kind: AlertKind, subject: str) -> None:
    """Resolve the open alert of a kind and subject."""
    Alert.objects.filter(kind=kind, subject=subject[:SUBJECT_LENGTH], resolved_at=None).update(
        resolved_at=clock.now()
    )


def resolve_each(subjects: Iterable[tuple[AlertKind, str]]) -> None:
    """Resolve the open alerts of kinds and subjects in one statement."""
    wanted = Q()
    for kind, subject in subjects:
        wanted |= Q(kind=kind, subject=subject[:SUBJECT_LENGTH])
    if wanted:
        Alert.objects.filter(wanted, resolved_at=None).update(resolved_at=clock.now())


def resolve_rows(alerts: QuerySet[Alert]) -> int:
    """Resolve open alerts; return the count."""
    return alerts.filter(resolved_at=None).update(resolved_at=clock.now())


def resolve_gone(*, now: dt.datetime, paused: Iterable[str]) -> int:
    """Resolve alerts of `RENEWED` not raised for `gone_after`; return the count.

    Alerts of `WITH_BREAKER` with a subject in `paused` stay open.
    """
    is_gone = Q()
    for kind in RENEWED:
        is_gone |= Q(kind=kind, seen_at__lt=now - gone_after(kind))
    gone = Alert.objects.filter(is_gone, resolved_at=None).exclude(
        kind__in=WITH_BREAKER, subject__in=list(paused)
    )
    return gone.update(resolved_at=now)


def resolve_removed(*, kinds: Container[str], sweeps: Container[str]) -> None:
    """Resolve the alerts that no installed app resolves: of other kinds, and about other sweeps."""
    for alert in Alert.objects.filter(resolved_at=None):
        if alert.kind not in kinds or (alert.kind in OF_SWEEPS and alert.subject not in sweeps):
            Alert.objects.filter(pk=alert.pk).update(resolved_at=clock.now())


def open_subjects(kind: AlertKind) -> set[str]:
    """Return the subjects of the open alerts of a kind."""
    return set(Alert.objects.filter(kind=kind, resolved_at=None).values_list("subject", flat=True))


def open_details(kinds: Iterable[AlertKind]) -> dict[str, str]:
    """Return the detail of the open alerts of kinds by subject."""
    rows = Alert.objects.filter(kind__in=list(kinds), resolved_at=None)
    return dict(rows.values_list("subject", "detail"))


def open_causes() -> QuerySet[Alert]:
    """Return the open alerts that no other open alert covers, newest first."""
    return Alert.objects.filter(resolved_at=None, cause=None)


def link_causes() -> None:
    """Set the cause of each open alert (`rules.alert_causes.COVERED`). Safe at any time.

    Only the sweep of the notices calls the function, outside any transaction: a settle that
    updated alerts of other causes could deadlock with another settle.
    """
    rows = Alert.objects.filter(resolved_at=None).order_by("-id")[:_LINKED]
    stored = {row.id: row for row in rows}
    found = causes(OpenAlert(row.id, row.kind, row.subject) for row in stored.values())
    for alert_id, row in stored.items():
        if row.cause_id != found.get(alert_id):
            Alert.objects.filter(pk=alert_id).update(cause=found.get(alert_id))


def acknowledge(
    alerts: QuerySet[Alert], *, by: str, until: dt.datetime, owner: str = "", note: str = ""
) -> int:
    """Acknowledge open alerts until an instant; return the count.

    An empty `owner` keeps the owner, or sets `by` for an alert without an owner. An empty `note`
    keeps the note.
    """
    count = 0
    for alert in alerts.filter(resolved_at=None):
        changed = Alert.objects.filter(pk=alert.pk, resolved_at=None).update(
            acknowledged_at=clock.now(),
            acknowledged_by=by[:_OWNER],
            acknowledged_until=until,
            owner=(owner or alert.owner or by)[:_OWNER],
            note=graphemes.cut(note or alert.note, _NOTE),
        )
        count += changed
    return count


def claim_notices(*, now: dt.datetime, limit: int) -> list[AlertNotice]:
    """Take due notices for one try, with alert and destination."""
    values = {"now": now, "limit": limit, "token": uuid4(), "lease": NOTICE_LEASE}
    ids = [row["id"] for row in db.rows("alert_notices_claim", values)]
    rows = AlertNotice.objects.filter(pk__in=ids).select_related("alert", "destination")
    return list(rows.order_by("pk"))


def settle_notice(
    notice: AlertNotice, *, now: dt.datetime, due_in: dt.timedelta | None, error: str
) -> None:
    """Store the end of a try; a try whose lease was taken over changes nothing.

    Args:
        notice: the claimed notice.
        now: the time.
        due_in: wait before the next try; None: the notice is final.
        error: the failure; empty: the notice was sent.
    """
    state = NoticeState.WAITING if due_in is not None else NoticeState.FAILED
    values = {
        "state": state if error else NoticeState.SENT,
        "due_at": now + due_in if error and due_in is not None else None,
        "ended_at": None if error and due_in is not None else now,
        "claim_token": None,
        "error": error[:300],
    }
    AlertNotice.objects.filter(pk=notice.pk, claim_token=notice.claim_token).update(**values)


def drop_outdated_notices(*, now: dt.datetime) -> int:
    """Drop waiting notices of resolved alerts and of inactive destinations; return the count.

    A notice under a running try stays.
    """
    is_free = Q(claim_token=None) | Q(due_at__lte=now)
    is_late = Q(alert__resolved_at__isnull=False) & ~Q(event="resolved")
    rows = AlertNotice.objects.filter(is_free, due_at__isnull=False)
    rows = rows.filter(is_late | Q(destination__is_active=False))
    ids = list(rows.values_list("pk", flat=True))
    return AlertNotice.objects.filter(is_free, pk__in=ids, due_at__isnull=False).update(
        state=NoticeState.DROPPED, due_at=None, claim_token=None, ended_at=now
    )


def create_notices(notices: Iterable[AlertNotice]) -> None:
    """Insert notices; an existing notice is left out."""
    AlertNotice.objects.bulk_create(notices, ignore_conflicts=True)


def notices_raised_since(instant: dt.datetime) -> Counter[tuple[str, str, int]]:
    """Return (kind, subject, destination) -> notices `raised` made since an instant."""
    rows = AlertNotice.objects.filter(event=NoticeEvent.RAISED, created_at__gt=instant)
    return Counter(rows.values_list("alert__kind", "alert__subject", "destination_id"))


def count_destination_result(destination_id: int, *, now: dt.datetime, error: str) -> int:
    """Count the result of a call; returns the consecutive failures."""
    row = AlertDestination.objects.filter(pk=destination_id)
    if not error:
        row.update(failures=0, last_sent_at=now)
        return 0
    row.update(failures=F("failures") + 1, last_error=error[:300], last_error_at=now)
    return row.values_list("failures", flat=True).first() or 0
