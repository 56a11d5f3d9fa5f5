"""Shared: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict

Cause = Literal["bounce", "complaint", "stop_keyword", "unsubscribe_all", "manual", "import"]


Channel = Literal["push", "sms", "email", "in_app", "webhook", "chat"]


Mode = Literal["live", "test"]


Priority = Literal["P0", "P1", "P2", "P3"]


Status = Literal[
    "scheduled",
    "queued",
    "sending",
    "retrying",
    "sent",
    "unconfirmed",
    "delivered",
    "read",
    "bounced",
    "failed",
    "expired",
    "suppressed",
    "cancelled",
    "unknown",
]


Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class Content(TypedDict):
    """Raw text instead of a template, for producers with that permission."""

    title: NotRequired[str]
    body: str
    html: NotRequired[str]


class NotificationRequest(TypedDict):
    """A notification as requested by a producer."""

    user_id: NotRequired[str | None]
    """The producers' name of a registered recipient; or give `to`."""

    to: NotRequired[To | None]
    """A recipient by address, who is registered in the same call if nobody has it yet."""

    type: str
    priority: NotRequired[Priority | None]
    template_id: NotRequired[str | None]
    variables: NotRequired[Mapping[str, Any]]
    """All of them count as sensitive until the template version says which of them are."""

    content: NotRequired[Content | None]
    channels: NotRequired[Sequence[Channel]]
    delivery: NotRequired[Literal["first", "all"]]
    """Default: `"first"`."""

    fallback_chain: NotRequired[bool]
    """True: the next channel follows when one fails for good, or is not confirmed in its window.

    Default: `false`.
    """

    scheduled_at: NotRequired[str | datetime | None]
    send_at_local: NotRequired[str | None]
    ttl_seconds: NotRequired[int | None]
    collapse_key: NotRequired[str | None]
    ordering_key: NotRequired[str | None]
    webhook_url: NotRequired[str | None]
    """An https URL that learns of the status changes of this notification."""

    metadata: NotRequired[Mapping[str, Any]]
    idempotency_key: NotRequired[str | None]


class To(TypedDict):
    """A recipient by address: an existing recipient with the addresses, else a new recipient."""

    email: NotRequired[str | None]
    """A mailbox; its domain is stored in ASCII."""

    phone: NotRequired[str | None]
    """A phone number with its country code, for SMS; stored as E.164."""

    locale: NotRequired[str | None]
    """Of a recipient who is registered now; one who is known keeps theirs."""

    timezone: NotRequired[str | None]
    """The same for the timezone."""
