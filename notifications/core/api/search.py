"""`/v1/search`: find deliveries by address, recipient or id."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Self
from uuid import UUID

from pydantic import Field, model_validator
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.examples import NOTIFICATION, USER, Example
from notifications.core.api.operation import Access, Call, operation
from notifications.core.api.pagination import PageQuery, page
from notifications.core.api.schemas import (
    ChannelWord,
    ModeWord,
    PriorityWord,
    ResponseModel,
    StatusWord,
)
from notifications.core.rules import request_faults
from notifications.core.rules.access import BOTH
from notifications.core.rules.request import Text, UserId
from notifications.core.rules.scopes import Scope
from notifications.core.store.postgres import search as store


class SearchQuery(PageQuery):
    """Exactly one of the four search terms."""

    address: Annotated[Text, Field(min_length=1, max_length=2048)] | None = None
    """Deliveries to this address, in any spelling."""
    user_id: UserId | None = None
    """Deliveries to this recipient."""
    provider_message_id: Annotated[Text, Field(min_length=1, max_length=255)] | None = None
    """The delivery with this id at the provider."""
    id: UUID | None = None
    """Id of a notification or of a delivery."""

    @model_validator(mode="after")
    def _check_that_it_is_one(self) -> Self:
        if len(self.model_dump(exclude={"limit"}, exclude_none=True)) != 1:
            said = "give exactly one of address, user_id, provider_message_id and id"
            raise request_faults.error_at(said, "address")
        return self


class HitAnswer(ResponseModel):
    """A delivery in the search results."""

    notification_id: UUID
    delivery_id: UUID
    created_at: dt.datetime
    mode: ModeWord
    producer_id: int
    user_id: str
    type: str
    priority: PriorityWord
    channel: ChannelWord
    status: StatusWord
    reason: str
    provider: str
    provider_message_id: str


@operation(
    "GET v1/search",
    "Find deliveries by address, recipient or id",
    Access(Scope.OPERATIONS_READ, BOTH, "view_notification"),
    SearchQuery,
    answers={200: schema.page_of(HitAnswer)},
    tag="Operations",
    examples={
        "minimal": Example("Deliveries to an address", query={"address": "maria@sandbox.example"}),
        "usual": Example(
            "The latest ten deliveries to a recipient", query={"user_id": USER, "limit": 10}
        ),
        "by_id": Example("Deliveries of a notification", query={"id": NOTIFICATION}),
    },
)
def search(call: Call, query: SearchQuery) -> Response:
    """Find deliveries of all producers in the key's mode, newest first.

    The result has a single page.
    """
    hits = store.find(
        mode=call.key.mode,
        limit=query.limit,
        address=query.address or "",
        user_id=query.user_id or "",
        provider_message_id=query.provider_message_id or "",
        any_id=query.id,
    )
    answers = [HitAnswer.model_validate(hit).to_json() for hit in hits]
    return page(call.request, answers, following=None)
