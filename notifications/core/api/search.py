"""`/v1/search`: find deliveries by address, recipient or id."""

from __future__ import annotations

import datetime as dt
from typing import Annotated, Self
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field, model_validator
from rest_framework.request import Request
from rest_framework.response import Response

from notifications.core.api import schema
from notifications.core.api.authentication import key_of
from notifications.core.api.base_view import BaseView
from notifications.core.api.pagination import PageQuery, page, parse_query
from notifications.core.api.schemas import (
    ChannelWord,
    ModeWord,
    PriorityWord,
    ResponseModel,
    StatusWord,
)
from notifications.core.rules import request_faults
from notifications.core.rules.request import Text, UserId
from notifications.core.store.postgres import search


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


class SearchView(BaseView):
    """`/v1/search`: find deliveries."""

    @extend_schema(
        operation_id="search",
        summary="Find deliveries by address, recipient or id",
        parameters=schema.parameters(SearchQuery),
        responses={200: schema.page_of(HitAnswer)},
        tags=["Operations"],
    )
    def get(self, request: Request) -> Response:
        """Find deliveries of all producers in the key's mode, newest first.

        The result has a single page.
        """
        query = parse_query(request, SearchQuery)
        hits = search.find(
            mode=key_of(request).mode,
            limit=query.limit,
            address=query.address or "",
            user_id=query.user_id or "",
            provider_message_id=query.provider_message_id or "",
            any_id=query.id,
        )
        answers = [HitAnswer.model_validate(hit).to_json() for hit in hits]
        return page(request, answers, following=None)
