"""`/v1/notifications`: create notifications, singly or in batches, and list notifications."""

from __future__ import annotations

import dataclasses
import datetime as dt
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Final

from drf_spectacular.utils import extend_schema
from pydantic import Field, StringConstraints
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core import clock
from notifications.core.api import correlation, idempotency, problems, schema, throttle
from notifications.core.api.authentication import caller_of, key_of, permit
from notifications.core.api.base_view import BaseView, parse_body
from notifications.core.api.pagination import AnyOf, DatedPageQuery, page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import (
    BatchAccepted,
    DeliveryBrief,
    NotificationAccepted,
    NotificationLine,
    RequestModel,
    StatusWord,
)
from notifications.core.intake import accept, checks, rejections
from notifications.core.intake.accept import (
    AcceptedRequest,
    BatchResult,
    IntakeRequest,
    Refused,
    Single,
)
from notifications.core.rules import request_faults
from notifications.core.rules.problems import Problem
from notifications.core.rules.request import (
    MAX_BATCH,
    Instant,
    Name,
    NotificationRequest,
    Text,
    UserId,
    parse,
)
from notifications.core.rules.request_faults import METADATA_PAIR
from notifications.core.store.postgres import recipients, timelines
from notifications.core.store.postgres.secret_variables import Fingerprint
from notifications.core.store.postgres.timelines import ListingQuery, ListingRow

ParsedItem = NotificationRequest | Problem
"""A parsed item of a request: a notification, or the problem with the item."""

RETENTION: Final = dt.timedelta(days=90)
"""Age limit of the list; older notifications are deleted."""
_MOST_NOTED: Final = 20
"""Maximum number of invalid items of a batch written to the operators' log."""
_RESULTS: Final = ("accepted", "duplicate", "rejected")


class BatchRequest(RequestModel):
    """Up to 1000 notifications. Every item is accepted or rejected separately."""

    notifications: Annotated[list[NotificationRequest], Field(min_length=1, max_length=MAX_BATCH)]


class _Envelope(RequestModel):
    """A batch before validation of the items: an invalid item must not fail the whole batch."""

    notifications: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)]


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


class NotificationListView(BaseView):
    """`/v1/notifications`: create and list notifications."""

    self_charging = frozenset({"POST"})

    @extend_schema(
        operation_id="create_notification",
        summary="Create a notification",
        parameters=[schema.IDEMPOTENCY_KEY],
        request=NotificationRequest,
        responses={202: NotificationAccepted},
        tags=["Notifications"],
    )
    def post(self, request: Request) -> Response:
        """Accept a notification and store the notification durably.

        The response has the planned deliveries. A call with an idempotency key can be repeated for
        24 hours: the same body gets the first response again.

        While too many P3 messages of the channel wait, a new P3 notification gets 429 with the
        problem `lane-behind` and Retry-After. P0, P1, P2 and scheduled notifications are accepted.

        A new P0 or P1 SMS above a ceiling of SMS pumping protection gets 429 with the problem
        `sms-pumping-address`, `sms-pumping-prefix` or `sms-pumping-country` and Retry-After. An SMS
        to a country that the producer may not send to gets 403 with `country-not-allowed`.
        """
        wanted = self._parse_request(request)
        ask = IntakeRequest(caller_of(request), wanted, correlation.traceparent(request))
        single = Single(ask, throttle.charge_of(request, cost=1))
        taken, quota = accept.accept_one(single)
        throttle.tell(self, request, quota)
        if isinstance(taken, Refused):
            raise_problem(taken.problem)
        assert taken is not None  # noqa: S101 - for mypy: `tell` has refused what was not granted
        return Response(taken.response, status=202, headers=_replay_header(taken.replayed))

    def _parse_request(self, request: Request) -> NotificationRequest:
        """Parse body and header; an invalid request is charged here.

        Raises:
            ProblemError: the body is no valid notification, or the producer is over the rate limit.
        """
        try:
            if isinstance(request.data, dict) and request.data.get("to") is not None:
                permit(request, part="to")
            key, wanted = idempotency.header(request), parse(request.data)
        except problems.ProblemError:
            throttle.charge(self, request, cost=1)
            raise
        if isinstance(wanted, Problem):
            throttle.charge(self, request, cost=1)
            rejections.reject(caller_of(request), request.data, wanted)
            raise_problem(wanted)
        return wanted if key is None else wanted.model_copy(update={"idempotency_key": key})

    @extend_schema(
        operation_id="list_notifications",
        summary="List notifications, newest first",
        parameters=schema.parameters(ListQuery),
        responses={200: schema.page_of(NotificationLine)},
        tags=["Notifications"],
    )
    def get(self, request: Request) -> Response:
        """List the notifications of the key's producer and mode.

        A page can have fewer results than `limit` and still have a next page.
        """
        query, key = parse_query(request, ListQuery), key_of(request)
        recipient_id = None
        if query.user_id is not None:
            recipient = recipients.find(mode=key.mode, user_id=query.user_id)
            if recipient is None:
                return page(request, [], following=None)
            recipient_id = recipient.pk
        oldest = clock.now() - RETENTION
        lines, following = timelines.listing(
            ListingQuery(
                mode=key.mode,
                producer_id=key.producer_id,
                recipient_id=recipient_id,
                types=query.type,
                statuses=query.status,
                metadata=dict(each.split(":", 1) for each in query.metadata),
                since=max(query.since or oldest, oldest),
            ),
            before=query.cursor,
            limit=query.limit,
        )
        return page(request, [_line(line).to_json() for line in lines], following=following)


class NotificationBatchView(BaseView):
    """`/v1/notifications/batch`: create many notifications."""

    self_charging = frozenset({"POST"})

    @extend_schema(
        operation_id="create_notifications",
        summary="Create up to 1000 notifications",
        parameters=[schema.IDEMPOTENCY_KEY],
        request=BatchRequest,
        responses={202: BatchAccepted},
        tags=["Notifications"],
    )
    def post(self, request: Request) -> Response:
        """Accept up to 1000 notifications.

        Every item gets a separate result; an invalid item never fails the batch.

        P3 items are rejected with the problem `lane-behind` while too many P3 messages of their
        channel wait, and P0 and P1 SMS with `sms-pumping-*` above a ceiling. A call whose items are
        all rejected so gets 429 and stores nothing.

        The Idempotency-Key header covers the whole call. The `idempotency_key` of an item covers
        the item.
        """
        items = parse_body(request.data, _Envelope).notifications
        throttle.charge(self, request, cost=len(items))
        wanted = [parse(item) for item in items]
        whole = _accept_once(request, wanted) or _accept(request, wanted)
        if not whole.replayed:
            _log_invalid_items(request, items, wanted)
        return Response(
            _to_response(whole.results), status=202, headers=_replay_header(whole.replayed)
        )


def _accept_once(request: Request, wanted: Sequence[ParsedItem]) -> BatchResult | None:
    """The answer to a batch that one key covers as a whole; None when it has no such key."""
    key = idempotency.header(request)
    if key is None:
        return None
    whole = accept.accept_once(
        caller_of(request),
        key,
        Fingerprint(idempotency.canonical(request.data)),
        wanted,
        traceparent=correlation.traceparent(request),
    )
    if isinstance(whole, Problem):
        raise_problem(whole)
    return whole


def _accept(request: Request, wanted: Sequence[ParsedItem]) -> BatchResult:
    """The answer to a batch whose items stand for themselves."""
    good = [found for found in wanted if not isinstance(found, Problem)]
    trace = correlation.traceparent(request)
    taken = iter(accept.accept(caller_of(request), good, traceparent=trace))
    results = [Refused(found) if isinstance(found, Problem) else next(taken) for found in wanted]
    problems_only = [each.problem for each in results if isinstance(each, Refused)]
    if len(problems_only) == len(results) and (lag := checks.of_all(problems_only)):
        raise_problem(lag)
    return BatchResult(results, replayed=False)


def _log_invalid_items(
    request: Request, items: Sequence[object], wanted: Sequence[ParsedItem]
) -> None:
    """Write the first invalid items of a batch to the operators' log."""
    pairs = zip(items, wanted, strict=True)
    invalid = ((item, found) for item, found in pairs if isinstance(found, Problem))
    for item, found in islice(invalid, _MOST_NOTED):
        rejections.reject(caller_of(request), item, found)


def _replay_header(replayed: bool) -> Mapping[str, str] | None:  # noqa: FBT001 - one private flag, named like the header
    return idempotency.REPLAYED if replayed else None


def _to_response(results: Sequence[AcceptedRequest | Refused]) -> dict[str, Any]:
    """The answer to a batch: what became of each item, and how often each result stands there."""
    told = list(_results(results))
    counts = Counter(each["result"] for each in told)
    return {"results": told, "summary": {word: counts[word] for word in _RESULTS}}


def _results(results: Sequence[AcceptedRequest | Refused]) -> Iterator[dict[str, Any]]:
    left = request_faults.MAX_ERRORS
    for number, result in enumerate(results):
        if isinstance(result, AcceptedRequest):
            word = "duplicate" if result.replayed else "accepted"
            yield {"result": word, "notification": result.response}
            continue
        # A rejected item always has the first error; further errors are limited per batch.
        errors = result.problem.errors[: max(1, left)]
        left -= len(errors)
        problem = dataclasses.replace(result.problem, errors=errors)
        said = problems.body(problem, within=f"/notifications/{number}")
        yield {"result": "rejected", "problem": said}


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
