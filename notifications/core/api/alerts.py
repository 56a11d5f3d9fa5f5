"""`/v1/alerts`: conditions which need an operator."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock, conf
from notifications.core.api import schema
from notifications.core.api.authentication import actor_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Alert
from notifications.core.rules import alert_links
from notifications.core.rules.alerts import severity
from notifications.core.rules.request import Text
from notifications.core.store.postgres import alerts, audit

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


class AlertListView(BaseView):
    """`/v1/alerts`: list alerts."""

    @extend_schema(
        operation_id="list_alerts",
        summary="List alerts, newest first",
        parameters=schema.parameters(AlertQuery),
        responses={200: schema.page_of(AlertAnswer)},
        tags=["Operations"],
    )
    def get(self, request: Request) -> Response:
        """List alerts.

        A condition which lasts is listed once; `seen_at` is the time of the last check that found
        the condition.
        """
        query = parse_query(request, AlertQuery)
        found = Alert.objects.filter(resolved_at__isnull=not query.resolved)
        return newest_page(request, query, found, _to_answer)


def _to_answer(alert: Alert) -> dict[str, Any]:
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
    ).to_json()


class AlertAcknowledgeView(BaseView):
    """`/v1/alerts/{alert_id}/acknowledge`: acknowledge an alert."""

    @extend_schema(
        operation_id="acknowledge_alert",
        summary="Acknowledge an alert",
        request=AlertAcknowledgement,
        responses={200: AlertAnswer},
        tags=["Operations"],
    )
    @idempotent
    def post(self, request: Request, alert_id: int) -> Response:
        """Acknowledge an alert: no reminder leaves until the end of the time.

        A second call renews the time. A resolved alert stays as it is. The end of the cause
        resolves the alert as before, and a new occurrence raises a new alert.
        """
        wanted = parse_body(request.data, AlertAcknowledgement)
        this = Alert.objects.filter(pk=min(alert_id, MAX_ID))
        with audit.changes(actor_of(request), "acknowledge_alert", this):
            alerts.acknowledge(
                this,
                by=actor_of(request),
                until=clock.now() + dt.timedelta(minutes=wanted.minutes),
                owner=wanted.owner,
                note=wanted.note,
            )
        return _answer_of(this)


class AlertResolveView(BaseView):
    """`/v1/alerts/{alert_id}/resolve`: resolve an alert."""

    @extend_schema(
        operation_id="resolve_alert",
        summary="Resolve an alert",
        request=None,
        responses={200: AlertAnswer},
        tags=["Operations"],
    )
    @idempotent
    def post(self, request: Request, alert_id: int) -> Response:
        """Resolve an alert.

        A second call changes nothing. The alert is raised again if the cause lasts.
        """
        this = Alert.objects.filter(pk=min(alert_id, MAX_ID))
        with audit.changes(actor_of(request), "resolve_alert", this):
            this.filter(resolved_at=None).update(resolved_at=clock.now())
        return _answer_of(this)


def _answer_of(this: QuerySet[Alert]) -> Response:
    alert = this.first()
    if alert is None:
        raise_not_found("alert")
    return Response(_to_answer(alert))
