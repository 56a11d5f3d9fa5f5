"""Notices: made from alerts, claimed, sent and settled.

Safe to run twice and in several processes: a unique constraint makes a notice once, and the claim
skips locked rows. After a kill the lease ends and the notice is sent again with the same key and
incident; PagerDuty and webhooks recognise the repeat. Late: notices wait as rows.
"""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

import structlog

from notifications.core import clock, conf
from notifications.core.alerting import destinations
from notifications.core.alerting.destinations import UnreadableUrl
from notifications.core.models import Alert, AlertDestination, AlertNotice
from notifications.core.rules import alert_links, alert_notices, alerts
from notifications.core.rules.alert_notices import AlertFacts, NoticeHistory
from notifications.core.rules.alerts import AlertKind
from notifications.core.store.postgres import alerts as alert_rows
from notifications.core.store.postgres import alerts as store
from providers.alert_destinations.destination import Destination, DestinationKind
from providers.alert_destinations.events import NoticeEvent
from providers.alert_destinations.notice import Notice
from providers.contract import Accepted, Misconfigured, Outcome

_log = structlog.get_logger(__name__)

DEADLINE: Final = dt.timedelta(seconds=10)
"""Of a call to a destination."""
_BATCH: Final = 50
_ALERTS: Final = 1_000
"""Alerts that one run looks at: the newest."""
_OPEN: Final = frozenset({NoticeEvent.RAISED.value, NoticeEvent.REMINDED.value})
_KEEP_INCIDENTS: Final = frozenset({DestinationKind.PAGERDUTY, DestinationKind.WEBHOOK})
"""Kinds of destinations that get the event `acknowledged`."""


def work_off(*, now: dt.datetime, limit: int) -> int:
    """Make the due notices and send up to `limit`; returns the number of tries.

    In a dry run notices are made and not sent.
    """
    alert_rows.link_causes()
    destinations.sync_environment()
    _resolve_well()
    store.drop_outdated_notices(now=now)
    _make(now)
    tried = 0
    while not conf.current().dry_run and tried < limit:
        claimed = store.claim_notices(now=max(now, clock.now()), limit=min(_BATCH, limit - tried))
        if not claimed:
            break
        _send(claimed)
        tried += len(claimed)
    return tried


def _make(now: dt.datetime) -> None:
    places = list(AlertDestination.objects.filter(is_active=True))
    if not places:
        return
    is_told = AlertNotice.objects.values("alert_id")
    rows = [
        *Alert.objects.filter(resolved_at=None).order_by("-id")[:_ALERTS],
        *Alert.objects.filter(resolved_at__isnull=False, id__in=is_told).order_by("-id")[:_ALERTS],
    ]
    histories = _histories([row.pk for row in rows])
    lately = store.notices_raised_since(now - alert_notices.FLAPPING_WITHIN)
    made = []
    for place in places:
        keeps = _keeps_incidents(place)
        for row in rows:
            if not _is_for(row, place):
                continue
            past = histories[row.pk, place.pk]
            history = _history(past, raised_lately=lately[row.kind, row.subject, place.pk])
            event = alert_notices.next_notice(_facts(row), history, keeps_incidents=keeps, now=now)
            if event is not None:
                made.append(_row(row, place, event, past, now))
    store.create_notices(made)


def _is_for(row: Alert, place: AlertDestination) -> bool:
    if row.kind == AlertKind.ALERT_DESTINATION_FAILING and row.subject == place.name:
        return False
    return alert_notices.wants(
        minimum=place.minimum_severity,
        kinds=place.kinds,
        kind=row.kind,
        severity=alerts.severity(row.kind),
    )


def _keeps_incidents(place: AlertDestination) -> bool:
    try:
        return destinations.parse_row(place).kind in _KEEP_INCIDENTS
    except (UnreadableUrl, ValueError):
        return False


def _histories(ids: Sequence[int]) -> defaultdict[tuple[int, int], list[AlertNotice]]:
    found: defaultdict[tuple[int, int], list[AlertNotice]] = defaultdict(list)
    for notice in AlertNotice.objects.filter(alert_id__in=ids).order_by("id"):
        found[notice.alert_id, notice.destination_id].append(notice)
    return found


def _history(past: Iterable[AlertNotice], *, raised_lately: int) -> NoticeHistory:
    rows = list(past)
    opened = [row for row in rows if row.event in _OPEN]
    taken = [row for row in rows if row.event == NoticeEvent.ACKNOWLEDGED]
    return NoticeHistory(
        is_tried=any(row.attempts for row in opened),
        is_waiting=any(row.due_at for row in opened),
        open_at=opened[-1].created_at if opened else None,
        acknowledged_at=taken[-1].created_at if taken else None,
        is_resolved=any(row.event == NoticeEvent.RESOLVED for row in rows),
        raised_lately=raised_lately,
    )


def _facts(row: Alert) -> AlertFacts:
    return AlertFacts(
        severity=alerts.severity(row.kind),
        raised_at=row.raised_at,
        resolved_at=row.resolved_at,
        is_covered=row.cause_id is not None,
        acknowledged_at=row.acknowledged_at,
        acknowledged_until=row.acknowledged_until,
    )


def _row(
    row: Alert,
    place: AlertDestination,
    event: NoticeEvent,
    past: Iterable[AlertNotice],
    now: dt.datetime,
) -> AlertNotice:
    number = sum(each.event == event for each in past)
    return AlertNotice(
        alert=row, destination=place, event=event.value, number=number, due_at=now, created_at=now
    )


def _send(claimed: Sequence[AlertNotice]) -> None:
    waiting: dict[object, AlertNotice] = {}
    ready: list[Notice] = []
    for row in claimed:
        try:
            place = destinations.parse_row(row.destination)
        except (UnreadableUrl, ValueError):
            _settle(row, Misconfigured(code="unreadable_url", detail="enter the URL again"))
        else:
            waiting[row.key] = row
            ready.append(_notice(row, place))
    for notice, outcome in destinations.sender().send(ready, deadline=DEADLINE):
        _settle(waiting[notice.id], outcome)


def _settle(row: AlertNotice, outcome: Outcome) -> None:
    now = clock.now()
    error = describe(outcome)
    wait = alert_notices.next_try(attempts=row.attempts, age=now - row.created_at)
    store.settle_notice(row, now=now, due_in=wait if error else None, error=error)
    _count(row.destination, now=now, error=error)
    _log.info(
        "alert_notice",
        destination=row.destination.name,
        kind=row.alert.kind,
        notice=row.event,
        attempt=row.attempts,
        error=error,
    )


def _count(place: AlertDestination, *, now: dt.datetime, error: str) -> None:
    """Count the result of a call; raise the alert about a failing destination."""
    failures = store.count_destination_result(place.pk, now=now, error=error)
    if failures >= alert_notices.FAILING_AFTER:
        detail = f"{failures} calls in a row failed: {error}"
        alert_rows.raise_once(AlertKind.ALERT_DESTINATION_FAILING, place.name, detail)


def _resolve_well() -> None:
    """Resolve the alerts about destinations that work, are off, or do not exist."""
    subjects = alert_rows.open_subjects(AlertKind.ALERT_DESTINATION_FAILING)
    if subjects:
        failing = AlertDestination.objects.filter(is_active=True, failures__gt=0)
        for subject in subjects - set(failing.values_list("name", flat=True)):
            alert_rows.resolve(AlertKind.ALERT_DESTINATION_FAILING, subject)


def describe(outcome: Outcome) -> str:
    """Return the failure of a call in words, without the URL; empty for a success."""
    if isinstance(outcome, Accepted):
        return ""
    name = type(outcome).__name__.lower()
    return " ".join(filter(None, (name, outcome.code, outcome.detail)))


def send_test(place: AlertDestination) -> Outcome:
    """Send a test alert to a destination now, and count the result.

    Raises:
        UnreadableUrl: no key decrypts the URL.
    """
    now = clock.now()
    target = destinations.parse_row(place)
    base = conf.current().public_url.rstrip("/")
    key = uuid4()
    notice = Notice(
        id=key,
        event=NoticeEvent.TEST,
        destination=target,
        incident=f"{_source()}:test:{key}",
        kind="test",
        title="A test alert",
        subject=place.name,
        severity="ticket",
        detail="An operator sent a test alert.",
        meaning="Nothing is wrong.",
        owner=place.owner,
        raised_at=now,
        at=now,
        source=_source(),
        url=f"{base}/admin/notifications/alertdestination/",
        cause_url="",
        runbook_url=f"{base}/docs/alerts.html",
    )
    [(_, outcome)] = destinations.sender().send([notice], deadline=DEADLINE)
    _count(place, now=now, error=describe(outcome))
    return outcome


def _notice(row: AlertNotice, place: Destination) -> Notice:
    alert = row.alert
    base = conf.current().public_url.rstrip("/")
    cause = alert_links.page_of(alert.kind, alert.subject)
    return Notice(
        id=row.key,
        event=NoticeEvent(row.event),
        destination=place,
        incident=f"{_source()}:{alert.pk}",
        kind=alert.kind,
        title=alert.title,
        subject=alert.subject,
        severity=alerts.severity(alert.kind).value,
        detail=alert.detail,
        meaning=alerts.sentence(alert.kind),
        owner=alert.owner,
        raised_at=alert.raised_at,
        at=row.created_at,
        source=_source(),
        url=base + alert_links.own_page_of(alert.pk),
        cause_url=base + cause if cause else "",
        runbook_url=base + alert_links.runbook_of(alert.kind),
    )


def _source() -> str:
    return urlsplit(conf.current().public_url).netloc
