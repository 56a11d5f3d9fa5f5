"""Webhooks: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class WebhookEndpointChange(TypedDict):
    """Changes of an endpoint; omitted fields stay."""

    url: NotRequired[str | None]
    events: NotRequired[
        Sequence[
            Literal[
                "notification.accepted",
                "notification.sent",
                "notification.delivered",
                "notification.read",
                "notification.failed",
                "notification.expired",
                "notification.suppressed",
                "notification.cancelled",
                "contact.invalidated",
                "inbox.action",
            ]
        ]
        | None
    ]
    preset: NotRequired[Literal["standard", "brief"] | None]
    state: NotRequired[Literal["active", "paused", "disabled"] | None]
    """`active`: waiting messages leave.

    `paused`: messages wait, for 7 days at most. `disabled`: no messages are made, and waiting
    messages are given up.
    """


class WebhookAttemptLine(TypedDict):
    """A call of an endpoint."""

    id: int
    message_id: str
    """The `webhook-id`, the same in all calls of a message."""

    type: str
    notification_id: str | None
    delivery_id: str | None
    number: int
    started_at: str
    latency_ms: int
    http_status: int | None
    """null: no HTTP answer came; `error` says why."""

    error: str
    response: str
    """Beginning of the answer's body."""

    message_state: str
    """`waiting` for a further call, `sent`, or `failed`: no further call."""


class WebhookEndpointAnswer(TypedDict):
    """An endpoint."""

    id: int
    url: str | None
    """null: the endpoint of `webhook_url` in requests."""

    events: list[str]
    """Empty: all events."""

    preset: Literal["standard", "brief"]
    state: Literal["active", "paused", "disabled"]
    state_reason: str
    state_since: str | None
    failures: int
    """Failed calls since the last successful call."""

    failing_since: str | None
    previous_secret_until: str | None
    """Until then the previous secret signs too."""

    replay_since: str | None
    """Start of the replay that runs; null: none runs."""

    created_at: str


class WebhookEndpointCreated(TypedDict):
    """The new endpoint with the signing secret, which no other response shows."""

    id: int
    url: str | None
    """null: the endpoint of `webhook_url` in requests."""

    events: list[str]
    """Empty: all events."""

    preset: Literal["standard", "brief"]
    state: Literal["active", "paused", "disabled"]
    state_reason: str
    state_since: str | None
    failures: int
    """Failed calls since the last successful call."""

    failing_since: str | None
    previous_secret_until: str | None
    """Until then the previous secret signs too."""

    replay_since: str | None
    """Start of the replay that runs; null: none runs."""

    created_at: str
    secret: str
    """`whsec_` and base64, as in Standard Webhooks."""


class WebhookEndpointRequest(TypedDict):
    """A new endpoint."""

    url: str
    """An https URL with a public address."""

    events: NotRequired[
        Sequence[
            Literal[
                "notification.accepted",
                "notification.sent",
                "notification.delivered",
                "notification.read",
                "notification.failed",
                "notification.expired",
                "notification.suppressed",
                "notification.cancelled",
                "contact.invalidated",
                "inbox.action",
            ]
        ]
    ]
    """Omitted: all events."""

    preset: NotRequired[Literal["standard", "brief"]]
    """`standard`: answers within 10 s, retries over 24 hours.

    `brief`: answers within 30 s, three retries after 1, 2 and 4 s, none after a 4xx. Default:
    `"standard"`.
    """


class WebhookReplay(TypedDict):
    """The start of a replay."""

    since: str | datetime
    """Send the messages of all status changes at or after this instant again."""


class WebhookSecretRotated(TypedDict):
    """The new signing secret, which no other response shows."""

    secret: str
    previous_secret_until: str


class WebhookSecretRotation(TypedDict):
    """Options of a rotation."""

    overlap_hours: NotRequired[int]
    """Hours for which the previous secret signs too. Default: `24`."""


class WebhookTestSent(TypedDict):
    """The test event waits for its call."""

    message_id: str
    """The `webhook-id` of the call."""


class ListWebhookEndpointsQuery(TypedDict, total=False):
    """Parameters of `list_webhook_endpoints`."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""


class ListWebhookAttemptsQuery(TypedDict, total=False):
    """Parameters of `list_webhook_attempts`."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""
