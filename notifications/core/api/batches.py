"""`/v1/notifications/batch`: create many notifications."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Annotated, Any, Final

from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import correlation, idempotency, problems, schema, throttle
from notifications.core.api.authentication import caller_of
from notifications.core.api.base_view import parse_body
from notifications.core.api.examples import Example
from notifications.core.api.notifications import READY, SelfChargingView
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import BatchAccepted, RequestModel
from notifications.core.intake import accept, checks, rejections
from notifications.core.intake.accept import AcceptedRequest, BatchResult, Refused
from notifications.core.rules import request_faults
from notifications.core.rules.problems import Problem
from notifications.core.rules.request import MAX_BATCH, NotificationRequest, parse
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres.secret_variables import Fingerprint

ParsedItem = NotificationRequest | Problem
"""A parsed item of a request: a notification, or the problem with the item."""
_MOST_NOTED: Final = 20
"""Maximum number of invalid items of a batch written to the operators' log."""
_RESULTS: Final = ("accepted", "duplicate", "rejected")


class BatchRequest(RequestModel):
    """Up to 1000 notifications. Every item is accepted or rejected separately."""

    notifications: Annotated[list[NotificationRequest], Field(min_length=1, max_length=MAX_BATCH)]


class _Envelope(RequestModel):
    """A batch before validation of the items: an invalid item must not fail the whole batch."""

    notifications: Annotated[list[Any], Field(min_length=1, max_length=MAX_BATCH)]


@operation(
    "POST v1/notifications/batch",
    "Create up to 1000 notifications",
    Access(Scope.NOTIFICATIONS_WRITE),
    answers={202: BatchAccepted},
    tag="Notifications",
    is_idempotent=False,
    raw_body=BatchRequest,
    parameters=[schema.IDEMPOTENCY_KEY],
    base=SelfChargingView,
    examples={
        "minimal": Example("One notification", body={"notifications": [READY]}),
        "usual": Example(
            "Two notifications, each with an idempotency key",
            body={
                "notifications": [
                    {**READY, "idempotency_key": "ord-4521-ready-1"},
                    {
                        "user_id": "u_lisa",
                        "type": "ORDER_SHIPPED",
                        "template_id": "order_shipped",
                        "variables": {"order_id": "ORD-4522", "name": "Lisa"},
                        "idempotency_key": "ord-4522-shipped",
                    },
                ]
            },
        ),
    },
)
def create_notifications(call: Call) -> Response:
    """Accept up to 1000 notifications.

    Every item gets a separate result; an invalid item never fails the batch.

    P3 items are rejected with the problem `lane-behind` while too many P3 messages of their
    channel wait, and P0 and P1 SMS with `sms-pumping-*` above a ceiling. A call whose items are
    all rejected so gets 429 and stores nothing.

    The Idempotency-Key header covers the whole call. The `idempotency_key` of an item covers
    the item.
    """
    request = call.request
    items = parse_body(request.data, _Envelope).notifications
    throttle.charge(call.view, request, cost=len(items))
    wanted = [parse(item) for item in items]
    whole = _accept_once(request, wanted) or _accept(request, wanted)
    if not whole.replayed:
        _log_invalid_items(request, items, wanted)
    headers = idempotency.REPLAYED if whole.replayed else None
    return Response(_to_response(whole.results), status=202, headers=headers)


def _accept_once(request: Request, wanted: Sequence[ParsedItem]) -> BatchResult | None:
    """Accept a batch under the Idempotency-Key of the call; return None without a key."""
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
    """Accept the valid items of a batch without a key of the call."""
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


def _to_response(results: Sequence[AcceptedRequest | Refused]) -> dict[str, Any]:
    """Return the body of the answer: the results in the order of the items, and their counts."""
    told = _results(results)
    counts = Counter([each["result"] for each in told])
    return {"results": told, "summary": {word: counts[word] for word in _RESULTS}}


def _results(results: Sequence[AcceptedRequest | Refused]) -> list[dict[str, Any]]:
    told, left = list[dict[str, Any]](), request_faults.MAX_ERRORS
    for number, result in enumerate(results):
        if isinstance(result, AcceptedRequest):
            word = "duplicate" if result.replayed else "accepted"
            told.append({"result": word, "notification": result.response})
            continue
        # A rejected item always has the first error; further errors are limited per batch.
        errors = result.problem.errors[: max(1, left)]
        left -= len(errors)
        problem = dataclasses.replace(result.problem, errors=errors)
        said = problems.body(problem, within=f"/notifications/{number}")
        told.append({"result": "rejected", "problem": said})
    return told
