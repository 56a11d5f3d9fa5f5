"""Shared: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Literal, NotRequired, TypedDict
from uuid import UUID

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


TokenScope = Literal[
    "inbox:read",
    "inbox:write",
    "preferences:read",
    "preferences:write",
    "contacts:write",
    "receipts:write",
]


Weekday = Literal["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


class AttachedFile(TypedDict):
    """An attachment of a notification or of a template."""

    id: str
    name: str
    type: str
    size: int
    """Bytes of the content."""

    sha256: str
    inline_id: str | None


class Content(TypedDict):
    """Raw text instead of a template, for producers with that permission."""

    title: NotRequired[str]
    """The title of a push or in-app message, the subject of an e-mail; an SMS has none."""

    body: str
    """The text of the message; of an e-mail the plain text."""

    html: NotRequired[str]
    """The HTML of an e-mail; other channels ignore it."""

    url: NotRequired[str]
    """In-app and push: the link of the message: an https URL, a path, or a URL of an allowed app
    scheme. A push carries the link as `data.url`.
    """

    image_url: NotRequired[str]
    """In-app and push: an https URL or a path. A push carries it as `data.image_url`."""

    actions: NotRequired[Sequence[ContentAction]]
    """In-app: the buttons of the message."""


class ContentAction(TypedDict):
    """A button of an in-app message."""

    id: str
    """Name of the action in the webhook `inbox.action`; unique in the message."""

    label: str
    """The text of the button."""

    url: NotRequired[str | None]
    """Opened by the button: an https URL, a path, or a URL of an allowed app scheme.

    Null: the button tells the producer (webhook `inbox.action`).
    """


class FieldProblem(TypedDict):
    """An invalid place of the request."""

    source: Literal["body", "query", "header"]
    """The part of the request."""

    pointer: str
    """RFC 6901 JSON pointer into the part; empty for the whole part."""

    detail: str


class NotificationRequest(TypedDict):
    """A notification as requested by a producer."""

    user_id: NotRequired[str | None]
    """The producers' name of a registered recipient; or give `to`."""

    to: NotRequired[To | None]
    """A recipient by address, who is registered in the same call if nobody has it yet."""

    type: str
    """The kind of the notification, such as `ORDER_READY`.

    A configured type has a priority and a category; another name needs `priority`.
    """

    priority: NotRequired[Priority | None]
    """`P0` for one-time passwords to `P3` for marketing; omitted: the priority of the type."""

    template_id: NotRequired[str | None]
    """The name of a published template; or give `content`."""

    variables: NotRequired[Mapping[str, Any]]
    """All of them count as sensitive until the template version says which of them are."""

    content: NotRequired[Content | None]
    """The text itself, from a producer with that permission; or give `template_id`."""

    attachments: NotRequired[Sequence[RequestedAttachment]]
    """Uploaded files for the e-mail; other channels leave without them."""

    channels: NotRequired[Sequence[Channel]]
    """The channels to try, in order; omitted: the order of the recipient."""

    delivery: NotRequired[Literal["first", "all"]]
    """`first`: the first channel that the recipient allows and can be reached on.

    `all`: each of the channels. Default: `"first"`.
    """

    fallback_chain: NotRequired[bool]
    """True: the next channel follows when one fails for good, or is not confirmed in its window.

    Default: `false`.
    """

    scheduled_at: NotRequired[str | datetime | None]
    """The instant at which the notification leaves, with its offset; a past instant is now."""

    send_at_local: NotRequired[str | None]
    """The time of the recipient's day at which the notification leaves, such as `09:00`; instead
    of `scheduled_at`.
    """

    ttl_seconds: NotRequired[int | None]
    """The time to live: what has not left when it ends, counted from `scheduled_at` or the
    acceptance, is `expired`; omitted: the time of the priority.
    """

    collapse_key: NotRequired[str | None]
    """Messages with the same key are a group: a device shows the newest push, and the inbox the
    newest message.
    """

    inbox_expires_in_seconds: NotRequired[int | None]
    """Seconds for which the inbox shows the in-app message, from its delivery; omitted: for the
    retention time of inboxes. `ttl_seconds` ends the delivery and does not shorten this time.
    """

    inbox_data: NotRequired[Mapping[str, Any]]
    """An object for the recipient's app, at most 4 KiB: the `data` of the in-app message.

    The app never gets `metadata`.
    """

    ordering_key: NotRequired[str | None]
    """Deliveries with the same key leave one at a time, in the order of their acceptance."""

    webhook_url: NotRequired[str | None]
    """An https URL that learns of the status changes of this notification."""

    metadata: NotRequired[Mapping[str, Any]]
    """An object of the producer, at most 4 KiB, such as an order number: answers and webhooks
    have it, and lists filter by it.
    """

    idempotency_key: NotRequired[str | None]
    """A notification with the key of an earlier one is not sent: the answer has the earlier one."""


class ProblemDetails(TypedDict):
    """RFC 9457 problem details."""

    type: str
    """`urn:notify:problem:` followed by the code; the same in every installation."""

    code: Literal[
        "malformed",
        "unauthenticated",
        "forbidden",
        "not-found",
        "method-not-allowed",
        "not-acceptable",
        "in-progress",
        "conflict",
        "precondition-failed",
        "too-large",
        "unsupported-media-type",
        "invalid",
        "unknown-recipient",
        "idempotency-key-reused",
        "misdirected",
        "rate-limited",
        "lane-behind",
        "sms-pumping-address",
        "sms-pumping-prefix",
        "sms-pumping-country",
        "country-not-allowed",
        "unavailable",
        "internal-error",
    ]
    """The code for programs. Later versions of the service may add codes."""

    title: str
    status: int
    detail: str
    """Text for people; the wording can change."""

    help: NotRequired[str | None]
    """The URL of a page with a remedy."""

    instance: NotRequired[str | None]
    """The id of the request in the service's logs: `X-Request-Id`."""

    retry_after: NotRequired[int | None]
    """Seconds to wait before a repeat, as in the header `Retry-After`."""

    errors: NotRequired[list[FieldProblem]]
    """At most 100."""


class RequestWarning(TypedDict):
    """A probable mistake in an accepted request."""

    pointer: str
    """RFC 6901 JSON pointer into the request's body."""

    detail: str


class RequestedAttachment(TypedDict):
    """An uploaded file, to be sent with an e-mail."""

    id: str | UUID
    """The `id` that the upload was answered with."""

    name: str
    """The file name that the recipient sees, such as `invoice.pdf`.

    The ending must fit the type of the uploaded file.
    """

    inline_id: NotRequired[str | None]
    """For an image that the HTML shows as `<img src="cid:INLINE_ID">`."""


class To(TypedDict):
    """A recipient by address: an existing recipient with the addresses, else a new recipient."""

    email: NotRequired[str | None]
    """A mailbox; its domain is stored in ASCII and in lower case."""

    phone: NotRequired[str | None]
    """A phone number with its country code, for SMS; stored as E.164."""

    locale: NotRequired[str | None]
    """Of a recipient who is registered now; one who is known keeps theirs."""

    timezone: NotRequired[str | None]
    """The same for the timezone."""


class PageQuery(TypedDict, total=False):
    """Parameters of a page of a list."""

    cursor: int
    """The value of `next` on the previous page."""

    limit: int
    """Maximum number of results per page. Default: `50`."""
