"""`/v1/notifications/changes`: status changes for producers that poll."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Any, Final, NoReturn
from uuid import UUID

from pydantic import Field
from rest_framework.response import Response

from notifications.core.api.examples import Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import PageQuery, page
from notifications.core.api.problems import raise_problem
from notifications.core.api.schemas import ChannelWord, ResponseModel, StatusWord
from notifications.core.rules.access import BOTH
from notifications.core.rules.feed_position import FeedPosition
from notifications.core.rules.problems import FieldError, Kind, Problem, Source
from notifications.core.rules.request import Instant, Text
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import change_feed
from notifications.core.store.postgres.change_feed import ForeignPositionError

MAX_CHANGES: Final = 1_000


class StatusChangesQuery(PageQuery):
    """The start and the size of a page of changes."""

    limit: Annotated[int, Field(ge=1, le=MAX_CHANGES)] = 100
    """Maximum number of results per page."""
    since: Instant | None = None
    """Begin with changes at or after this instant. Ignored with a `cursor`. Without both, the page
    begins at the oldest change that is kept."""
    cursor: Annotated[Text, Field(min_length=1, max_length=64)] | None = None
    """The value of `next` on the previous page."""


class StatusChangeLine(ResponseModel):
    """A change of the status of a delivery."""

    notification_id: UUID
    delivery_id: UUID | None
    user_id: str
    type: str
    channel: ChannelWord | None
    status: StatusWord
    reason: str
    occurred_at: dt.datetime
    metadata: dict[str, Any]


class StatusChanges(ResponseModel):
    """A page of changes in the order in which the service stored them."""

    results: list[StatusChangeLine]
    next: str
    """The cursor after this page, on an empty page too: keep it and ask with it again."""


@operation(
    "GET v1/notifications/changes",
    "List status changes in the order of their storage",
    Access(Scope.NOTIFICATIONS_READ, BOTH, "view_notification"),
    StatusChangesQuery,
    answers={200: StatusChanges},
    tag="Notifications",
    examples={
        "minimal": Example("The oldest changes that are kept"),
        "usual": Example(
            "The changes since an instant",
            query={"since": "2026-11-20T00:00:00Z", "limit": 500},
        ),
    },
)
def list_status_changes(call: Call, query: StatusChangesQuery) -> Response:
    """List each status change of the key's producer and mode exactly once.

    `sending` is listed with the change that ended it, on one page, also with a `limit` of 1.

    `next` is always present. A page with results is often followed by further results; after an
    empty page with the same `next` as before, wait some seconds. A page may be empty and have a
    new `next`, where the changes belong to other producers.

    422 for a `cursor` of another installation, from before the restore of a dump, or ahead of a
    database that was restored to an earlier time: begin with `since` then.
    """
    position = None if query.cursor is None else FeedPosition.from_cursor(query.cursor)
    if query.cursor is not None and position is None:
        _refuse_cursor("is no cursor: pass the value of `next` without a change")
    try:
        changes, after = change_feed.page(
            position,
            producer_id=call.key.producer_id,
            mode=call.mode,
            limit=query.limit,
            since=query.since,
        )
    except ForeignPositionError:
        _refuse_cursor(
            "is of another installation, from before the restore of a dump, or ahead of the"
            " restored database: begin with `since`"
        )
    lines = [StatusChangeLine.model_validate(change).to_json() for change in changes]
    return page(call.request, lines, following=after.to_cursor())


def _refuse_cursor(said: str) -> NoReturn:
    error = FieldError("/cursor", said, Source.QUERY)
    raise_problem(Problem(Kind.INVALID, f"cursor: {said}", (error,)))
