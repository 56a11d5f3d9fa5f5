"""Attachments: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, NotRequired, TypedDict


class AttachmentAnswer(TypedDict):
    """An uploaded file."""

    id: str
    """For `attachments` of `POST /v1/notifications`."""

    type: str
    """Media type."""

    size: int
    """Bytes of the content."""

    sha256: str
    """Digest of the content, in hexadecimal digits."""

    kept_until: str
    """The file is deleted after this time, unless a notification with the file is accepted
    before.
    """


class InvitationRequest(TypedDict):
    """A meeting, of which the service writes a calendar file."""

    method: NotRequired[Literal["REQUEST", "CANCEL", "PUBLISH"]]
    """REQUEST invites, or changes an invitation; CANCEL cancels; PUBLISH needs no answer.

    Default: `"REQUEST"`.
    """

    uid: str
    """The same for all changes of a meeting, and for no other meeting."""

    sequence: NotRequired[int]
    """Number of the change: each change and the cancellation have a higher number. Default: `0`."""

    start: str | datetime
    """Begin, with an offset from UTC."""

    end: str | datetime
    """End, with an offset from UTC."""

    summary: str
    """Title in the calendar."""

    location: NotRequired[str | None]
    """Place."""

    description: NotRequired[str | None]
    """Text."""

    organizer: str
    """Mailbox that gets the answers, such as `Shop <events@shop.example>`."""

    attendee: NotRequired[str | None]
    """Mailbox of the recipient; REQUEST and CANCEL need it."""
