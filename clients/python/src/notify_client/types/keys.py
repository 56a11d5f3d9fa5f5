"""Keys: generated from the OpenAPI document, see `tests/clients/python`."""

from __future__ import annotations

from typing import NotRequired, TypedDict

from notify_client.types.shared import (
    Mode,
    Priority,
)


class KeyRotated(TypedDict):
    """The new key.

    The response shows the key once; a repeat with the same Idempotency-Key shows the key
    again.
    """

    key: str
    prefix: str
    scopes: list[str]
    expires_at: str | None
    old_key_expires_at: str | None


class MeAnswer(TypedDict):
    """The key of the request."""

    producer: str
    mode: Mode
    key_prefix: str
    """The visible part of the key."""

    scopes: list[str]
    expires_at: str | None
    """null: the key does not expire."""

    priorities: list[Priority]
    """Priorities which the producer may use."""

    may_send_content: bool
    """True if the producer may send raw content instead of a template."""

    sms_countries: list[str]
    """Countries to which the producer may send SMS, such as DE. Empty: every country."""

    rate: RateAnswer
    schedules: SchedulesLimit


class RateAnswer(TypedDict):
    """The producer's rate limit, shared by all keys of the mode."""

    per_second: int
    """Writes per second. A notification is a write."""

    burst: int
    """Maximum writes at once after a pause."""

    remaining: int
    """Writes left now."""

    full_in_s: float
    """Seconds until the full burst is available again."""


class RotateRequest(TypedDict):
    """The overlap in which the old key and the new key work."""

    overlap_hours: NotRequired[int]
    """Hours for which the old key continues to work. Default: `24`."""


class SchedulesLimit(TypedDict):
    """The producer's limit of schedules in this mode."""

    limit: int
    used: int
