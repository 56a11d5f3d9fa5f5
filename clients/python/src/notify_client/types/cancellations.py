"""Cancellations: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NotRequired, TypedDict
from uuid import UUID

from notify_client.types.shared import (
    Priority,
)


class CancelJobAnswer(TypedDict):
    """The progress of a cancel job."""

    id: int
    created_at: str
    requested_by: str
    percent: int
    """Progress by the time of the examined notifications."""

    cancelled: int
    """Cancelled notifications."""

    stopped: int
    """Deliveries that had not left and do not leave."""

    is_stopped: bool
    """True if the job was stopped before its end."""

    finished_at: str | None


class CancelRequest(TypedDict):
    """The notifications to cancel: at least one field; every given field must match."""

    ids: NotRequired[Sequence[str | UUID] | None]
    """Ids of notifications."""

    type: NotRequired[str | None]
    template_id: NotRequired[str | None]
    """Name of the template; all versions match."""

    priority: NotRequired[Priority | None]
    metadata: NotRequired[Mapping[str, Any] | None]
    """Names and values that the metadata of the notification must have, such as a campaign."""

    since: NotRequired[str | datetime | None]
    """Notifications accepted at or after this instant."""

    until: NotRequired[str | datetime | None]
    """Notifications accepted before this instant. Absent: before this call."""
