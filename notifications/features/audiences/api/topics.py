"""`/v1/topics`: named groups of recipients, the subscribers of a topic.

Topics are company-wide, as recipients are. The first subscription creates a topic.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import Annotated, Any, Final

from django.db.models import QuerySet
from pydantic import Field, TypeAdapter, ValidationError
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.examples import ANOTHER_USER, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import NumberedPageQuery, page
from notifications.core.api.problems import raise_problem
from notifications.core.api.resource import Resource
from notifications.core.api.schemas import RequestModel, ResponseModel
from notifications.core.models import Topic
from notifications.core.rules.access import BOTH
from notifications.core.rules.problems import FieldError, Kind, Problem
from notifications.core.rules.request import UserId
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import audit, db
from notifications.features.audiences.rows import estimates, topics
from notifications.features.audiences.rows.topics import SubscriptionResult
from notifications.features.audiences.rules import nodes

_TOPIC: Final = {"topic": "artist-17"}
_SUBSCRIBER: Final = {**_TOPIC, "user_id": USER}

_READERS: Final = Access(Scope.RECIPIENTS_READ, BOTH, "view_recipient")
MAX_USER_IDS: Final = 5_000
"""User ids of one call."""
_PAID_BY: Final = 100
"""User ids that cost as much as a call."""
_NAME: Final = re.compile(r"[A-Za-z0-9_.:\-]{1,64}", re.ASCII)
_Change = Callable[[Topic, Sequence[str]], SubscriptionResult]
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


def _to_answer(row: Topic) -> TopicAnswer:
    return TopicAnswer(topic=row.name, created_at=row.created_at, created_by=row.created_by)


TOPICS: Final = Resource(
    noun="topic",
    path="v1/topics/<str:topic>",
    key="name",
    rows=lambda call: Topic.objects.filter(mode=call.key.mode, deleted_at=None),
    answer=TopicAnswer,
    to_answer=_to_answer,
    tag="Audiences",
)


@TOPICS.list(
    "List topics, newest first",
    _READERS,
    NumberedPageQuery,
    examples={
        "minimal": Example("The latest topics"),
        "usual": Example("Ten topics", query={"limit": 10}),
    },
)
def list_topics(call: Call, _query: NumberedPageQuery) -> QuerySet[Topic]:
    """List the topics of the key's mode."""
    return TOPICS.rows(call)


@operation(
    f"GET {TOPICS.path}",
    "Read a topic",
    _READERS,
    answers={200: TopicSizeAnswer},
    tag=TOPICS.tag,
    examples={
        "minimal": Example("A topic with its size", path=_TOPIC),
        "usual": Example("Another topic", path={"topic": "news"}),
    },
)
def get_topic(call: Call) -> TopicSizeAnswer:
    """Return a topic with the number of subscribers, exact or estimated."""
    row = TOPICS.find(call)
    size = estimates.estimate(nodes.InTopic(row.name), mode=call.key.mode)
    told = _to_answer(row).model_dump()
    return TopicSizeAnswer(**told, subscribers=size.count, is_exact=size.is_exact)


@TOPICS.change(
    "DELETE",
    "Delete a topic",
    Access(Scope.RECIPIENTS_WRITE),
    answers={204: None},
    examples={
        "minimal": Example("Delete a topic", path=_TOPIC),
        "usual": Example("Delete another topic", path={"topic": "news"}),
    },
)
def delete_topic(_call: Call, topic: Topic) -> None:
    """Delete a topic with its subscriptions. An audience with the topic becomes an error."""
    topics.delete(topic)


@operation(
    f"GET {TOPICS.path}/subscribers",
    "List the subscribers of a topic",
    _READERS,
    NumberedPageQuery,
    answers={200: schema.page_of(SubscriberLine)},
    tag=TOPICS.tag,
    examples={
        "minimal": Example("The first subscribers", path=_TOPIC),
        "usual": Example("Ten subscribers", path=_TOPIC, query={"limit": 10}),
    },
)
def list_subscribers(call: Call, query: NumberedPageQuery) -> Response:
    """List the subscribers, in the order of the creation of the recipients."""
    row = TOPICS.find(call)
    found = topics.subscribers(row, after=query.cursor or 0, limit=query.limit + 1)
    following = found[query.limit - 1][0] if len(found) > query.limit else None
    lines = [SubscriberLine(user_id=name).to_json() for _, name in found[: query.limit]]
    return page(call.request, lines, following=following)


@operation(
    f"PUT {TOPICS.path}/subscribers",
    "Subscribe recipients to a topic",
    Access(Scope.RECIPIENTS_WRITE),
    SubscribersRequest,
    answers={200: SubscribersChanged},
    tag=TOPICS.tag,
    examples={
        "minimal": Example("Subscribe a recipient", path=_TOPIC, body={"user_ids": [USER]}),
        "usual": Example(
            "Subscribe two recipients; an unknown user id is an error of its own",
            path=_TOPIC,
            body={"user_ids": [USER, ANOTHER_USER, "u_unknown"]},
        ),
    },
)
def subscribe_recipients(call: Call, wanted: SubscribersRequest) -> SubscribersChanged:
    """Subscribe up to 5,000 recipients; the first call creates the topic. Safe to repeat.

    Unknown and malformed user ids are errors with a pointer; the others are subscribed.
    """
    return _change_many(call, _ensure(call), wanted, topics.subscribe)


@operation(
    f"POST {TOPICS.path}/subscribers/delete",
    "Unsubscribe recipients from a topic",
    Access(Scope.RECIPIENTS_WRITE),
    SubscribersRequest,
    answers={200: SubscribersChanged},
    tag=TOPICS.tag,
    examples={
        "minimal": Example("Unsubscribe a recipient", path=_TOPIC, body={"user_ids": [USER]}),
        "usual": Example(
            "Unsubscribe two recipients, with an idempotency key",
            path=_TOPIC,
            headers={"Idempotency-Key": "unsubscribe-17"},
            body={"user_ids": [USER, ANOTHER_USER]},
        ),
    },
)
def unsubscribe_recipients(call: Call, wanted: SubscribersRequest) -> SubscribersChanged:
    """Unsubscribe up to 5,000 recipients. Safe to repeat."""
    return _change_many(call, TOPICS.find(call), wanted, topics.unsubscribe)


@operation(
    f"PUT {TOPICS.path}/subscribers/<str:user_id>",
    "Subscribe a recipient to a topic",
    Access(Scope.RECIPIENTS_WRITE),
    answers={204: None},
    tag=TOPICS.tag,
    problems={Kind.INVALID},
    examples={
        "minimal": Example("Subscribe a recipient", path=_SUBSCRIBER),
        "usual": Example(
            "The first subscriber of a new topic",
            path={"topic": "artist-18", "user_id": ANOTHER_USER},
        ),
    },
)
def subscribe(call: Call) -> None:
    """Subscribe a recipient; the first call creates the topic. Safe to repeat."""
    recipient = call.recipient()
    row = _ensure(call)
    _change(call, row, [recipient.user_id], topics.subscribe)


@operation(
    f"DELETE {TOPICS.path}/subscribers/<str:user_id>",
    "Unsubscribe a recipient from a topic",
    Access(Scope.RECIPIENTS_WRITE),
    answers={204: None},
    tag=TOPICS.tag,
    examples={
        "minimal": Example("Unsubscribe a recipient", path=_SUBSCRIBER),
        "usual": Example(
            "A recipient who is no subscriber", path={"topic": "artist-17", "user_id": ANOTHER_USER}
        ),
    },
)
def unsubscribe(call: Call) -> None:
    """Unsubscribe a recipient. Safe to repeat."""
    recipient = call.recipient()
    row = TOPICS.find(call)
    _change(call, row, [recipient.user_id], topics.unsubscribe)


@operation(
    "GET v1/recipients/<str:user_id>/topics",
    "List the topics of a recipient",
    _READERS,
    answers={200: RecipientTopics},
    tag="Recipients",
    examples={
        "minimal": Example("The topics of a recipient", path={"user_id": USER}),
        "usual": Example("A recipient without topics", path={"user_id": ANOTHER_USER}),
    },
)
def list_recipient_topics(call: Call) -> RecipientTopics:
    """Return the names of the topics to which a recipient is subscribed."""
    recipient = call.recipient()
    return RecipientTopics(topics=topics.names_of(recipient.pk, mode=call.key.mode))


def _change_many(
    call: Call,
    row: Topic,
    wanted: SubscribersRequest,
    change: _Change,
) -> SubscribersChanged:
    call.charge(len(wanted.user_ids) // _PAID_BY)
    faults = {number: _fault_of(each) for number, each in enumerate(wanted.user_ids)}
    valid = [each for number, each in enumerate(wanted.user_ids) if not faults[number]]
    result = _change(call, row, valid, change)
    for number, each in enumerate(wanted.user_ids):
        if not faults[number] and each not in result.found:
            faults[number] = "unknown recipient; create the recipient first"
    errors = [
        SubscriberFault(pointer=f"/user_ids/{number}", detail=detail)
        for number, detail in faults.items()
        if detail
    ]
    unchanged = len(wanted.user_ids) - len(errors) - result.changed
    return SubscribersChanged(changed=result.changed, unchanged=unchanged, errors=errors)


def _fault_of(user_id: object) -> str:
    try:
        _USER_ID.validate_python(user_id, strict=True)
    except ValidationError:
        return "must be a text of 1 to 128 characters"
    return ""


def _change(call: Call, row: Topic, user_ids: Sequence[str], change: _Change) -> SubscriptionResult:
    """Change subscriptions, and write their number into the audit log."""

    def work() -> SubscriptionResult:
        result = change(row, user_ids)
        if result.changed:
            audit.record(call.by, call.operation, row, after={"subscribers": result.changed})
        return result

    return db.in_transaction(work)


def _ensure(call: Call) -> Topic:
    """Return the topic of the path, created if missing.

    Raises:
        ProblemError: the name has other characters (422).
    """
    name = call.path["topic"]
    if not _NAME.fullmatch(name):
        said = "the name of a topic has 1 to 64 letters, digits and the characters _ . : -"
        raise_problem(Problem(Kind.INVALID, said, (FieldError("", said),)))
    row = topics.find(mode=call.key.mode, name=name)
    if row is not None:
        return row
    with call.changes(TOPICS.rows(call).filter(name=name)):
        return topics.ensure(mode=call.key.mode, name=name, by=call.by)
