"""`/v1/topics`: named groups of recipients, who are the subscribers of a topic.

Topics are company-wide, as recipients are. The first subscription creates a topic.
"""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated, Any, Final

from drf_spectacular.utils import extend_schema
from pydantic import Field, TypeAdapter, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema, throttle
from notifications.core.api.authentication import actor_of, key_of
from notifications.core.api.base_view import BaseView, parse_body, raise_not_found
from notifications.core.api.idempotency import idempotent
from notifications.core.api.pagination import NumberedPageQuery, newest_page, page, parse_query
from notifications.core.api.problems import raise_problem
from notifications.core.api.recipients import get_recipient
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Topic
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import UserId
from notifications.core.store.postgres import audit
from notifications.features.audiences.rows import estimates, topics
from notifications.features.audiences.rows.topics import SubscriptionResult
from notifications.features.audiences.rules import nodes

MAX_USER_IDS: Final = 5_000
"""User ids of one call."""
_PAID_BY: Final = 100
"""User ids that cost as much as a call."""
_NAME: Final = re.compile(r"[A-Za-z0-9_.:\-]{1,64}", re.ASCII)
_USER_ID: Final = TypeAdapter(UserId)


class SubscribersRequest(RequestModel):
    """User ids to subscribe or unsubscribe."""

    user_ids: Annotated[list[Any], Field(min_length=1, max_length=MAX_USER_IDS)]
    """User ids of recipients. A wrong or unknown user id is an error of its own."""


class SubscriberFault(ResponseModel):
    """A user id that was not changed."""

    pointer: str
    """JSON pointer of the user id in the request."""
    detail: str


class SubscribersChanged(ResponseModel):
    """The result of a call."""

    changed: int
    """Recipients that were subscribed or unsubscribed by the call."""
    unchanged: int
    """Recipients that were subscribed or unsubscribed before, or repeated in the call."""
    errors: list[SubscriberFault]


class TopicAnswer(ResponseModel):
    """A topic."""

    topic: str
    created_at: dt.datetime
    created_by: str


class TopicSizeAnswer(TopicAnswer):
    """A topic with its size."""

    subscribers: int
    is_exact: bool
    """False: the number of subscribers is an estimate."""


class SubscriberLine(ResponseModel):
    """A subscriber of a topic."""

    user_id: str


class RecipientTopics(ResponseModel):
    """The topics of a recipient."""

    topics: list[str]


class TopicListView(BaseView):
    """`/v1/topics`: list topics."""

    @extend_schema(
        operation_id="list_topics",
        summary="List topics, newest first",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(TopicAnswer)},
        tags=["Audiences"],
    )
    def get(self, request: Request) -> Response:
        """List the topics of the key's mode."""
        query = parse_query(request, NumberedPageQuery)
        rows = Topic.objects.filter(mode=key_of(request).mode, deleted_at=None)
        return newest_page(request, query, rows, lambda row: _answer(row).to_json())


class TopicDetailView(BaseView):
    """`/v1/topics/{topic}`: read and delete a topic."""

    @extend_schema(
        operation_id="get_topic",
        summary="Read a topic",
        responses={200: TopicSizeAnswer},
        tags=["Audiences"],
    )
    def get(self, request: Request, topic: str) -> Response:
        """Return a topic with the number of subscribers, exact or estimated."""
        row = _find(request, topic)
        size = estimates.estimate(nodes.InTopic(row.name), mode=key_of(request).mode)
        told = TopicSizeAnswer(
            **_answer(row).model_dump(), subscribers=size.count, is_exact=size.is_exact
        )
        return Response(told.to_json())

    @extend_schema(
        operation_id="delete_topic",
        summary="Delete a topic",
        responses={204: None},
        tags=["Audiences"],
    )
    def delete(self, request: Request, topic: str) -> Response:
        """Delete a topic with its subscriptions. An audience with the topic becomes an error."""
        row = _find(request, topic)
        with audit.changes(actor_of(request), "delete_topic", Topic.objects.filter(pk=row.pk)):
            topics.delete(row)
        return Response(status=204)


class SubscriberListView(BaseView):
    """`/v1/topics/{topic}/subscribers`: list and add subscribers."""

    @extend_schema(
        operation_id="list_subscribers",
        summary="List the subscribers of a topic",
        parameters=schema.parameters(NumberedPageQuery),
        responses={200: schema.page_of(SubscriberLine)},
        tags=["Audiences"],
    )
    def get(self, request: Request, topic: str) -> Response:
        """List the subscribers, in the order of the creation of the recipients."""
        query, row = parse_query(request, NumberedPageQuery), _find(request, topic)
        found = topics.subscribers(row, after=query.cursor or 0, limit=query.limit + 1)
        following = found[query.limit - 1][0] if len(found) > query.limit else None
        lines = [SubscriberLine(user_id=name).to_json() for _, name in found[: query.limit]]
        return page(request, lines, following=following)

    @extend_schema(
        operation_id="subscribe_recipients",
        summary="Subscribe recipients to a topic",
        request=SubscribersRequest,
        responses={200: SubscribersChanged},
        tags=["Audiences"],
    )
    def put(self, request: Request, topic: str) -> Response:
        """Subscribe up to 5,000 recipients; the first call creates the topic. Safe to repeat.

        Unknown and malformed user ids are errors with a pointer; the others are subscribed.
        """
        wanted = parse_body(request.data, SubscribersRequest)
        row = _ensure(request, topic)
        return _change_many(self, request, row, wanted, operation="subscribe_recipients")


class SubscriberDeleteView(BaseView):
    """`/v1/topics/{topic}/subscribers/delete`: remove subscribers."""

    @extend_schema(
        operation_id="unsubscribe_recipients",
        summary="Unsubscribe recipients from a topic",
        request=SubscribersRequest,
        responses={200: SubscribersChanged},
        tags=["Audiences"],
    )
    @idempotent
    def post(self, request: Request, topic: str) -> Response:
        """Unsubscribe up to 5,000 recipients. Safe to repeat."""
        wanted = parse_body(request.data, SubscribersRequest)
        row = _find(request, topic)
        return _change_many(self, request, row, wanted, operation="unsubscribe_recipients")


class SubscriberDetailView(BaseView):
    """`/v1/topics/{topic}/subscribers/{user_id}`: one subscription."""

    @extend_schema(
        operation_id="subscribe",
        summary="Subscribe a recipient to a topic",
        request=None,
        responses={204: None},
        tags=["Audiences"],
    )
    def put(self, request: Request, topic: str, user_id: str) -> Response:
        """Subscribe a recipient; the first call creates the topic. Safe to repeat."""
        recipient = get_recipient(request, user_id)
        row = _ensure(request, topic)
        _record(request, "subscribe", row, topics.subscribe(row, [recipient.user_id]))
        return Response(status=204)

    @extend_schema(
        operation_id="unsubscribe",
        summary="Unsubscribe a recipient from a topic",
        responses={204: None},
        tags=["Audiences"],
    )
    def delete(self, request: Request, topic: str, user_id: str) -> Response:
        """Unsubscribe a recipient. Safe to repeat."""
        recipient, row = get_recipient(request, user_id), _find(request, topic)
        _record(request, "unsubscribe", row, topics.unsubscribe(row, [recipient.user_id]))
        return Response(status=204)


class RecipientTopicListView(BaseView):
    """`/v1/recipients/{user_id}/topics`: the topics of a recipient."""

    @extend_schema(
        operation_id="list_recipient_topics",
        summary="List the topics of a recipient",
        responses={200: RecipientTopics},
        tags=["Recipients"],
    )
    def get(self, request: Request, user_id: str) -> Response:
        """Return the names of the topics to which a recipient is subscribed."""
        recipient = get_recipient(request, user_id)
        names = topics.names_of(recipient.pk, mode=key_of(request).mode)
        return Response(RecipientTopics(topics=names).to_json())


def _change_many(
    view: BaseView,
    request: Request,
    row: Topic,
    wanted: SubscribersRequest,
    *,
    operation: str,
) -> Response:
    throttle.charge_afterwards(view, request, cost=len(wanted.user_ids) // _PAID_BY)
    faults = {number: _fault_of(each) for number, each in enumerate(wanted.user_ids)}
    valid = [each for number, each in enumerate(wanted.user_ids) if not faults[number]]
    change = topics.subscribe if operation == "subscribe_recipients" else topics.unsubscribe
    result = change(row, valid)
    _record(request, operation, row, result)
    for number, each in enumerate(wanted.user_ids):
        if not faults[number] and each not in result.found:
            faults[number] = "unknown recipient; create the recipient first"
    errors = [
        SubscriberFault(pointer=f"/user_ids/{number}", detail=detail)
        for number, detail in faults.items()
        if detail
    ]
    unchanged = len(wanted.user_ids) - len(errors) - result.changed
    told = SubscribersChanged(changed=result.changed, unchanged=unchanged, errors=errors)
    return Response(told.to_json())


def _fault_of(user_id: object) -> str:
    try:
        _USER_ID.validate_python(user_id, strict=True)
    except ValidationError:
        return "must be a text of 1 to 128 characters"
    return ""


def _record(request: Request, operation: str, row: Topic, result: SubscriptionResult) -> None:
    """Write the number of changed subscriptions into the audit log."""
    if result.changed:
        audit.record(actor_of(request), operation, row, after={"subscribers": result.changed})


def _ensure(request: Request, name: str) -> Topic:
    """Return a topic, created if missing.

    Raises:
        ProblemError: the name has other characters (422).
    """
    if not _NAME.fullmatch(name):
        said = "the name of a topic has 1 to 64 letters, digits and the characters _ . : -"
        raise_problem(Problem(Kind.INVALID, said, (FieldError("", said),)))
    return topics.ensure(mode=key_of(request).mode, name=name, by=actor_of(request))


def _find(request: Request, name: str) -> Topic:
    row = topics.find(mode=key_of(request).mode, name=name) if _NAME.fullmatch(name) else None
    if row is None:
        raise_not_found("topic")
    return row


def _answer(row: Topic) -> TopicAnswer:
    return TopicAnswer(topic=row.name, created_at=row.created_at, created_by=row.created_by)
