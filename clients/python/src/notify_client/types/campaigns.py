"""Campaigns: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

from notify_client.types.shared import (
    AttachedFile,
    Channel,
    Priority,
)


class AbortLimits(TypedDict):
    """Shares of the sent messages. The service aborts the job when a share is passed."""

    failed: NotRequired[float | None]
    bounced: NotRequired[float | None]
    complained: NotRequired[float | None]
    """Recipients who reported the message as spam."""

    minimum: NotRequired[int]
    """Number of sent messages from which the limits count. Default: `100`."""


class BulkJobAnswer(TypedDict):
    """A bulk job."""

    id: str
    name: str
    state: Literal["aborted", "cancelled", "finished", "paused", "running", "scheduled"]
    state_reason: str
    """Reason of the state, for people."""

    state_changed_at: str | None
    state_changed_by: str
    type: str
    priority: Priority
    template_id: str
    channels: list[Channel]
    delivery: str
    unique_by: Literal["address", "recipient"]
    scheduled_at: str
    """Start time."""

    send_at_local: str | None
    rate_per_second: float | None
    spread_seconds: int | None
    weight: int
    ttl_seconds: int | None
    metadata: dict[str, Any]
    holdout_percent: int
    winner: str | None
    """Variant that the recipients outside the sample get; null: not chosen yet."""

    progress: BulkJobProgress
    funnel: Funnel
    """Deliveries of the whole job, 5 to 10 seconds late."""

    statuses: dict[str, int]
    """Status -> deliveries that have the status now.

    A delivery counts in the status before while a worker is sending it.
    """

    cost_usd: float
    """Cost of the accepted calls in US dollars."""

    variants: list[VariantAnswer]
    created_at: str
    created_by: str
    """Prefix of the API key, or the operator."""

    started_at: str | None
    finished_at: str | None
    audience: dict[str, Any]
    winner_rule: dict[str, Any] | None
    """metric, sample_percent and after_seconds."""

    test_group_size: int
    test_group_seconds: int
    abort_limits: dict[str, float]


class BulkJobChange(TypedDict):
    """A reason for people, shown with the job."""

    reason: NotRequired[str]


class BulkJobLine(TypedDict):
    """A bulk job in a list."""

    id: str
    name: str
    state: Literal["aborted", "cancelled", "finished", "paused", "running", "scheduled"]
    state_reason: str
    """Reason of the state, for people."""

    state_changed_at: str | None
    state_changed_by: str
    type: str
    priority: Priority
    template_id: str
    channels: list[Channel]
    delivery: str
    unique_by: Literal["address", "recipient"]
    scheduled_at: str
    """Start time."""

    send_at_local: str | None
    rate_per_second: float | None
    spread_seconds: int | None
    weight: int
    ttl_seconds: int | None
    metadata: dict[str, Any]
    holdout_percent: int
    winner: str | None
    """Variant that the recipients outside the sample get; null: not chosen yet."""

    progress: BulkJobProgress
    funnel: Funnel
    """Deliveries of the whole job, 5 to 10 seconds late."""

    statuses: dict[str, int]
    """Status -> deliveries that have the status now.

    A delivery counts in the status before while a worker is sending it.
    """

    cost_usd: float
    """Cost of the accepted calls in US dollars."""

    variants: list[VariantAnswer]
    created_at: str
    created_by: str
    """Prefix of the API key, or the operator."""

    started_at: str | None
    finished_at: str | None


class BulkJobProgress(TypedDict):
    """The progress of the expansion. The expansion makes one notification per recipient."""

    percent: float
    """Examined part of the audience; 100 only for a finished job."""

    estimate: int | None
    """Estimated size of the audience in recipients."""

    examined: int
    """Recipients who got a notification or were left out."""

    accepted: int
    """Notifications."""

    left_out: dict[str, int]
    """Reason -> recipients without a notification."""

    rate_per_second: float
    """Notifications per second in the last minute."""

    rate_wanted: float | None
    """Limit of the rate; null: no limit.

    A job without a rate, or with a larger one, has the rate of `rate_ceiling`.
    """

    rate_ceiling: float | None
    """Notifications per second that no job of this installation exceeds; null: no ceiling."""

    ends_at: str | None
    """Expected end of the expansion; null: unknown."""


class BulkJobRequest(TypedDict):
    """A request to send a message to each recipient of an audience."""

    name: str
    """Name for people, as in lists; not unique."""

    audience: Mapping[str, Any]
    """Audience expression: the recipients, such as `{"everyone": true}`."""

    type: str
    priority: NotRequired[Priority | None]
    """P2 or P3. Omitted: the priority of the type."""

    template_id: str
    """The version published at creation is used for the whole job."""

    variables: NotRequired[Mapping[str, Any]]
    """Variables of each message. A column of an upload with the same name replaces a value."""

    channels: NotRequired[Sequence[Channel]]
    """Channels in order; empty: the order of each recipient."""

    delivery: NotRequired[Literal["first", "all"]]
    """Default: `"first"`."""

    unique_by: NotRequired[Literal["address", "recipient"]]
    """`address`: of several recipients with the same mailbox, number, device or chat, the first
    one gets the message, and the others count as `same_address`. `recipient`: each recipient
    gets the message. Default: `"address"`.
    """

    ttl_seconds: NotRequired[int | None]
    """Life of each message from its planned time. Omitted: the default of the priority."""

    metadata: NotRequired[Mapping[str, Any]]
    """An object of at most 4 KiB in every notification of the job."""

    scheduled_at: NotRequired[str | datetime | None]
    """Start time; omitted: now."""

    send_at_local: NotRequired[str | None]
    """Time on the wall clock of each recipient: `09:00` is the next such time,
    `2026-11-27T09:00` is one on a date.
    """

    rate_per_second: NotRequired[float | None]
    """Messages per second at most; omitted: as fast as the lanes deliver.

    The ceiling of the installation (500,000 an hour by default) limits both.
    """

    spread_seconds: NotRequired[int | None]
    """The messages are spread evenly over this time; instead of `rate_per_second`."""

    weight: NotRequired[int]
    """Share of a lane among the jobs which run in the lane. Default: `1`."""

    variants: NotRequired[Sequence[VariantRequest]]
    """A/B test: at least two variants; empty: each recipient gets the same message."""

    holdout_percent: NotRequired[int]
    """Share of the recipients who get no message, for comparison.

    The shares of the variants divide the other recipients. Default: `0`.
    """

    winner: NotRequired[WinnerRequest | None]
    test_group: NotRequired[TestGroupRequest | None]
    abort_limits: NotRequired[AbortLimits | None]


class CostAnswer(TypedDict):
    """The estimated cost of the messages on a channel."""

    channel: Channel
    country: str | None
    """SMS: country of the numbers, such as `DE`; null: unknown."""

    messages: int
    units: int
    """SMS segments; messages on other channels."""

    cost_usd: float


class Funnel(TypedDict):
    """Deliveries that got at least this far."""

    accepted: int
    sent: int
    """A provider accepted the message."""

    delivered: int
    """A receipt reported the arrival."""

    read: int
    """The recipient opened the message."""

    clicked: int
    failed: int
    bounced: int
    complained: int
    """The recipient reported the message as spam."""


class RenderedMessage(TypedDict):
    """The text of a message, with sensitive variables and the address masked."""

    channel: Channel
    address: str | None
    """null: the inbox of the recipient."""

    locale: str
    variant: str | None
    title: str | None
    body: str | None
    html: str | None
    segments: int
    """SMS segments; 1 on other channels."""

    problem: str | None
    """The cause if the text cannot be rendered."""

    attachments: list[AttachedFile]
    """Of the e-mail; none on other channels."""

    mail_bytes: int | None
    """Bytes of the e-mail with its attachments in base64, without headers; null on other
    channels, and without a text.
    """


class TestGroupRequest(TypedDict):
    """The first recipients; all others follow after a wait, unless the job is paused by then."""

    size: int
    """Number of recipients."""

    wait_seconds: int


class VariantAnswer(TypedDict):
    """A variant of an A/B test with its figures."""

    name: str
    template_id: str
    template_variant: str | None
    """Variant of the template's texts; null: the base texts."""

    percent: int
    funnel: Funnel
    statuses: dict[str, int]
    """Status -> deliveries that have the status now.

    A delivery counts in the status before while a worker is sending it.
    """


class VariantRequest(TypedDict):
    """A variant of an A/B test."""

    name: str
    """Unique in the job; up to 32 characters."""

    template_id: NotRequired[str | None]
    """Omitted: the template of the job."""

    template_variant: NotRequired[str | None]
    """The variant of the template's texts; omitted or empty: the base texts."""

    percent: int
    """Share of the recipients; the shares of all variants add up to 100."""


class WinnerRequest(TypedDict):
    """Rule for the winner of an A/B test: the best variant of a sample goes to all others."""

    metric: Literal["delivered", "read", "clicked"]
    sample_percent: int
    """Share of the recipients who get the variants first."""

    after_seconds: int
    """Time from the last message of the sample to the choice of the winner."""


class ListBulkJobsQuery(TypedDict, total=False):
    """Parameters of `list_bulk_jobs`."""

    cursor: str | UUID
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""

    since: str | datetime
    """Jobs created at or after this instant."""

    state: Sequence[Literal["aborted", "cancelled", "finished", "paused", "running", "scheduled"]]
    """Jobs in any of these states."""

    type: Sequence[str]
    """Jobs of any of these notification types."""
