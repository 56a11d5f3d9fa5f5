"""`/v1/alerts`: conditions which need an operator."""

from __future__ import annotations

import datetime as dt
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from notifications import clock
from notifications.api import schema
from notifications.api.authentication import actor_of
from notifications.api.base_view import MAX_ID, BaseView, raise_not_found
from notifications.api.idempotency import idempotent
from notifications.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.api.schemas import ResponseModel
from notifications.models import Alert
from notifications.store.postgres import audit


class AlertQuery(NumberedPageQuery):
    """Filters of the list of alerts. The default is the open alerts."""

    resolved: bool = False
    """`true` lists resolved alerts instead of open alerts."""


class AlertAnswer(ResponseModel):
    """A condition which needs an operator."""

    id: int
    kind: str
    subject: str
    detail: str
    raised_at: dt.datetime
    seen_at: dt.datetime
    resolved_at: dt.datetime | None


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
    return AlertAnswer.model_validate(alert).to_json()


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
        alert = this.first()
        if alert is None:
            raise_not_found("alert")
        return Response(AlertAnswer.model_validate(alert).to_json())
