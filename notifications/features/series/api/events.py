"""`/v1/events`: custom events of recipients."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import problems, throttle
from notifications.core.api.base_view import BaseView, parse_body
from notifications.core.api.examples import ANOTHER_USER, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.schemas import ProblemDetails, RequestModel, ResponseModel
from notifications.core.rules.scopes import Scope
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


class EventsView(BaseView):
    """Every event costs as much as a call."""

    self_charging = frozenset({"POST"})

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - DRF's signature
        """Charge the producer for each event, also for those of a repeated call.

        Raises:
            ProblemError: as `BaseView.initial`, or the body is no list of events (422).
        """
        super().initial(request, *args, **kwargs)
        if request.method in self.self_charging:
            throttle.charge(self, request, cost=len(parse_body(request.data, _Events).events))


@operation(
    "POST v1/events",
    "Post up to 1000 events of recipients",
    Access(Scope.EVENTS_WRITE),
    answers={202: EventResults},
    tag="Series",
    raw_body=EventsRequest,
    base=EventsView,
    examples={
        "minimal": Example(
            "Post an event", body={"events": [{"name": "order_paid", "user_id": USER}]}
        ),
        "usual": Example(
            "Post events with properties and keys",
            headers={"Idempotency-Key": "events-2026-11-23-1"},
            body={
                "events": [
                    {
                        "name": "cart_left",
                        "user_id": USER,
                        "properties": {"country": "DE", "items": 3},
                        "idempotency_key": "cart-4711-left",
                    },
                    {"name": "order_paid", "user_id": ANOTHER_USER},
                ]
            },
        ),
    },
)
def create_events(call: Call) -> Response:
    """Store events. An event can enrol in a series, end a wait or reach the goal of a series.

    Every event gets a separate result. The `idempotency_key` of an event makes a second event
    with the key a duplicate.
    """
    now = clock.now()
    items = parse_body(call.request.data, _Events).events
    asked = [custom_events.parse(item, now=now) for item in items]
    results = []
    for number, each in enumerate(events.post(call.key.producer_id, call.key.mode, asked)):
        told: dict[str, Any] = {"result": each.result.value}
        if each.problem is not None:
            told["problem"] = problems.body(each.problem, within=f"/events/{number}")
        results.append(told)
    return Response({"results": results}, status=202)
