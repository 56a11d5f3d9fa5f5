"""`/v1/switches`: kill switches, which hold deliveries of all producers."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any

from django.db.models import Q
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import schema
from notifications.core.api.authentication import actor_of
from notifications.core.api.base_view import MAX_ID, BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import ChannelWord, RequestModel, ResponseModel
from notifications.core.models import Switch
from notifications.core.operations import switches
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import Instant, Text
from notifications.core.rules.request_fields import AskedChannel
from notifications.core.rules.switches import SwitchKind
from notifications.core.store.postgres import audit


class SwitchQuery(NumberedPageQuery):
    """Filters of the list of switches. The default is the switches that hold deliveries now."""

    ended: bool = False
    """`true` lists resumed and expired switches instead of active switches."""


class SwitchRequest(RequestModel):
    """A switch to set."""

    kind: SwitchKind
    """The property of deliveries that the switch compares."""
    value: Annotated[Text, Field(min_length=1, max_length=64)]
    """Name of the producer, type, template, channel, provider or lane, such as `p3.email`."""
    channel: AskedChannel | None = None
    """Only for the kind `provider`: the channel. Absent: every channel of the provider."""
    reason: Annotated[Text, Field(min_length=1, max_length=200)]
    """The reason, for operators; each held delivery shows it."""
    expires_at: Instant | None = None
    """The pause ends at this instant by itself. Absent: `DELETE` ends the pause."""


class SwitchAnswer(ResponseModel):
    """A switch."""

    id: int
    kind: SwitchKind
    value: str
    channel: ChannelWord | None
    reason: str
    set_by: str
    set_at: dt.datetime
    expires_at: dt.datetime | None
    resumed_at: dt.datetime | None
    resumed_by: str


class SwitchListView(BaseView):
    """`/v1/switches`: list and set switches."""

    @extend_schema(
        operation_id="list_switches",
        summary="List switches, newest first",
        parameters=schema.parameters(SwitchQuery),
        responses={200: schema.page_of(SwitchAnswer)},
        tags=["Operations"],
    )
    def get(self, request: Request) -> Response:
        """List the switches that hold deliveries, or the ended switches."""
        query = parse_query(request, SwitchQuery)
        ended = Q(resumed_at__isnull=False) | Q(expires_at__lte=clock.now())
        found = Switch.objects.filter(ended if query.ended else ~ended)
        return newest_page(request, query, found, _to_answer)

    @extend_schema(
        operation_id="set_switch",
        summary="Hold deliveries",
        request=SwitchRequest,
        responses={201: SwitchAnswer},
        tags=["Operations"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Hold the matching live deliveries of all producers, P0 too, within two seconds.

        Requests are still accepted, and their deliveries wait. Waiting spends no attempt; the time
        to live goes on. A delivery for a held provider goes to another provider, if a route names
        one. A call that has begun is not stopped. A switch of a lane may name a test lane.
        """
        wanted = parse_body(request.data, SwitchRequest)
        by = actor_of(request)
        target = switches.SwitchTarget(kind=wanted.kind, value=wanted.value, channel=wanted.channel)
        try:
            with audit.changes(by, "set_switch") as made:
                row = switches.set_switch(
                    target, reason=wanted.reason, expires_at=wanted.expires_at, by=by
                )
                made.append(row)
        except switches.SwitchRefused as refused:
            raise_problem(refused.problem)
        return Response(_to_answer(row), status=status.HTTP_201_CREATED)


class SwitchDetailView(BaseView):
    """`/v1/switches/{switch_id}`: read and resume a switch."""

    @extend_schema(
        operation_id="get_switch",
        summary="Read a switch",
        responses={200: SwitchAnswer},
        tags=["Operations"],
    )
    def get(self, request: Request, switch_id: int) -> Response:
        """Return a switch; ended switches stay readable."""
        del request
        return Response(_to_answer(_find(switch_id)))

    @extend_schema(
        operation_id="resume_switch",
        summary="End a switch",
        request=None,
        responses={200: SwitchAnswer},
        tags=["Operations"],
    )
    @idempotent
    def delete(self, request: Request, switch_id: int) -> Response:
        """End the pause: the held deliveries leave, P0 and P1 first, P2 and P3 over some minutes.

        A second call changes nothing.
        """
        by = actor_of(request)
        this = Switch.objects.filter(pk=min(switch_id, MAX_ID))
        if this.filter(kind=SwitchKind.BULK_JOB).exists():
            raise_problem(Problem(Kind.CONFLICT, "a bulk job has this switch; resume the bulk job"))
        with audit.changes(by, "resume_switch", this):
            switches.resume(this, by=by)
        return Response(_to_answer(_find(switch_id)))


def _find(switch_id: int) -> Switch:
    row = Switch.objects.filter(pk=min(switch_id, MAX_ID)).first()
    if row is None:
        raise_not_found("switch")
    return row


def _to_answer(row: Switch) -> dict[str, Any]:
    return SwitchAnswer.model_validate(row).to_json()
