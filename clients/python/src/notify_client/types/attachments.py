"""Attachments: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from typing import TypedDict


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
