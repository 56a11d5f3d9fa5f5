"""Operations: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NotRequired, TypedDict
from uuid import UUID

from notify_client.types.shared import (
    Channel,
    Mode,
    Priority,
    Status,
)


class AlertAnswer(TypedDict):
    """A condition which needs an operator."""

    id: int
    kind: str
    subject: str
    detail: str
    raised_at: str
    seen_at: str
    resolved_at: str | None


class DeadLetterAnswer(TypedDict):
    """A delivery which failed for good."""

    id: int
    delivery_id: str
    notification_id: str
    producer_id: int
    mode: Mode
    priority: Priority
    channel: Channel
    provider: str
    reason: str
    detail: str
    address_hash: str
    """Keyed hash of the address, as in logs; empty after erasure of the contact."""

    created_at: str
    resolved_at: str | None
    resolution: str


class HitAnswer(TypedDict):
    """A delivery in the search results."""

    notification_id: str
    delivery_id: str
    created_at: str
    mode: Mode
    producer_id: int
    user_id: str
    type: str
    priority: Priority
    channel: Channel
    status: Status
    reason: str
    provider: str
    provider_message_id: str


class ReplayJobAnswer(TypedDict):
    """The progress of a replay job."""

    id: int
    created_at: str
    requested_by: str
    forced: bool
    renews_ttl: bool
    total: int
    replayed: int
    skipped: int
    finished_at: str | None


class ReplayRequest(TypedDict):
    """The dead letters to replay: `ids`, or all open dead letters which match the filters."""

    ids: NotRequired[Sequence[int] | None]
    reason: NotRequired[str | None]
    channel: NotRequired[Channel | None]
    provider: NotRequired[str | None]
    since: NotRequired[str | datetime | None]
    until: NotRequired[str | datetime | None]
    force: NotRequired[bool]
    """Also replay dead letters whose notification reached the person by another delivery.

    Default: `false`.
    """

    renew_ttl: NotRequired[bool]
    """Start the time to live again. Not applied to P0. Default: `false`."""


class ListAlertsQuery(TypedDict, total=False):
    """Parameters of `list_alerts`."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    resolved: bool
    """`true` lists resolved alerts instead of open alerts. Default: `false`."""


class ListDeadLettersQuery(TypedDict, total=False):
    """Parameters of `list_dead_letters`."""

    channel: Sequence[Channel]
    """Dead letters of any of these channels."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    provider: Sequence[str]
    """Dead letters of any of these providers."""

    reason: Sequence[str]
    """Dead letters with any of these reasons."""

    resolved: bool
    """`true` lists replayed and discarded dead letters instead of open ones. Default: `false`."""

    since: str | datetime
    """Dead letters created at or after this instant."""

    until: str | datetime
    """Dead letters created before this instant."""


class ListReplayJobsQuery(TypedDict, total=False):
    """Parameters of `list_replay_jobs`."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""


class SearchQuery(TypedDict, total=False):
    """Parameters of `search`."""

    address: str
    """Deliveries to this address."""

    id: str | UUID
    """Id of a notification or of a delivery."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    provider_message_id: str
    """The delivery with this id at the provider."""

    user_id: str
    """Deliveries to this recipient."""
