"""`/v1/alerts`: conditions which need an operator."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Final

from django.db.models import QuerySet
from pydantic import Field

from notifications.core import clock, conf
from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call
from notifications.core.api.pagination import NumberedPageQuery
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Alert
from notifications.core.rules import alert_links
from notifications.core.rules.access import LIVE
from notifications.core.rules.alerts import severity
from notifications.core.rules.request import Text
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import alerts

_COLUMNS: Final = (
    *("id", "kind", "subject", "detail", "raised_at", "seen_at", "resolved_at", "cause_id"),
    *("owner", "acknowledged_at", "acknowledged_by", "acknowledged_until", "note"),
)


class AlertQuery(NumberedPageQuery):
    """Filters of the list of alerts. The default is the open alerts."""

    resolved: bool = False
    """`true` lists resolved alerts instead of open alerts."""


class AlertAcknowledgement(RequestModel):
    """Time, owner and note of an acknowledgement."""

    minutes: Annotated[int, Field(ge=1, le=10_080)] = 240
    """Minutes without a reminder."""
    owner: Annotated[Text, Field(max_length=128)] = ""
    """Person or team that works on the alert; omitted: the owner stays, or the name of the key."""
    note: Annotated[Text, Field(max_length=500)] = ""
    """A note for other operators; omitted: the note stays."""


class AlertAnswer(ResponseModel):
    """A condition which needs an operator."""

    id: int
    kind: str
    title: str
    severity: str
    """`page`: an operator is needed now. `ticket`: during working hours."""
    subject: str
    detail: str
    raised_at: dt.datetime
    seen_at: dt.datetime
    resolved_at: dt.datetime | None
    cause_id: int | None
    """The open alert from which this alert follows."""
    owner: str
    acknowledged_at: dt.datetime | None
    acknowledged_by: str
    acknowledged_until: dt.datetime | None
    """Until then no reminder leaves."""
    note: str
    url: str
    """The alert's page in the admin."""
    cause_url: str
    """The page that shows what is ill; empty without such a page."""
    runbook_url: str


def _to_answer(alert: Alert) -> AlertAnswer:
    base = conf.current().public_url.rstrip("/")
    cause = alert_links.page_of(alert.kind, alert.subject)
    own = {name: getattr(alert, name) for name in _COLUMNS}
    return AlertAnswer(
        **own,
        title=alert.title,
        severity=severity(alert.kind).value,
        url=base + alert_links.own_page_of(alert.pk),
        cause_url=base + cause if cause else "",
        runbook_url=base + alert_links.runbook_of(alert.kind),
    )


ALERTS: Final = Resource(
    noun="alert",
    path="v1/alerts/<int:alert_id>",
    rows=lambda _call: Alert.objects.all(),
    answer=AlertAnswer,
    to_answer=_to_answer,
    tag="Operations",
)


@ALERTS.list(
    "List alerts, newest first",
    Access(Scope.OPERATIONS_READ, LIVE, "view_alert"),
    AlertQuery,
    examples={
        "minimal": Example("The open alerts"),
        "usual": Example("Ten resolved alerts", query={"resolved": "true", "limit": 10}),
    },
)
def list_alerts(_call: Call, query: AlertQuery) -> QuerySet[Alert]:
    """List alerts.

    A condition which lasts is listed once; `seen_at` is the time of the last check that found
    the condition.
    """
    return Alert.objects.filter(resolved_at__isnull=not query.resolved)


@ALERTS.change(
    "POST /acknowledge",
    "Acknowledge an alert",
    Access(Scope.OPERATIONS_WRITE, LIVE, "change_alert"),
    AlertAcknowledgement,
    examples={
        "minimal": Example("Acknowledge an alert for four hours", path={"alert_id": 91}, body={}),
        "usual": Example(
            "Acknowledge an alert for an hour, with owner and note",
            path={"alert_id": 91},
            body={"minutes": 60, "owner": "mail team", "note": "The vendor works on it."},
        ),
    },
)
def acknowledge_alert(call: Call, alert: Alert, wanted: AlertAcknowledgement) -> None:
    """Acknowledge an alert: no reminder leaves until the end of the time.

    A second call renews the time. A resolved alert stays as it is. The end of the cause
    resolves the alert as before, and a new occurrence raises a new alert.
    """
    alerts.acknowledge(
        Alert.objects.filter(pk=alert.pk),
        by=call.by,
        until=clock.now() + dt.timedelta(minutes=wanted.minutes),
        owner=wanted.owner,
        note=wanted.note,
    )


@ALERTS.change(
    "POST /resolve",
    "Resolve an alert",
    Access(Scope.OPERATIONS_WRITE, LIVE, "change_alert"),
    examples={
        "minimal": Example("Resolve an alert", path={"alert_id": 91}),
        "usual": Example(
            "Resolve an alert, with an idempotency key",
            path={"alert_id": 91},
            headers={"Idempotency-Key": "resolve-91"},
        ),
    },
)
def resolve_alert(_call: Call, alert: Alert) -> None:
    """Resolve an alert.

    A second call changes nothing. The alert is raised again if the cause lasts.
    """
    alerts.resolve_rows(Alert.objects.filter(pk=alert.pk))
