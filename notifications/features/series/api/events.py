"""`/v1/events`: custom events of recipients."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import problems, throttle
from notifications.core.api.authentication import key_of
from notifications.core.api.base_view import BaseView, parse_body
from notifications.core.api.idempotency import idempotent
from notifications.core.api.schemas import ProblemDetails, RequestModel, ResponseModel
from notifications.features.series import events
from notifications.features.series.rules import custom_events
from notifications.features.series.rules.custom_events import CustomEventRequest

MAX_EVENTS: Final = 1_000


class EventsRequest(RequestModel):
    """Up to 1000 events. Every event is accepted or rejected separately."""

    events: Annotated[list[CustomEventRequest], Field(min_length=1, max_length=MAX_EVENTS)]


class _Events(RequestModel):
    """The events before their validation: an invalid event must not fail the others."""

    events: Annotated[list[Any], Field(min_length=1, max_length=MAX_EVENTS)]


class EventResult(ResponseModel):
    """The result of an event."""

    result: Literal["accepted", "duplicate", "rejected"]
    problem: ProblemDetails | None = None
    """Rejected: the problem."""


class EventResults(ResponseModel):
    """A result for every event, in order."""

    results: list[EventResult]


class CustomEventListView(BaseView):
    """`/v1/events`: post events."""

    self_charging = frozenset({"POST"})

    @extend_schema(
        operation_id="create_events",
        summary="Post up to 1000 events of recipients",
        request=EventsRequest,
        responses={202: EventResults},
        tags=["Series"],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Store events. An event can enrol in a series, end a wait or reach the goal of a series.

        Every event gets a separate result. The `idempotency_key` of an event makes a second event
        with the key a duplicate.
        """
        items = parse_body(request.data, _Events).events
        throttle.charge(self, request, cost=len(items))
        now, key = clock.now(), key_of(request)
        asked = [custom_events.parse(item, now=now) for item in items]
        results = []
        for number, each in enumerate(events.post(key.producer_id, key.mode, asked)):
            told: dict[str, Any] = {"result": each.result.value}
            if each.problem is not None:
                told["problem"] = problems.body(each.problem, within=f"/events/{number}")
            results.append(told)
        return Response({"results": results}, status=202)
