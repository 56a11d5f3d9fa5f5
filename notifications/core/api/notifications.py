"""`/v1/notifications`: create a notification, and list notifications."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final

from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import correlation, idempotency, problems, schema, throttle
from notifications.core.api.authentication import caller_of, caller_with, key_of, permit
from notifications.core.api.base_view import BaseView
from notifications.core.api.examples import TEMPLATE, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import AnyOf, DatedPageQuery, page
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import (
    DeliveryBrief,
    NotificationAccepted,
    NotificationLine,
    StatusWord,
)
from notifications.core.intake import accept, rejections
from notifications.core.intake.accept import IntakeRequest, Outcome, Refused, Single
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import Kind, Problem
from notifications.core.rules.request import Instant, Name, NotificationRequest, Text, UserId, parse
from notifications.core.rules.request_faults import METADATA_PAIR
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import recipients, timelines
from notifications.core.store.postgres.api_keys import KnownKey
from notifications.core.store.postgres.timelines import ListingQuery, ListingRow

RETENTION: Final = dt.timedelta(days=90)
"""Age limit of the list; older notifications are deleted."""
READY: Final = {
    "user_id": USER,
    "type": "ORDER_READY",
    "template_id": TEMPLATE,
    "variables": {"restaurant": "Burger Palace", "order_id": "ORD-4521"},
}
"""The body of an example."""
OUTCOME: Final = "notifications.outcome"
"""Key of `request.META` for the outcome of a request that the short path has charged: an error, or
what `accept.submit_one` told."""
_PATH: Final = "v1/notifications"

MetadataPair = Annotated[Text, StringConstraints(max_length=512, pattern=METADATA_PAIR)]


class ListQuery(DatedPageQuery):
    """Filters of the list of notifications."""

    user_id: UserId | None = None
    """Notifications to this recipient."""
    type: AnyOf[Name] = Field(default_factory=list)
    """Notifications of any of these types."""
    status: AnyOf[StatusWord] = Field(default_factory=list)
    """Notifications with a delivery in any of these statuses."""
    metadata: AnyOf[MetadataPair] = Field(default_factory=list)
    """`order_id:ORD-1`: notifications whose metadata has the value `ORD-1` under `order_id`.
    Several pairs must all match."""
    since: Instant | None = None
    """Notifications accepted at or after this instant."""


class SelfChargingView(BaseView):
    """Lets the function charge the producer: a batch costs as much as its items."""

    self_charging = frozenset({"POST"})


@operation(
    f"POST {_PATH}",
    "Create a notification",
    Access(Scope.NOTIFICATIONS_WRITE),
    answers={202: NotificationAccepted},
    tag="Notifications",
    is_idempotent=False,
    raw_body=NotificationRequest,
    parameters=[schema.IDEMPOTENCY_KEY],
    parts={"to": Access(Scope.NOTIFICATIONS_TO)},
    problems={Kind.UNKNOWN_RECIPIENT},
    base=SelfChargingView,
    examples={
        "minimal": Example("A template to a registered recipient", body=READY),
        "by_address": Example(
            "A template to an address",
            body={
                "to": {"phone": "+15552000042", "locale": "es"},
                "type": "ORDER_READY",
                "template_id": TEMPLATE,
                "variables": READY["variables"],
            },
        ),
        "plain_text": Example(
            "A text without a template",
            body={
                "to": {"email": "ada@sandbox.example"},
                "type": "HELLO",
                "priority": "P2",
                "content": {"title": "Hello", "body": "My first message."},
            },
        ),
        "usual": Example(
            "With channels, a time to live, metadata and an idempotency key",
            headers={"Idempotency-Key": "ord-4521-ready"},
            body={
                **READY,
                "priority": "P1",
                "channels": ["push", "sms"],
                "delivery": "first",
                "ttl_seconds": 1800,
                "collapse_key": "order-4521",
                "metadata": {"order_id": "ORD-4521"},
            },
        ),
        "with_fallback": Example(
            "A sign-in code by push, then by SMS if no receipt comes",
            body={
                **READY,
                "priority": "P0",
                "channels": ["push", "sms"],
                "fallback_chain": True,
            },
        ),
        "in_the_morning": Example(
            "At nine in the morning, on the recipient's clock",
            body={**READY, "send_at_local": "09:00"},
        ),
    },
)
def create_notification(call: Call) -> Response:
    """Accept a notification and store the notification durably.

    The response has the planned deliveries. A call with an idempotency key can be repeated for
    24 hours: the same body gets the first response again.

    While too many P3 messages of the channel wait, a new P3 notification gets 429 with the
    problem `lane-behind` and Retry-After. P0, P1, P2 and scheduled notifications are accepted.

    A new P0 or P1 SMS above a ceiling of SMS pumping protection gets 429 with the problem
    `sms-pumping-address`, `sms-pumping-prefix` or `sms-pumping-country` and Retry-After. An SMS
    to a country that the producer may not send to gets 403 with `country-not-allowed`.
    """
    view, request = call.view, call.request
    taken, quota = _accept(view, request)
    throttle.tell(view, request, quota)
    if isinstance(taken, Refused):
        raise_problem(taken.problem)
    assert taken is not None  # noqa: S101 - for mypy: `tell` has refused what was not granted
    headers = idempotency.REPLAYED if taken.replayed else None
    return Response(taken.response, status=202, headers=headers)


def single(
    environ: dict[str, Any],
    key: KnownKey,
    wanted: NotificationRequest,
    *,
    idempotency_key: str | None,
) -> Single:
    """Return a valid request for the intake stage.

    Args:
        environ: WSGI environ of the request.
        key: API key of the request.
        wanted: the body.
        idempotency_key: value of the header, which has precedence over the field of the body.
    """
    if idempotency_key is not None:
        wanted = wanted.model_copy(update={"idempotency_key": idempotency_key})
    ask = IntakeRequest(caller_with(key), wanted, correlation.traceparent_of(environ))
    return Single(ask, throttle.charge_to(key, cost=1))


def _accept(view: BaseView, request: Request) -> Outcome:
    """Accept the request, or return the outcome of the short path.

    Raises:
        ProblemError: as `_parse_request`.
        Exception: the error of the short path.
    """
    outcome: Outcome | BaseException | None = request.META.get(OUTCOME)
    if outcome is None:
        key, wanted = _parse_request(view, request)
        return accept.accept_one(single(request.META, key_of(request), wanted, idempotency_key=key))
    if isinstance(outcome, BaseException):
        raise outcome
    return outcome


def _parse_request(view: BaseView, request: Request) -> tuple[str | None, NotificationRequest]:
    """Parse header and body; an invalid request is charged here.

    Raises:
        ProblemError: the body is no valid notification, or the producer is over the rate limit.
    """
    try:
        if isinstance(request.data, dict) and request.data.get("to") is not None:
            permit(request, part="to")
        key, wanted = idempotency.header(request), parse(request.data)
    except problems.ProblemError:
        throttle.charge(view, request, cost=1)
        raise
    if isinstance(wanted, Problem):
        throttle.charge(view, request, cost=1)
        rejections.reject(caller_of(request), request.data, wanted)
        raise_problem(wanted)
    return key, wanted


@operation(
    f"GET {_PATH}",
    "List notifications, newest first",
    Access(Scope.NOTIFICATIONS_READ, BOTH, "view_notification"),
    ListQuery,
    answers={200: schema.page_of(NotificationLine)},
    tag="Notifications",
    examples={
        "minimal": Example("The latest notifications", status=200),
        "usual": Example(
            "Failed notifications of a recipient since November",
            query={
                "user_id": USER,
                "status": ["failed", "expired"],
                "since": "2026-11-01T00:00:00Z",
                "limit": 20,
            },
        ),
        "by_metadata": Example(
            "The notifications of one order",
            query={"metadata": "order_id:ORD-4521"},
        ),
    },
)
def list_notifications(call: Call, query: ListQuery) -> Response:
    """List the notifications of the key's producer and mode.

    A page can have fewer results than `limit` and still have a next page.
    """
    recipient_id = None
    if query.user_id is not None:
        recipient = recipients.find(mode=call.mode, user_id=query.user_id)
        if recipient is None:
            return page(call.request, [], following=None)
        recipient_id = recipient.pk
    oldest = clock.now() - RETENTION
    lines, following = timelines.listing(
        ListingQuery(
            mode=call.mode,
            producer_id=call.key.producer_id,
            recipient_id=recipient_id,
            types=query.type,
            statuses=query.status,
            metadata=dict(each.split(":", 1) for each in query.metadata),
            since=max(query.since or oldest, oldest),
        ),
        before=query.cursor,
        limit=query.limit,
    )
    return page(call.request, [_line(line).to_json() for line in lines], following=following)


def _line(line: ListingRow) -> NotificationLine:
    return NotificationLine(
        notification_id=line.notification_id,
        user_id=line.user_id,
        type=line.type,
        priority=line.priority,
        status=line.status,
        created_at=line.created_at,
        scheduled_at=line.scheduled_at,
        deliveries=[
            DeliveryBrief(delivery_id=delivery_id, channel=channel, status=status)
            for delivery_id, channel, status in line.deliveries
        ],
    )
