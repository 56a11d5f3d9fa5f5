"""Dry runs: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

from notify_client.types.campaigns import (
    AbortLimits,
    CostAnswer,
    RenderedMessage,
    TestGroupRequest,
    VariantRequest,
    WinnerRequest,
)
from notify_client.types.shared import (
    Channel,
    Priority,
    RequestWarning,
)


class DryRunAnswer(TypedDict):
    """The result of a dry run."""

    is_complete: bool
    """True: each recipient was examined. False: a sample, in the time for a dry run."""

    examined: int
    """Examined recipients."""

    accepted: int
    """Examined recipients who get a message."""

    left_out: dict[str, int]
    """Reason -> examined recipients without a message."""

    estimate: DryRunEstimate
    samples: list[DryRunSample]
    warnings: list[RequestWarning]
    """Mails without a visible unsubscribe link, by template; empty: none."""


class DryRunEstimate(TypedDict):
    """Estimated numbers of the whole audience; exact if `is_complete`."""

    recipients: int
    notifications: int
    """Recipients who get a message."""

    unrenderable: int
    """Recipients among them whose text cannot be rendered, from up to 200 rendered messages:
    such a message fails.
    """

    messages: dict[str, int]
    """Channel -> messages."""

    mail_bytes: int
    """Bytes of all e-mails with their attachments, from up to 200 rendered messages."""

    cost_usd: float
    costs: list[CostAnswer]


class DryRunRequest(TypedDict):
    """The body of a bulk job, and the recipients whose messages are rendered."""

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
    samples: NotRequired[int]
    """Random recipients whose messages are rendered. Default: `3`."""

    sample_user_ids: NotRequired[Sequence[str]]
    """Recipients whose messages are rendered, instead of random ones."""


class DryRunSample(TypedDict):
    """The messages of a recipient."""

    user_id: str
    left_out: str | None
    """Reason for no message: one of `left_out`, `unknown_recipient` or `not_in_audience`."""

    messages: list[RenderedMessage]
