"""Operations: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NotRequired, TypedDict
from uuid import UUID

from notify_client.types.shared import (
    Channel,
    Mode,
    Priority,
    Status,
)


class AlertAcknowledgement(TypedDict):
    """Time, owner and note of an acknowledgement."""

    minutes: NotRequired[int]
    """Minutes without a reminder. Default: `240`."""

    owner: NotRequired[str]
    """Person or team that works on the alert; omitted: the owner stays, or the name of the key."""

    note: NotRequired[str]
    """A note for other operators; omitted: the note stays."""


class AlertAnswer(TypedDict):
    """A condition which needs an operator."""

    id: int
    kind: str
    title: str
    severity: str
    """`page`: an operator is needed now. `ticket`: during working hours."""

    subject: str
    detail: str
    raised_at: str
    seen_at: str
    resolved_at: str | None
    cause_id: int | None
    """The open alert from which this alert follows."""

    owner: str
    acknowledged_at: str | None
    acknowledged_by: str
    acknowledged_until: str | None
    """Until then no reminder leaves."""

    note: str
    url: str
    """The alert's page in the admin."""

    cause_url: str
    """The page that shows what is ill; empty without such a page."""

    runbook_url: str


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


class SwitchAnswer(TypedDict):
    """A switch."""

    id: int
    kind: Literal["producer", "type", "template", "bulk_job", "channel", "provider", "lane"]
    value: str
    channel: Channel | None
    reason: str
    set_by: str
    set_at: str
    expires_at: str | None
    resumed_at: str | None
    resumed_by: str


class SwitchRequest(TypedDict):
    """A switch to set."""

    kind: Literal["producer", "type", "template", "bulk_job", "channel", "provider", "lane"]
    """The property of deliveries that the switch compares."""

    value: str
    """Name of the producer, type, template, channel, provider or lane, such as `p3.email`."""

    channel: NotRequired[Channel | None]
    """Only for the kind `provider`: the channel. Absent: every channel of the provider."""

    reason: str
    """The reason, for operators; each held delivery shows it."""

    expires_at: NotRequired[str | datetime | None]
    """The pause ends at this instant by itself. Absent: `DELETE` ends the pause."""


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


class SearchQuery(TypedDict, total=False):
    """Parameters of `search`."""

    address: str
    """Deliveries to this address, in any spelling."""

    id: str | UUID
    """Id of a notification or of a delivery."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    provider_message_id: str
    """The delivery with this id at the provider."""

    user_id: str
    """Deliveries to this recipient."""


class ListSwitchesQuery(TypedDict, total=False):
    """Parameters of `list_switches`."""

    cursor: int
    """The value of `next` on the previous page."""

    ended: bool
    """`true` lists resumed and expired switches instead of active switches. Default: `false`."""

    limit: int
    """Maximum number of results per page. Default: `50`."""
