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
    """Something an operator must look at."""

    id: int
    kind: str
    subject: str
    detail: str
    raised_at: str
    seen_at: str
    resolved_at: str | None


class DeadLetterAnswer(TypedDict):
    """A delivery that gave up."""

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
    """Keyed hash of the address, as logs show it; empty when the contact was erased."""

    created_at: str
    resolved_at: str | None
    resolution: str


class HitAnswer(TypedDict):
    """One delivery that was found."""

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
    """How far a replay is."""

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
    """Which letters to replay: those named, or all open ones that match every filter given."""

    ids: NotRequired[Sequence[int] | None]
    reason: NotRequired[str | None]
    channel: NotRequired[Channel | None]
    provider: NotRequired[str | None]
    since: NotRequired[str | datetime | None]
    until: NotRequired[str | datetime | None]
    force: NotRequired[bool]
    """Also what reached the person meanwhile by another way. Default: `false`."""

    renew_ttl: NotRequired[bool]
    """Start the time to live anew; never for P0. Default: `false`."""


class ListAlertsQuery(TypedDict, total=False):
    """What `list_alerts` is asked for."""

    cursor: int
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""

    resolved: bool
    """`true`: the resolved alerts. Default: `false`."""


class ListDeadLettersQuery(TypedDict, total=False):
    """What `list_dead_letters` is asked for."""

    channel: Sequence[Channel]
    """Dead letters of any of these channels."""

    cursor: int
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""

    provider: Sequence[str]
    """Dead letters of any of these providers."""

    reason: Sequence[str]
    """Dead letters with any of these reasons."""

    resolved: bool
    """`true`: those that were replayed or discarded. Default: `false`."""

    since: str | datetime
    """Dead letters of this instant or later."""

    until: str | datetime
    """Dead letters from before this instant."""


class ListReplayJobsQuery(TypedDict, total=False):
    """What `list_replay_jobs` is asked for."""

    cursor: int
    """`next` of the page before."""

    limit: int
    """Most results of one page. Default: `50`."""


class SearchQuery(TypedDict, total=False):
    """What `search` is asked for."""

    address: str
    """Deliveries to this address."""

    id: str | UUID
    """Id of a notification or of a delivery."""

    limit: int
    """Most results of one page. Default: `50`."""

    provider_message_id: str
    """The delivery that a provider knows by this id."""

    user_id: str
    """Deliveries to this recipient."""
